// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/halves.hpp"

#include <algorithm>

namespace tutti::patterns {

namespace {

Halves cut(std::uint32_t first, std::uint32_t end) { return {first, first + (end - first + 1) / 2, end}; }

}  // namespace

RankRun Halves::own(std::uint32_t rank) const {
  return is_low(rank) ? RankRun{first, middle - first} : RankRun{middle, end - middle};
}

RankRun Halves::other(std::uint32_t rank) const {
  return is_low(rank) ? RankRun{middle, end - middle} : RankRun{first, middle - first};
}

std::uint32_t Halves::counterpart(std::uint32_t rank) const {
  const RankRun there = other(rank);
  return there.first + std::min(rank - own(rank).first, there.count - 1);
}

RankRun Halves::followers(std::uint32_t rank) const {
  const RankRun here = own(rank);
  const RankRun there = other(rank);
  const std::uint32_t place = rank - here.first;
  if (place >= there.count) return {there.first, 0};
  const bool is_last = place + 1 == here.count;
  return {there.first + place, is_last ? there.count - place : 1};
}

std::vector<Halves> cuts_around(std::uint32_t rank, std::uint32_t num_ranks) {
  std::vector<Halves> cuts;
  for (RankRun group{0, num_ranks}; group.count > 1; group = cuts.back().own(rank))
    cuts.push_back(cut(group.first, group.first + group.count));
  return cuts;
}

}  // namespace tutti::patterns
