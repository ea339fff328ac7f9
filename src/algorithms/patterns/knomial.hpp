// SPDX-License-Identifier: Apache-2.0
// k-nomial trees: the binomial tree with any radix, over any number of ranks, rooted at any rank by rotation.
//
// A rank's number counted from the root is written in base k. Its parent has the lowest digit that is not 0 cleared;
// its children have one digit below that set. So every subtree is a run of neighbouring ranks, the tree is
// ceil(log_k N) digits high, and a fold of a rank's own part with its children's in the order given here is in rank
// order when the root is rank 0.
//
// Example, k = 3, N = 9, root 0: 0 has the children 1, 2, 3 (with 4, 5) and 6 (with 7, 8).
//
// Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::patterns {

// `count` neighbouring ranks: first, first + 1 and so on; behind the last rank comes rank 0.
struct RankRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const RankRun&, const RankRun&) = default;
};

class KnomialTree {
 public:
  // The radix is at least 2, and the root less than the number of ranks. A radix of N or more is a star.
  KnomialTree(std::uint32_t num_ranks, std::uint32_t radix, std::uint32_t root = 0);

  // Null for the root.
  [[nodiscard]] std::optional<std::uint32_t> parent(std::uint32_t rank) const;

  // The nearest first, counted from the rank towards the right. Subtrees never become lower along the list: who gathers
  // takes them in this order, because the first are ready first; who hands out goes from the last to the first.
  [[nodiscard]] std::vector<std::uint32_t> children(std::uint32_t rank) const;

  // The rank and all below it; children()'s subtrees follow the rank itself one behind the other.
  [[nodiscard]] RankRun subtree(std::uint32_t rank) const;

  // How many ranks the largest subtree below the root has; 0 where the root is alone.
  [[nodiscard]] std::uint32_t most_below_root() const;

  // Digits of the highest number: how many rounds of at most k-1 messages each the root takes part in.
  [[nodiscard]] std::uint32_t num_digits() const;

 private:
  // Ranks counted from the root, and back.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank_at(std::uint64_t place) const;
  // How many places the subtree below a place would have if there were ranks enough: the value of the lowest digit of
  // the place that is not 0.
  [[nodiscard]] std::uint64_t room_below(std::uint32_t place) const;

  std::uint32_t num_ranks_;
  std::uint32_t radix_;
  std::uint32_t root_;
};

}  // namespace tutti::patterns
