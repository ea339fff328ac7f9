// SPDX-License-Identifier: Apache-2.0
// Any number of ranks cut in half, and each half again, until every rank is alone: what takes the place of the bits of
// a rank's number where the ranks are no power of two. Of an odd number the first half has one more.
//
// Every rank has a counterpart in the other half: the one at the same place, or the last where there is none. So the
// last rank of a shorter half is the counterpart of two, and the last of a longer one of nobody. With a power of two
// the counterpart is the rank with one bit changed.
//
// Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/patterns/knomial.hpp"

namespace tutti::patterns {

// The ranks from `first` to `end` - 1, cut before `middle`.
struct Halves {
  std::uint32_t first = 0;
  std::uint32_t middle = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Halves&, const Halves&) = default;

  [[nodiscard]] bool is_low(std::uint32_t rank) const { return rank < middle; }
  // The half that the rank, one of them, is in, and the one that it is not in.
  [[nodiscard]] RankRun own(std::uint32_t rank) const;
  [[nodiscard]] RankRun other(std::uint32_t rank) const;
  // The rank of the other half that stands for this one there.
  [[nodiscard]] std::uint32_t counterpart(std::uint32_t rank) const;
  // Those of the other half whose counterpart this one is: none, one or two neighbours.
  [[nodiscard]] RankRun followers(std::uint32_t rank) const;
};

// The cuts on the way from all ranks, the first, to the rank alone. At most ceil(log2 N) of them; none for one rank.
[[nodiscard]] std::vector<Halves> cuts_around(std::uint32_t rank, std::uint32_t num_ranks);

}  // namespace tutti::patterns
