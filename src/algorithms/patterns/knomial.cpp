// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/knomial.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti::patterns {

KnomialTree::KnomialTree(std::uint32_t num_ranks, std::uint32_t radix, std::uint32_t root)
    : num_ranks_(num_ranks), radix_(radix), root_(root) {
  TUTTI_ASSERT(radix >= 2 && root < num_ranks, "a k-nomial tree has a radix of 2 or more and one of its ranks as root");
}

std::uint32_t KnomialTree::place_of(std::uint32_t rank) const {
  return rank >= root_ ? rank - root_ : rank + (num_ranks_ - root_);
}

std::uint32_t KnomialTree::rank_at(std::uint64_t place) const {
  TUTTI_ASSERT(num_ranks_ > 0, "there is a root among them");
  return static_cast<std::uint32_t>((place + root_) % num_ranks_);
}

std::uint64_t KnomialTree::room_below(std::uint32_t place) const {
  std::uint64_t room = 1;
  if (place == 0) {
    while (room < num_ranks_) room *= radix_;
    return room;
  }
  while (place % (room * radix_) == 0) room *= radix_;
  return room;
}

std::optional<std::uint32_t> KnomialTree::parent(std::uint32_t rank) const {
  const std::uint32_t place = place_of(rank);
  if (place == 0) return std::nullopt;
  return rank_at(place - place % (room_below(place) * radix_));
}

std::vector<std::uint32_t> KnomialTree::children(std::uint32_t rank) const {
  const std::uint32_t place = place_of(rank);
  const std::uint64_t room = room_below(place);
  std::vector<std::uint32_t> found;
  for (std::uint64_t value = 1; value < room; value *= radix_)
    for (std::uint64_t child = place + value; child < place + value * radix_ && child < num_ranks_; child += value)
      found.push_back(rank_at(child));
  return found;
}

RankRun KnomialTree::subtree(std::uint32_t rank) const {
  const std::uint32_t place = place_of(rank);
  const std::uint64_t count = std::min<std::uint64_t>(room_below(place), num_ranks_ - place);
  return {rank, static_cast<std::uint32_t>(count)};
}

std::uint32_t KnomialTree::most_below_root() const {
  std::uint32_t most = 0;
  for (const std::uint32_t child : children(root_)) most = std::max(most, subtree(child).count);
  return most;
}

std::uint32_t KnomialTree::num_digits() const {
  std::uint32_t digits = 0;
  for (std::uint64_t reach = 1; reach < num_ranks_; reach *= radix_) ++digits;
  return digits;
}

}  // namespace tutti::patterns
