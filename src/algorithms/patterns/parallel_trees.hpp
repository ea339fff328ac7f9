// SPDX-License-Identifier: Apache-2.0
// Parallel trees: one binomial tree for each block, all of the same shape, each shifted so that its root is the block's
// own rank. The place of rank r in the tree of block s is (r - s) mod N; every rank is at every place of some tree, so
// all ranks have the same work.
//
// The parent of a place has its lowest bit that is not 0 cleared; below a place with b zeros at its end hang the places
// with one of these b bits set, as far as there are ranks. All edges of bit j lead between ranks that are 2^j apart, so
// those of all trees can go together: N/2^(j+1) blocks from each rank to one other. Handing out from the highest bit
// to the lowest sends few blocks far and many to neighbours.
//
// Values and pure functions; thread-safe.
#pragma once

#include <bit>
#include <cstdint>

namespace tutti::patterns {

class ParallelTrees {
 public:
  explicit ParallelTrees(std::uint32_t num_ranks) : num_ranks_(num_ranks) {}

  // How many bits places have: the depth of the trees, ceil(log2 N).
  [[nodiscard]] std::uint32_t num_bits() const { return static_cast<std::uint32_t>(std::bit_width(num_ranks_ - 1)); }
  // Whether there is a child over the edge of this bit, which all lower bits of the place allow.
  [[nodiscard]] bool has_child(std::uint32_t place, std::uint32_t bit) const {
    return std::uint64_t{place} + (std::uint64_t{1} << bit) < num_ranks_;
  }
  // How many places have a child over the edge of this bit: the multiples of 2^(bit+1), from 0 on.
  [[nodiscard]] std::uint32_t num_parents(std::uint32_t bit) const;

 private:
  std::uint32_t num_ranks_;
};

}  // namespace tutti::patterns
