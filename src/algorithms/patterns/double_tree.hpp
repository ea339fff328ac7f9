// SPDX-License-Identifier: Apache-2.0
// Two binary trees over the same ranks such that nobody has children in both: while a rank hands one half of the data
// down in one tree it is a leaf for the other half, so both directions of its link are busy all the time.
//
// P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, Parallel
// Computing 35(12), 2009. Both trees are in-order binary trees over places 1 to N: a place's height is the number of
// times that 2 divides it, so odd places are leaves. In tree 0 rank r stands at place r+1. Tree 1 is the mirror image
// for an even number of ranks, and is shifted by one for an odd number; then rank 0 is a leaf in both. Beyond that, in
// tree 1 leaves stand two leaves further on. In the plain image a leaf's parent would often be its own child in the
// other tree; here, from five ranks on, no two ranks are neighbours in both trees.
//
// Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace tutti::patterns {

// From this number of ranks on no two ranks are neighbours in both trees.
inline constexpr std::uint32_t kDisjointTrees = 5;

class DoubleTree {
 public:
  explicit DoubleTree(std::uint32_t num_ranks) : num_ranks_(num_ranks) {}

  // `tree` is 0 or 1. Null at the root.
  [[nodiscard]] std::optional<std::uint32_t> parent(std::uint32_t tree, std::uint32_t rank) const;
  // The children of lower and of higher place.
  [[nodiscard]] std::optional<std::uint32_t> lower_child(std::uint32_t tree, std::uint32_t rank) const;
  [[nodiscard]] std::optional<std::uint32_t> upper_child(std::uint32_t tree, std::uint32_t rank) const;

 private:
  [[nodiscard]] std::uint32_t place_of(std::uint32_t tree, std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t tree, std::uint32_t place) const;

  std::uint32_t num_ranks_;
};

}  // namespace tutti::patterns
