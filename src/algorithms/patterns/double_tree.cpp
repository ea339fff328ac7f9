// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/double_tree.hpp"

#include <bit>

namespace tutti::patterns {

namespace {

// How far the children of a place are away in a tree without end: half of the power of two in the place; 0 at leaves.
std::uint32_t reach(std::uint32_t place) { return (place & (0U - place)) / 2; }

// Where the right part of the tree is cut off, its highest place steps in for the child that is not there.
std::uint32_t upper_place(std::uint32_t place, std::uint32_t num_places) {
  std::uint32_t distance = reach(place);
  while (distance > 0 && place + distance > num_places) distance /= 2;
  return place + distance;
}

// Of an odd place among `num_places`, the one that is `count` odd places further on; past the end it begins anew.
std::uint32_t further_leaf(std::uint32_t place, std::uint32_t count, std::uint32_t num_places) {
  const std::uint32_t num_leaves = (num_places + 1) / 2;
  return (place / 2 + count) % num_leaves * 2 + 1;
}

constexpr std::uint32_t kLeafShift = 2;

}  // namespace

std::uint32_t DoubleTree::place_of(std::uint32_t tree, std::uint32_t rank) const {
  if (tree == 0) return rank + 1;
  std::uint32_t place = num_ranks_ - rank;
  if (num_ranks_ % 2 == 1) place = rank == 0 ? num_ranks_ : rank;
  return place % 2 == 0 ? place : further_leaf(place, kLeafShift, num_ranks_);
}

std::uint32_t DoubleTree::rank_at(std::uint32_t tree, std::uint32_t place) const {
  if (tree == 0) return place - 1;
  if (place % 2 == 1) {
    const std::uint32_t num_leaves = (num_ranks_ + 1) / 2;
    place = further_leaf(place, num_leaves - kLeafShift % num_leaves, num_ranks_);
  }
  if (num_ranks_ % 2 == 0) return num_ranks_ - place;
  return place == num_ranks_ ? 0 : place;
}

std::optional<std::uint32_t> DoubleTree::parent(std::uint32_t tree, std::uint32_t rank) const {
  const std::uint32_t place = place_of(tree, rank);
  if (place == std::bit_floor(num_ranks_)) return std::nullopt;
  // One up in a tree without end, over and over until the place is one of ours: what is cut off takes nobody along.
  std::uint32_t above = place;
  do {
    const std::uint32_t power = above & (0U - above);
    above = (above ^ power) | (2 * power);
  } while (above > num_ranks_);
  return rank_at(tree, above);
}

std::optional<std::uint32_t> DoubleTree::lower_child(std::uint32_t tree, std::uint32_t rank) const {
  const std::uint32_t place = place_of(tree, rank);
  if (reach(place) == 0) return std::nullopt;
  return rank_at(tree, place - reach(place));
}

std::optional<std::uint32_t> DoubleTree::upper_child(std::uint32_t tree, std::uint32_t rank) const {
  const std::uint32_t place = place_of(tree, rank);
  const std::uint32_t child = upper_place(place, num_ranks_);
  if (child == place) return std::nullopt;
  return rank_at(tree, child);
}

}  // namespace tutti::patterns
