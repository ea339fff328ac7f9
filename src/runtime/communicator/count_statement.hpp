// SPDX-License-Identifier: Apache-2.0
// What the ranks tell each other of their counts before a call whose blocks differ in size, so that all divide it into
// the same rounds, choose the same algorithm, and find out together where their counts contradict each other.
//
// A statement is five words, so that it travels in the line of a flag. Its sums of hashes say whether all counts agree;
// where they do not, ranks tell each other all of them, and each finds the same difference to name. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/block_table.hpp"

namespace tutti {

struct CountStatement {
  // Sums of hashes, over the ranks that this one gives something and those that it expects something of. Of a
  // collective that folds, where all have the same counts, `expected` is of those.
  std::uint64_t given = 0;
  std::uint64_t expected = 0;
  std::uint64_t largest = 0;   // block
  std::uint64_t elements = 0;  // of all blocks that it gives, or, where there is a fold or a root gives all, gets
  std::uint64_t form = 0;      // of those below
  static constexpr std::uint64_t kInPlace = 1;
  static constexpr std::uint64_t kRefused = 2;   // its arguments are wrong
  static constexpr std::uint64_t kNoCounts = 4;  // and its counts are not known
};
inline constexpr std::size_t kStatementWords = sizeof(CountStatement) / sizeof(std::uint64_t);

[[nodiscard]] CountStatement statement_of(const Schedule& header, std::uint32_t rank, const BlockTable& table);

// What follows for all ranks alike.
struct Agreed {
  std::uint64_t largest = 0;
  std::uint64_t elements = 0;  // of the message, as nccl-tests counts
  bool in_place = false;       // some rank is; one without elements cannot be
  bool differs = false;        // some count contradicts another
  std::uint32_t refused = 0;   // the first rank that has refused what it was asked; none: the number of ranks
};
[[nodiscard]] Agreed agreed_by(const Schedule& header, std::span<const CountStatement> statements);

// All counts of a rank: what it gives to each rank, then what it expects of each. Of a collective that folds, those of
// the blocks.
inline constexpr std::uint64_t kNoCount = ~std::uint64_t{0};
[[nodiscard]] std::vector<std::uint64_t> all_counts_of(const Schedule& header, std::uint32_t rank,
                                                       const BlockTable& table);
// Of all ranks' counts, one after another: "rank 1 gives 5 elements to rank 2, which expects 4".
[[nodiscard]] std::string first_difference(const Schedule& header, std::span<const std::uint64_t> counts);

}  // namespace tutti
