// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/selector.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/assert.hpp"

namespace tutti {

namespace {

bool is_ring(const Way& way) { return way.collective == Collective::all_reduce && way.name == "ring"; }

}  // namespace

void Selector::make_rows(Collective collective) {
  Choices& choices = of(collective);
  choices.is_made = true;
  choices.rows.clear();
  TUTTI_ASSERT(rules_ != nullptr, "the rules are given before anything is chosen");
  for (const Rule& rule : *rules_) {
    if (rule.collective != collective || num_ranks_ > rule.most_ranks) continue;
    if (rule.crowded && num_folding_ == 0) continue;
    const Result<Way*> way = portfolio_.find(collective, rule.algorithm_for(num_folding_));
    // Not for this number of ranks: another rule is.
    if (way.ok()) choices.rows.push_back({rule.most_bytes, rule.symmetric, rule.attached, is_ring(**way), *way});
  }
}

std::uint64_t Selector::always_below(std::string_view algorithm, bool symmetric) {
  if (!of(Collective::all_reduce).is_made) make_rows(Collective::all_reduce);
  std::uint64_t below = 0;
  for (const Row& row : of(Collective::all_reduce).rows) {
    if (row.symmetric && !symmetric) continue;
    const std::uint64_t end = row.most_bytes == kAnySize ? kAnySize : row.most_bytes + 1;
    if (row.way->name != algorithm || row.attached) {
      if (end > below) break;
    } else {
      below = std::max(below, end);
    }
  }
  return below;
}

Result<Choice> Selector::by_table(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  if (!of(collective).is_made) make_rows(collective);
  for (const Row& row : of(collective).rows)
    if (bytes <= row.most_bytes && (!row.symmetric || call.symmetric) &&
        (!row.attached || (call.pays_to_store_attached && !call.crowded)) && objection_to(*row.way, call).empty()) {
      const Choice choice{.way = row.way, .why = row.symmetric ? "by size, in symmetric memory" : "by size"};
      return row.is_ring && bytes <= bidirectional_most_ ? or_ring_bidir_ag(choice, call) : choice;
    }
  // What nothing in the table is for: the first of the catalogue that can.
  std::string_view against = "there is no algorithm for it";
  for (const Algorithm* each : algorithms_of(collective)) {
    const Result<Way*> way = portfolio_.find(collective, each->name);
    if (!way.ok()) continue;
    against = objection_to(**way, call);
    if (against.empty()) return Choice{.way = *way, .why = "the first that can"};
  }
  return Status(Code::unsupported, fmt::format("nothing here can do this {}: {}", name_of(collective), against));
}

Result<Choice> Selector::by_size(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  Result<Choice> choice = by_table(collective, bytes, call);
  if (!choice.ok() || collective != Collective::all_reduce || !always_gathers_both_ways()) return choice;
  return or_ring_bidir_ag(*choice, call);
}

Choice Selector::or_ring_bidir_ag(const Choice& choice, const CallFacts& call) {
  const Result<Way*> way = portfolio_.find(Collective::all_reduce, "ring_bidir_ag");
  if (!way.ok()) return choice;
  const std::string_view against = objection_to(**way, call);
  if (!against.empty()) return {.way = choice.way, .why = against, .unfollowed = *way};
  return {.way = *way, .why = "by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE"};
}

Result<Choice> Selector::choose(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  Way* const forced = of(collective).forced;
  if (forced == nullptr) return by_size(collective, bytes, call);
  const std::string_view against = objection_to(*forced, call);
  if (against.empty()) return Choice{.way = forced, .why = "forced", .is_forced = true};
  Result<Choice> choice = by_size(collective, bytes, call);
  if (choice.ok()) {
    choice->why = against;
    choice->unfollowed = forced;
  }
  return choice;
}

}  // namespace tutti
