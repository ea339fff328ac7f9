// SPDX-License-Identifier: Apache-2.0
// Runs a schedule on real arrays, all ranks in one thread, in an interleaving drawn from a seed: the reference that the
// runtime's walkers are compared with. It shares with prove what a step means (meaning.hpp) and nothing else.
//
// Everything that a schedule may not rely on is poisoned: outputs, scratch, slots before they are written. Pure but for
// the fold function given; thread-safe where that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// Folds one element of each source, in the order given, into `result`. A single source is copied, not folded, and
// never comes here.
using FoldElement = std::function<void(std::span<const std::byte* const> sources, std::byte* result)>;

// The elements and what to do with them.
struct NumbersData {
  std::size_t element_size = 0;
  std::uint64_t count = 0;   // elements of a block
  std::uint64_t window = 0;  // the most elements of a piece that a round carries
  FoldElement fold;
  // Of collectives whose blocks differ: the elements of a block of each size class (definition.hpp), instead of count.
  std::vector<std::uint64_t> sizes = {};
};

struct NumbersOptions {
  std::uint64_t seed = 0;
  Fusion fusion = Fusion::neighbours;
  bool staged = true;
  bool in_place = false;
  std::uint32_t depth = 2;          // messages in flight of a connection; 0 is rendezvous
  std::uint32_t staging_slots = 0;  // of each rank; 0 for twice what a round exposes
};

// The elements of all the blocks of a rank's input, or output, together.
[[nodiscard]] std::uint64_t elements_of(const Schedule& schedule, const NumbersData& data, std::uint32_t rank,
                                        Space space);

// Each rank's input (all its blocks) in, each rank's output out. An error where the ranks get stuck or sizes are wrong.
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> run_on_numbers(const Schedule& schedule,
                                                                         std::span<const std::vector<std::byte>> inputs,
                                                                         const NumbersData& data,
                                                                         const NumbersOptions& options);

// A FoldElement of an ordinary type and an ordinary function of two.
template <typename T, typename Function>
[[nodiscard]] FoldElement fold_of(Function function) {
  return [function](std::span<const std::byte* const> sources, std::byte* result) {
    T folded;
    std::memcpy(&folded, sources[0], sizeof(T));
    for (const std::byte* source : sources.subspan(1)) {
      T next;
      std::memcpy(&next, source, sizeof(T));
      folded = function(folded, next);
    }
    std::memcpy(result, &folded, sizeof(T));
  };
}

}  // namespace tutti
