// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/proof_summary.hpp"

#include <algorithm>
#include <string>

namespace tutti::cli {

namespace {

// Of blocks that ranks send and receive, which are fractions of what they hold.
constexpr int kBlockDigits = 5;

// Copy-only in one case is copy-only; name-safe needs all of them.
Exposure both(Exposure a, Exposure b) {
  if (a == Exposure::copy_only || b == Exposure::copy_only) return Exposure::copy_only;
  return a == Exposure::none ? b : a;
}

Cell use_cell(bool allowed, Exposure exposure) {
  if (!allowed) return "no";
  return exposure == Exposure::none ? Cell() : Cell(std::string(name_of(exposure)));
}

}  // namespace

Cell number_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }

void ProofSummary::add(const Schedule& schedule, const Proof& proof) {
  order_ = std::max(order_, proof.order);
  has_messages_ = has_messages_ || proof.has_messages;
  depth_ = std::max(depth_, proof.least_depth);
  depth_fused_ = std::max(depth_fused_, proof.least_depth_fused);
  slots_ = std::max(slots_, proof.least_slots);
  out_of_place_ = both(out_of_place_, proof.out_of_place.exposure);
  in_place_ = both(in_place_, proof.in_place.exposure);
  allows_out_of_place_ = allows_out_of_place_ && schedule.allows_out_of_place;
  allows_in_place_ = allows_in_place_ && schedule.allows_in_place;
}

std::vector<Column> ProofSummary::columns() {
  // Headings are broken where what stands below them is short.
  return {{"order"},
          {"depth"},
          {.name = "depth_fused", .wrap_at = 6, .yields = 4},
          {.name = "slots", .yields = 1},
          {.name = "out_of_place", .wrap_at = 9, .yields = 3},
          {.name = "in_place", .yields = 2},
          {.name = "steps", .yields = 5},
          {.name = "blocks_out", .wrap_at = 7, .digits = kBlockDigits, .yields = 6},
          {.name = "blocks_in", .wrap_at = 7, .digits = kBlockDigits, .yields = 7}};
}

std::vector<Cell> ProofSummary::cells() const {
  const auto blocks = [this](std::uint64_t pieces) { return static_cast<double>(pieces) / cost_.num_pieces; };
  return {std::string(name_of(order_)),
          has_messages_ ? number_cell(depth_) : Cell(),
          has_messages_ ? number_cell(depth_fused_) : Cell(),
          slots_ == 0 ? Cell() : number_cell(slots_),
          use_cell(allows_out_of_place_, out_of_place_),
          use_cell(allows_in_place_, in_place_),
          number_cell(cost_.most.steps),
          blocks(cost_.most.pieces_out()),
          blocks(cost_.most.pieces_in())};
}

Table proof_table(std::vector<Column> first) {
  for (Column& column : ProofSummary::columns()) first.push_back(std::move(column));
  return Table(std::move(first));
}

}  // namespace tutti::cli
