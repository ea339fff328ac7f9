// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/oracle_machine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tutti::oracle {

Machine::Machine(const Code& code, std::uint32_t depth, OrderClass order, std::uint64_t seed)
    : code_(&code),
      depth_(depth),
      order_(order),
      cells_(code.num_cells),
      registers_(code.rows.size()),
      at_(code.rows.size()),
      counters_(code.num_counters),
      drawn_(mix(seed)) {
  // Poison: whoever reads what nobody has written gets what fits nowhere.
  std::uint64_t next = mix(seed + 1);
  for (Element& cell : cells_) cell = {next += 0x9e3779b97f4a7c15U, next + 1, next + 2, next + 3, next + 4};
}

bool Machine::is_ready(const Operation& operation) const {
  switch (operation.act) {
    case Act::wait: return counters_[operation.at] >= operation.number;
    case Act::credit: return counters_[operation.at] + std::max(depth_, 1U) >= operation.number;
    case Act::taken: return depth_ > 0 || counters_[operation.at] >= operation.number;
    default: return true;
  }
}

void Machine::perform(std::uint32_t row, const Operation& operation) {
  const std::uint32_t rank = code_->rows[row].rank;
  switch (operation.act) {
    case Act::wait:
    case Act::credit:
    case Act::taken: break;
    case Act::load: load(row, operation); break;
    case Act::store: cells_[operation.at] = registers_[row]; break;
    case Act::scribble: cells_[operation.at] = drawn(operation.at); break;
    case Act::bump:
      ++counters_[operation.at];
      if (notes_ && operation.at == row && row < code_->first_begun) {
        const std::uint32_t lane = row % code_->num_lanes;
        const std::vector<Step>& steps = code_->programs[rank].lanes[lane];
        steps_.push_back(fmt::format("rank {}, lane {}, round {}: {}", rank, lane, (counters_[row] - 1) / steps.size(),
                                     tutti::to_string(steps[(counters_[row] - 1) % steps.size()])));
      }
      break;
    case Act::check: check(rank, operation.number); break;
    case Act::fill:
      for (const Filled& each : code_->filled[rank][operation.number]) cells_[each.cell] = each.element;
      if (notes_) steps_.push_back(fmt::format("the caller of rank {} fills its buffers", rank));
      break;
    case Act::verify:
      for (const Filled& each : code_->filled[rank][operation.number]) {
        if (cells_[each.cell] == each.element) continue;
        fail(fmt::format("somebody has written to the buffers of rank {} between its operations", rank));
        break;
      }
      break;
  }
  ++at_[row];
}

void Machine::load(std::uint32_t row, const Operation& operation) {
  Element& folded = registers_[row];
  const Operand* operands = code_->operands.data() + operation.at;
  std::uint32_t first = 0;
  if (operation.switched) first = static_cast<std::uint32_t>((drawn_ = mix(drawn_)) % operation.number);
  for (std::uint32_t each = 0; each < operation.number; ++each) {
    const Operand& operand = operands[(first + each) % operation.number];
    Element next = cells_[operand.cell];
    if (operand.owner != kUnscaled) next.sum *= factor_of(operand.owner);
    if (each == 0) {
      folded = next;
    } else {
      fold_into(folded, next);
    }
  }
  if (operation.number > 1) round_off(folded);
  if (operation.finishes) folded.sum *= kFinalFactor;
}

bool Machine::settle(std::uint32_t row) {
  bool moved = false;
  for (const Operation* operation = next(row); operation != nullptr; operation = next(row)) {
    if (operation->is_shared || !is_ready(*operation)) break;
    perform(row, *operation);
    moved = true;
  }
  return moved;
}

void Machine::check(std::uint32_t rank, std::uint32_t operation) {
  for (const Wanted& wanted : code_->wanted[rank][operation]) {
    check_element(rank, operation, wanted);
    if (has_failed()) return;
  }
  for (const Filled& each : code_->untouched[rank][operation]) {
    if (cells_[each.cell] == each.element) continue;
    fail(fmt::format("rank {} finds that what the collective leaves alone has changed", rank));
    return;
  }
  for (std::uint32_t other = 0; code_->is_barrier && other < code_->programs.size(); ++other) {
    if (counters_[code_->first_begun + other] > operation) continue;
    fail(fmt::format("rank {} leaves the barrier before rank {} has come", rank, other));
    return;
  }
}

void Machine::check_element(std::uint32_t rank, std::uint32_t operation, const Wanted& wanted) {
  const Element& found = cells_[wanted.cell];
  std::string_view wrong;
  if (found.sum != wanted.element.sum) {
    wrong = "is not the result";
  } else if (order_ <= OrderClass::rank_order &&
             (found.slope != wanted.element.slope || found.offset != wanted.element.offset)) {
    wrong = "is not folded in rank order";
  } else if (order_ == OrderClass::ordered && found.left != wanted.element.left) {
    wrong = "is not the left fold in rank order";
  }
  if (!wrong.empty()) {
    fail(fmt::format("output[{}.{}] of rank {} {}, in operation {}", wanted.block, wanted.piece, rank, wrong,
                     operation));
    return;
  }
  if (order_ == OrderClass::free || !code_->compares_bits) return;
  const std::size_t result = std::size_t{operation} * code_->num_results + wanted.result;
  if (seen_.size() <= result) seen_.resize(result + 1);
  if (seen_[result] == Element{}) seen_[result] = found;
  if (seen_[result].bits == found.bits) return;
  fail(fmt::format("output[{}.{}] of rank {} has other bits than on another rank, in operation {}", wanted.block,
                   wanted.piece, rank, operation));
}

void Machine::fail(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
}

bool Machine::is_at_end() const {
  for (std::uint32_t row = 0; row < num_rows(); ++row)
    if (next(row) != nullptr) return false;
  return true;
}

std::string Machine::what_is_stuck() const {
  for (std::uint32_t row = 0; row < num_rows(); ++row) {
    if (next(row) == nullptr) continue;
    const std::uint32_t rank = code_->rows[row].rank;
    if (row >= code_->rows.size() - code_->programs.size()) return fmt::format("the caller of rank {} is stuck", rank);
    const std::uint32_t lane = row % code_->num_lanes;
    // Before the first step of an operation it waits for its caller, which is stuck itself.
    if (at_[row] >= code_->rows[row].steps.size()) continue;
    return fmt::format("rank {}, lane {} is stuck at: {}", rank, lane,
                       tutti::to_string(code_->programs[rank].lanes[lane][code_->rows[row].steps[at_[row]]]));
  }
  return "nothing is stuck";
}

std::uint64_t Machine::fingerprint() const {
  std::uint64_t print = drawn_;
  const auto add = [&](const Element& element) {
    print = (print ^ element.sum) * 0x9e3779b97f4a7c15U;
    print = (print ^ element.offset) * 0xbf58476d1ce4e5b9U;
    print = (print ^ element.bits ^ (print >> 29U)) * 0x94d049bb133111ebU;
    print = (print ^ element.left) * 0x9e3779b97f4a7c15U;
  };
  for (const Element& cell : cells_) add(cell);
  for (const Element& each : registers_) add(each);
  for (const Element& each : seen_) add(each);
  for (const std::uint32_t at : at_) print = (print ^ at ^ (print >> 31U)) * 0xbf58476d1ce4e5b9U;
  return mix(print);
}

}  // namespace tutti::oracle
