// SPDX-License-Identifier: Apache-2.0
// What ring algorithms are made of: chunks are folded on their way around a ring, or handed around it. Lanes for other
// lanes to take their steps from. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "algorithms/patterns/grid.hpp"
#include "schedule/schedule.hpp"

namespace tutti::parts {

// A line whose ends meet, gone around one way or the other, as one of its ranks sees it.
struct Ring {
  patterns::Line line;
  bool backwards = false;
  // The chunk of a place is the one with a number so much greater, going around; at most a length.
  std::uint32_t shift = 0;

  [[nodiscard]] std::uint32_t next() const { return backwards ? line.previous() : line.next(); }
  [[nodiscard]] std::uint32_t previous() const { return backwards ? line.next() : line.previous(); }
  // The chunk of the place whose rank is `distance` before this one on the way; a distance of at most one length.
  [[nodiscard]] std::uint32_t chunk_before(std::uint32_t distance) const {
    return line.around(line.place_before(backwards ? line.length - distance : distance) + shift);
  }
};

// All ranks, in their order.
[[nodiscard]] Ring ring_of_all(const Builder& b, bool backwards = false, std::uint32_t shift = 0);

// A chunk for each place of a ring: `size` pieces of block 0, those of place 0 from piece `first` on; or a block each.
struct Chunks {
  std::uint32_t first = 0;
  std::uint32_t size = 1;
  bool are_blocks = false;

  [[nodiscard]] Slice of(Space space, std::uint32_t place) const {
    return are_blocks ? Slice{space, place} : Slice{space, 0, first + place * size, size};
  }
};

// Steps that fold_around() takes on a ring of two ranks or more; its last one leaves the chunk whole.
[[nodiscard]] inline std::uint32_t num_steps_of_fold(const Ring& ring) { return 2 * (ring.line.length - 1); }

// Every chunk travels around the ring, begins behind its place and ends at it, as the fold of all ranks. What is folded
// stands in `from`, inputs or outputs of an earlier turn; the results in output. For two ranks or more.
[[nodiscard]] Lane fold_around(Builder& b, Ring ring, Chunks chunks, Space from, bool completes);

// Every chunk travels from its place to the `distance` ranks that follow: 2 · distance steps.
[[nodiscard]] Lane hand_around(Builder& b, Ring ring, Chunks chunks, std::uint32_t distance);

// Both, all the way around: an all-reduce in 4(N-1) steps. One rank copies.
[[nodiscard]] Lane fold_and_hand_around(Builder& b, Ring ring, Chunks chunks);

}  // namespace tutti::parts
