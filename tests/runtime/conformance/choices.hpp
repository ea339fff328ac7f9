// SPDX-License-Identifier: Apache-2.0
// The choices that cases are made of, as factors of a covering array, and which of them cannot stand together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../covering_array.hpp"
#include "case.hpp"

namespace tutti::test {

// NOLINTBEGIN(readability-identifier-naming): constants that count up, used as indices
enum Factor : std::size_t {
  kAlgorithm,   // of conforming_algorithms()
  kParameters,  // the usual, others
  kRanks,       // 1 to 9
  kRoot,        // the first, the last, one in the middle
  kType,
  kCount,      // 0, 1, ranks - 1, ranks, ranks + 1, 1000, 65539, 4 Mi (with a sanitizer 256 Ki)
  kPlacement,  // out of place, in place
  kMemory,     // ordinary, symmetric
  kAddresses,  // aligned, odd
  kFolding,    // operator and way of walking: each walker scales and divides by itself, in every algorithm
  kSlot,       // 128 KiB, 4 KiB
  kSizes,      // of blocks that vary: enum Sizes
  kSpread,     // enum Spread
  kForm,       // enum Form
  kNumFactors,
};
// NOLINTEND(readability-identifier-naming)

// How plans are walked: as the runtime chooses, the same but read where inputs lie wherever that can be, generically.
constexpr std::size_t kNumWalks = 3;
constexpr std::size_t kGenericWalk = 2;
[[nodiscard]] constexpr std::size_t folding(Op op, std::size_t walk) {
  return static_cast<std::size_t>(op) * kNumWalks + walk;
}

class Choices {
 public:
  Choices();

  [[nodiscard]] const std::vector<std::size_t>& levels() const { return levels_; }
  [[nodiscard]] bool in_conflict(Choice a, Choice b) const;
  // In milliseconds, roughly.
  [[nodiscard]] double cost(const CoveringRow& row) const;
  // What a factor cannot say for that algorithm and number of ranks it does not say: then parameters are the usual
  // ones.
  [[nodiscard]] Case case_of(const CoveringRow& row, std::uint64_t seed) const;

  // All cases that have every pair of choices among them.
  [[nodiscard]] std::vector<Case> covering_cases(std::uint64_t seed) const;

 private:
  [[nodiscard]] bool suits(const Algorithm& algorithm, Choice choice) const;
  [[nodiscard]] bool is_for(const Algorithm& algorithm, std::uint32_t num_ranks) const;

  std::vector<const Algorithm*> algorithms_;
  std::vector<std::size_t> levels_;
  std::vector<std::vector<Request>> requests_;  // by algorithm and number of ranks
};

// Bytes of all buffers of all ranks.
[[nodiscard]] std::uint64_t bytes_of(const Case& each);

}  // namespace tutti::test
