// Which way of doing a collective runs a call: the one that is forced, else what the table of decisions says for its
// size. Equal settings and calls give equal answers on every rank.
//
// The table (decisions.cpp) stands in, with sizes measured on a machine of two cores, until tables are tuned for the
// machine at hand. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/processor.hpp"
#include "runtime/selection/portfolio.hpp"

namespace tutti {

// Below this one_shot is the answer to every all-reduce in ordinary memory, so the small path need not ask.
inline constexpr std::uint64_t kAlwaysOneShot = 32 << 10;
// The same in symmetric memory. Of more than two ranks as measured where they share cores.
[[nodiscard]] constexpr std::uint64_t always_one_shot_symmetric(std::uint32_t num_ranks) {
  return num_ranks <= 2 ? 4 << 10 : 16 << 10;
}

inline constexpr std::uint64_t kAnySize = ~std::uint64_t{0};
inline constexpr std::uint32_t kAnyRanks = ~std::uint32_t{0};

// The first row of a collective that fits a call, and that the call fits, is taken.
struct Decision {
  Collective collective = Collective::all_reduce;
  std::uint32_t most_ranks = kAnyRanks;
  std::uint64_t most_bytes = kAnySize;  // of the message, as nccl-tests counts
  bool symmetric = false;               // for buffers in symmetric memory alone
  bool attached = false;                // where a copy by the system pays, and both ends have a core for it
  std::string_view way = {};
  std::optional<Processor> processor = {};  // on that alone
  bool crowded = false;  // for more ranks than cores alone; the way is made with one rank for each core
};
[[nodiscard]] std::span<const Decision> decisions();

// Message sizes at which the system's one copy is faster than two through shared memory.
struct AttachRange {
  Collective collective = Collective::all_reduce;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = 0;
  int least_ranks = 2;
  int most_ranks = std::numeric_limits<int>::max();
  bool stores = false;  // only of ways that store to others too
};
// Crowded: there are more ranks than cores. Of ways that store to others, or of those that only read from them.
[[nodiscard]] bool pays_to_attach(Collective collective, std::uint64_t bytes, int num_ranks, bool crowded,
                                  Processor processor, bool stores);

// What usual_spread() and usual_stream_min() go by.
struct CacheFacts {
  Processor processor = Processor::other;
  std::uint64_t core_cache = 0;  // bytes of all that is a core's own
  std::uint64_t last_level_cache = 0;
  std::uint32_t num_cores = 1;
  std::uint32_t num_ranks = 1;
  bool crowded = false;  // there are more ranks than cores
};
// Over how many bytes what is put into slots is spread where nobody says (spread.hpp), with so many groups of slots
// that may be in use at a time.
[[nodiscard]] std::uint64_t usual_spread(const CacheFacts& facts, std::uint32_t num_groups);

// From how many bytes on outputs go past the caches where nobody says: half as many as all ranks' outputs together
// have, or, where each rank stores what it makes in the outputs of all (pushed), all. Passed on is what is read again,
// to be exposed.
[[nodiscard]] std::uint64_t usual_stream_min(const CacheFacts& facts, bool is_pushed, bool is_passed_on);

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

  // Before anything is chosen: whose processor the ranks run on, and how many of them, from the first on, have a core
  // each where there are more ranks than cores. Without, `other` and none.
  void decide_for(Processor processor, std::uint32_t num_folding) {
    processor_ = processor;
    num_folding_ = num_folding;
    for (Choices& choices : choices_) choices.is_made = false;
  }

  // TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE. Up to so many bytes ring_bidir_ag takes the place of ring where the table
  // says ring; kAnySize: ring_bidir_ag does every all-reduce that it can do, whatever the table says. An algorithm that
  // is forced goes before both.
  void gather_both_ways_up_to(std::uint64_t bytes) { bidirectional_most_ = bytes; }
  [[nodiscard]] bool always_gathers_both_ways() const { return bidirectional_most_ == kAnySize; }

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
  Processor processor_ = Processor::other;
  std::uint32_t num_folding_ = 0;
  std::uint64_t bidirectional_most_ = 0;
  std::array<Choices, kNumCollectives> choices_;
};

}  // namespace tutti
