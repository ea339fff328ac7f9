// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/selector.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/assert.hpp"

namespace tutti {

namespace {

constexpr std::string_view kBidirectionalVariable = "TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";
constexpr std::string_view kByBidirectional = "by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";

constexpr std::string_view kRing = "ring";
constexpr std::string_view kBothWays = "ring_bidir_ag";

bool is_ring(const Way& way) {
  return way.collective == Collective::all_reduce && (way.name == kRing || way.name == kBothWays);
}

// Of all ranks together.
std::uint64_t most_bytes_of(const Rule& rule, std::uint32_t num_ranks) {
  const bool is_bounded = rule.most_bytes_per_rank <= (kAnySize - 1) / num_ranks;
  return std::min<std::uint64_t>(rule.most_bytes, is_bounded ? rule.most_bytes_per_rank * num_ranks : kAnySize);
}

}  // namespace

bool Selector::Row::fits(std::uint64_t bytes, const CallFacts& call) const {
  if (bytes > most_bytes || (types != TypeClass::any && types != call.types)) return false;
  if (memory && (*memory == TableMemory::symmetric) != call.symmetric) return false;
  return !attached || (call.pays_to_store_attached && !call.crowded);
}

// What the profile says, up to a size, for the memory if that is told.
void Selector::add_rows_of_rules(Collective collective, const Limits& limits, std::string_view why,
                                 std::deque<Row>& rows) {
  for (const Rule& rule : *rules_) {
    if (rule.collective != collective || num_ranks_ > rule.most_ranks || rule.hosts != (num_hosts_ > 1)) continue;
    if (rule.crowded && num_folding_ == 0) continue;
    if (rule.symmetric && limits.memory == TableMemory::ordinary) continue;
    const std::string name =
        num_hosts_ > 1 ? rule.algorithm_between(ranks_of_hosts_) : rule.algorithm_for(num_folding_);
    if (name.empty()) continue;
    const Result<Way*> way = portfolio_.find(collective, name);
    // Not for this number of ranks: another rule is.
    if (!way.ok()) continue;
    Row& row = rows.emplace_back();
    row.most_bytes = std::min(most_bytes_of(rule, num_ranks_), limits.most_bytes);
    row.memory = rule.symmetric ? std::optional(TableMemory::symmetric) : limits.memory;
    row.types = limits.types;
    row.attached = rule.attached;
    row.is_ring = is_ring(**way);
    row.way = *way;
    row.why = fmt::format("by size{}{}", rule.symmetric ? ", in symmetric memory" : "", why);
  }
}

// The ranges of the section that is nearest to these ranks.
void Selector::add_rows_of_table(Collective collective, TableMemory memory, TypeClass types, std::deque<Row>& rows) {
  const std::optional<TableAnswer> answer = find_section(*table_, {.collective = collective,
                                                                   .ranks = num_ranks_,
                                                                   .memory = memory,
                                                                   .types = types,
                                                                   .crowded = crowded_,
                                                                   .hosts = num_hosts_});
  if (!answer) return;
  for (const TableRange& range : answer->section->ranges) {
    const std::string place = fmt::format("{}:{}", table_->title(), range.line);
    const Limits limits{.most_bytes = range.most_bytes, .memory = memory, .types = types};
    if (range.way.algorithm.empty()) {
      add_rows_of_rules(collective, limits, fmt::format(", which {} leaves it to", place), rows);
      // And to nothing of the table: where no rule is for it, the catalogue has something.
      Row& end = rows.emplace_back();
      end.most_bytes = range.most_bytes;
      end.memory = memory;
      end.types = types;
      continue;
    }
    const Result<Way*> way = portfolio_.find(collective, range.way.algorithm);
    // Not for this number of ranks, as another's section may have it: the rules are.
    if (!way.ok()) continue;
    Row& row = rows.emplace_back();
    row.most_bytes = range.most_bytes;
    row.memory = memory;
    row.types = types;
    row.way = *way;
    row.is_ring = is_ring(**way);
    row.is_of_table = true;
    row.tuning = range.way.tuning.is_empty() ? nullptr : &range.way.tuning;
    row.why = answer->is_exact ? place
              : num_hosts_ > 1 ? fmt::format("{}, measured with {} ranks on {} hosts", place, answer->section->ranks,
                                             answer->section->hosts)
                               : fmt::format("{}, measured with {} ranks", place, answer->section->ranks);
  }
}

void Selector::make_rows(Collective collective) {
  Choices& choices = of(collective);
  choices.is_made = true;
  choices.rows.clear();
  TUTTI_ASSERT(rules_ != nullptr, "the rules are given before anything is chosen");
  std::string lacks;
  if (table_ != nullptr && num_ranks_ > 1) {
    const bool tells_types = std::any_of(
        table_->sections.begin(), table_->sections.end(),
        [&](const TableSection& each) { return each.collective == collective && each.types != TypeClass::any; });
    for (const TableMemory memory : {TableMemory::symmetric, TableMemory::ordinary})
      for (const TypeClass types : {TypeClass::any, TypeClass::plain, TypeClass::narrow})
        if (tells_types == (types != TypeClass::any)) add_rows_of_table(collective, memory, types, choices.rows);
    if (choices.rows.empty())
      lacks = fmt::format("; {} has nothing for {} ranks{}", table_->title(), num_ranks_,
                          num_hosts_ > 1 ? fmt::format(" on {} hosts", num_hosts_) : "");
  }
  add_rows_of_rules(collective, {}, lacks, choices.rows);
}

std::uint64_t Selector::always_below(std::string_view algorithm, bool symmetric, TypeClass types) {
  if (!of(Collective::all_reduce).is_made) make_rows(Collective::all_reduce);
  std::uint64_t below = 0;
  for (const Row& row : of(Collective::all_reduce).rows) {
    if (row.memory && (*row.memory == TableMemory::symmetric) != symmetric) continue;
    if (row.types != TypeClass::any && row.types != types) continue;
    const std::uint64_t end = row.most_bytes == kAnySize ? kAnySize : row.most_bytes + 1;
    const bool is_plain = row.way != nullptr && !row.attached && row.tuning == nullptr;
    if (is_plain && row.way->name == algorithm) {
      below = std::max(below, end);
    } else if (end > below) {
      break;
    }
  }
  return below;
}

Result<Choice> Selector::by_table(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  if (!of(collective).is_made) make_rows(collective);
  Choice refused;  // the first row that fits, and cannot do the call
  for (const Row& row : of(collective).rows) {
    if (!row.fits(bytes, call)) continue;
    if (row.way == nullptr) break;
    const std::string_view against = objection_to(*row.way, call);
    if (!against.empty()) {
      if (refused.unfollowed == nullptr && row.is_of_table)
        refused = {.why = against, .unfollowed = row.way, .asked_by = row.why, .asked_by_table = true};
      continue;
    }
    Choice choice = refused;
    choice.way = row.way;
    choice.tuning = row.tuning;
    if (choice.unfollowed == nullptr) choice.why = row.why;
    if (!row.is_ring || !both_ways_most_) return choice;
    return or_ring(bytes <= *both_ways_most_ ? kBothWays : kRing, choice, call);
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
  return or_ring(kBothWays, *choice, call);
}

Choice Selector::or_ring(std::string_view name, const Choice& choice, const CallFacts& call) {
  const Result<Way*> way = portfolio_.find(Collective::all_reduce, name);
  if (!way.ok() || *way == choice.way) return choice;
  const std::string_view against = objection_to(**way, call);
  if (!against.empty()) {
    Choice fallback = choice;
    fallback.why = against;
    fallback.unfollowed = *way;
    fallback.asked_by = kBidirectionalVariable;
    fallback.asked_by_table = false;
    return fallback;
  }
  return {.way = *way, .why = kByBidirectional};
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
    choice->asked_by = {};
    choice->asked_by_table = false;
  }
  return choice;
}

}  // namespace tutti
