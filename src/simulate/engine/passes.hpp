// SPDX-License-Identifier: Apache-2.0
// What one pass over memory takes where cores carry the bytes themselves: what a step reads and writes, of its own rank
// and of others. The curves of a fabric, looked up; what was looked up last is kept. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/fabric.hpp"
#include "schedule/step.hpp"
#include "simulate/engine/sizes.hpp"

namespace tutti::simulate {

// The ends of a step that moves data.
struct Pass {
  std::uint32_t own_ends = 0;  // that are this rank's own memory, sources and destinations
  std::uint32_t from_others = 0;
  std::uint32_t to_others = 0;
  bool folds = false;   // more than one source
  bool writes = false;  // there is a destination
};

// Of the rank's step. What other ranks of the same core write and read is as near as what this one does. A destination
// that `stays` is left out: its data are there already.
template <typename Stays>
[[nodiscard]] Pass pass_of(const Step& step, std::uint32_t rank, const fabric::Fabric& fabric, const Stays& stays) {
  const auto is_own = [&](const Endpoint& end) {
    return end.place == Place::local ||
           (end.place != Place::multicast && fabric.ranks[end.rank].core == fabric.ranks[rank].core);
  };
  Pass pass{.folds = step.sources.size() > 1};
  for (const Endpoint& end : step.sources) ++(is_own(end) ? pass.own_ends : pass.from_others);
  for (const Endpoint& end : step.destinations) {
    if (end.place == Place::local && stays(end.slice)) continue;
    ++(is_own(end) ? pass.own_ends : pass.to_others);
    pass.writes = true;
  }
  return pass;
}

class Passes {
 public:
  // Of an operation with blocks of these sizes. Borrows the fabric.
  Passes(const fabric::Fabric& fabric, std::uint32_t num_ranks, const Sizes& sizes, bool in_place);

  // Whether the rank's core carries bytes itself.
  [[nodiscard]] bool carries(std::uint32_t rank) const { return costs_of(rank).carries(); }

  // Of a pass with other ranks' bytes in it, `bytes` at each end, by a core that carries them.
  [[nodiscard]] double time_of(std::uint32_t rank, const Pass& pass, double bytes);
  // The same of any pass.
  [[nodiscard]] double time_of_any(std::uint32_t rank, const Pass& pass, double bytes);
  // Of reading and writing so many bytes of the rank's own memory, with a result of so many if they are folded.
  [[nodiscard]] double time_in_memory(std::uint32_t rank, double bytes_moved, double bytes_made) const;

  // What the rank's memory reads and writes in this operation; 0 is no limit.
  [[nodiscard]] double bandwidth(std::uint32_t rank) const;

 private:
  enum Kind : std::uint8_t { send, receive, fold, forward, fold_forward };
  static constexpr std::size_t kNumKinds = 5;
  struct Kept {
    double bytes = -1;
    double time = 0;
  };
  // Of the kinds of memory and the cores there are.
  struct Rates {
    double bandwidth = 0;
    double beside = 0;
  };

  [[nodiscard]] const fabric::Costs& costs_of(std::uint32_t rank) const {
    return fabric_.costs[fabric_.ranks[rank].costs];
  }
  [[nodiscard]] double look_up(std::uint32_t number, Kind kind, double bytes);  // of these costs

  const fabric::Fabric& fabric_;
  std::vector<Rates> rates_;                       // by rank; empty where no memory has curves
  std::vector<std::array<Kept, kNumKinds>> kept_;  // by costs
};

}  // namespace tutti::simulate
