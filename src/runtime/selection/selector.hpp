// SPDX-License-Identifier: Apache-2.0
// Which way of doing a collective runs a call: the one that is forced, else what the rules of the machine profile say
// for its size. Equal settings and calls give equal answers on every rank. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/selection/machine_profile.hpp"
#include "runtime/selection/portfolio.hpp"

namespace tutti {

struct Choice {
  Way* way = nullptr;
  std::string_view why;  // for the log; of a fallback: what was against it
  // Of a fallback, the way that was asked for and cannot do this call; null: this is none.
  const Way* unfollowed = nullptr;
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
    for (Choices& choices : choices_) choices.is_made = false;
  }

  // TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE. Up to so many bytes ring_bidir_ag takes the place of ring where the table
  // says ring; kAnySize: ring_bidir_ag does every all-reduce that it can do, whatever the table says. An algorithm that
  // is forced goes before both.
  void gather_both_ways_up_to(std::uint64_t bytes) { bidirectional_most_ = bytes; }
  [[nodiscard]] bool always_gathers_both_ways() const { return bidirectional_most_ == kAnySize; }

  // Every all-reduce of fewer bytes takes this algorithm by the rules, whatever else the call is.
  [[nodiscard]] std::uint64_t always_below(std::string_view algorithm, bool symmetric);

  // An error where nothing can do the call.
  [[nodiscard]] Result<Choice> choose(Collective collective, std::uint64_t bytes, const CallFacts& call);

 private:
  struct Row {
    std::uint64_t most_bytes;
    bool symmetric;
    bool attached;
    bool is_ring;
    Way* way;
  };
  struct Choices {
    Way* forced = nullptr;
    bool is_made = false;
    std::vector<Row> rows;  // of the table, for this number of ranks
  };
  [[nodiscard]] Choices& of(Collective collective) { return choices_[static_cast<std::size_t>(collective)]; }
  void make_rows(Collective collective);
  [[nodiscard]] Choice or_ring_bidir_ag(const Choice& choice, const CallFacts& call);
  [[nodiscard]] Result<Choice> by_size(Collective collective, std::uint64_t bytes, const CallFacts& call);
  [[nodiscard]] Result<Choice> by_table(Collective collective, std::uint64_t bytes, const CallFacts& call);

  Portfolio& portfolio_;
  std::uint32_t num_ranks_;
  const std::vector<Rule>* rules_ = nullptr;
  std::uint32_t num_folding_ = 0;
  std::uint64_t bidirectional_most_ = 0;
  std::array<Choices, kNumCollectives> choices_;
};

}  // namespace tutti
