// SPDX-License-Identifier: Apache-2.0
// Which way of doing a collective runs a call: the one that is forced, else what the decision table says for its size,
// else the rules of the machine profile. Equal settings and calls give equal answers on every rank. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/selection/machine_profile.hpp"
#include "runtime/selection/portfolio.hpp"
#include "table/decision_table.hpp"

namespace tutti {

struct Choice {
  Way* way = nullptr;
  std::string_view why;  // for the log; of a fallback: what was against it
  // Of a fallback, the way that was asked for and cannot do this call, and what asked for it; null: this is none.
  const Way* unfollowed = nullptr;
  std::string_view asked_by = {};
  bool asked_by_table = false;
  const CallTuning* tuning = nullptr;  // the table's; null: the profile says all
  bool is_forced = false;
};

class Selector {
 public:
  Selector(Portfolio& portfolio, std::uint32_t num_ranks) : portfolio_(portfolio), num_ranks_(num_ranks) {}

  // Every call of the collective goes that way if it can; borrowed.
  void force(Collective collective, Way& way) { of(collective).forced = &way; }
  [[nodiscard]] const Way* forced(Collective collective) const {
    return choices_[static_cast<std::size_t>(collective)].forced;
  }

  // Before anything is chosen: the rules, which are borrowed, and how many ranks, from the first on, have a core each
  // where there are more ranks than cores; 0 elsewhere.
  void decide_by(const std::vector<Rule>& rules, std::uint32_t num_folding) {
    rules_ = &rules;
    num_folding_ = num_folding;
    num_hosts_ = 1;
    for (Choices& choices : choices_) choices.is_made = false;
  }

  // The same for ranks of several hosts: how many each has, where those of a host are neighbours; else empty.
  void decide_between_hosts_by(const std::vector<Rule>& rules, std::uint32_t num_hosts,
                               std::vector<std::uint32_t> ranks_of_hosts) {
    decide_by(rules, 0);
    num_hosts_ = num_hosts;
    ranks_of_hosts_ = std::move(ranks_of_hosts);
  }

  // The table goes before the rules. Borrowed; null: there is none. With it, whether there are more ranks than cores.
  void obey(const DecisionTable* table, bool crowded) {
    table_ = table;
    crowded_ = crowded;
    for (Choices& choices : choices_) choices.is_made = false;
  }

  // TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE. Where table or rules say ring or ring_bidir_ag, it is ring_bidir_ag up to
  // so many bytes and ring above; kAnySize: ring_bidir_ag does every all-reduce that it can do, whatever they say. An
  // algorithm that is forced goes before both. Nothing: they decide.
  void gather_both_ways_up_to(std::optional<std::uint64_t> bytes) { both_ways_most_ = bytes; }
  [[nodiscard]] bool always_gathers_both_ways() const { return both_ways_most_ == kAnySize; }

  // Every all-reduce of fewer bytes and such types takes this algorithm by the rules, whatever else the call is.
  [[nodiscard]] std::uint64_t always_below(std::string_view algorithm, bool symmetric, TypeClass types);

  // An error where nothing can do the call.
  [[nodiscard]] Result<Choice> choose(Collective collective, std::uint64_t bytes, const CallFacts& call);

 private:
  struct Row {
    std::uint64_t most_bytes = kAnySize;
    std::optional<TableMemory> memory;  // nothing: any
    TypeClass types = TypeClass::any;
    bool attached = false;
    bool is_ring = false;                // in one direction or both
    Way* way = nullptr;                  // null: what is left to the profile ends here
    const CallTuning* tuning = nullptr;  // of the table
    bool is_of_table = false;
    std::string why;

    [[nodiscard]] bool fits(std::uint64_t bytes, const CallFacts& call) const;
  };
  struct Choices {
    Way* forced = nullptr;
    bool is_made = false;
    std::deque<Row> rows;  // of table and rules, for this number of ranks; they stay where they are
  };
  [[nodiscard]] Choices& of(Collective collective) { return choices_[static_cast<std::size_t>(collective)]; }
  void make_rows(Collective collective);
  // What rows of a range are for.
  struct Limits {
    std::uint64_t most_bytes = kAnySize;
    std::optional<TableMemory> memory = {};
    TypeClass types = TypeClass::any;
  };
  void add_rows_of_rules(Collective collective, const Limits& limits, std::string_view why, std::deque<Row>& rows);
  void add_rows_of_table(Collective collective, TableMemory memory, TypeClass types, std::deque<Row>& rows);
  // By that ring instead, where it can do the call.
  [[nodiscard]] Choice or_ring(std::string_view name, const Choice& choice, const CallFacts& call);
  [[nodiscard]] Result<Choice> by_size(Collective collective, std::uint64_t bytes, const CallFacts& call);
  [[nodiscard]] Result<Choice> by_table(Collective collective, std::uint64_t bytes, const CallFacts& call);

  Portfolio& portfolio_;
  std::uint32_t num_ranks_;
  const std::vector<Rule>* rules_ = nullptr;
  const DecisionTable* table_ = nullptr;
  bool crowded_ = false;
  std::uint32_t num_folding_ = 0;
  std::uint32_t num_hosts_ = 1;
  std::vector<std::uint32_t> ranks_of_hosts_;
  std::optional<std::uint64_t> both_ways_most_;
  std::array<Choices, kNumCollectives> choices_;
};

}  // namespace tutti
