// SPDX-License-Identifier: Apache-2.0
// The elements that the oracle computes with: one fold of them shows at once whether a contribution is missing, doubled
// or misplaced, whether it was scaled and finished once, and how the fold was bracketed and ordered.
//
// Everything is arithmetic modulo 2^64 on numbers drawn from seeds, so that two different folds agree by chance once in
// 2^64. Plain values; thread-safe.
#pragma once

#include <cstdint>

namespace tutti::oracle {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

struct Element {
  std::uint64_t sum = 0;     // adds up; the only part that first and final touch scale
  std::uint64_t slope = 0;   // with offset: x ↦ slope·x + offset. Composing is associative, not commutative:
  std::uint64_t offset = 0;  // right only in rank order
  std::uint64_t bits = 0;    // commutative, not associative, rounded once a step: the bits of a floating-point fold
  std::uint64_t left = 0;    // neither, and rounded once a step: right only as a left fold in rank order in one step

  friend bool operator==(const Element&, const Element&) = default;
};

[[nodiscard]] constexpr Element drawn(std::uint64_t seed) {
  return {mix(seed), mix(seed + 1) | 1U, mix(seed + 2), mix(seed + 3), mix(seed + 4)};
}

constexpr void fold_into(Element& folded, const Element& next) {
  folded.sum += next.sum;
  folded.offset += folded.slope * next.offset;
  folded.slope *= next.slope;
  folded.bits = mix(folded.bits) + mix(next.bits);
  folded.left = mix(folded.left) * 3 + next.left;
}

// At the end of a step that has folded: what it held with more digits gets those of the type.
constexpr void round_off(Element& folded) {
  folded.bits = mix(~folded.bits);
  folded.left = mix(~folded.left);
}

// The factor of a rank in a pre-multiplied sum, and what a final touch multiplies with.
[[nodiscard]] constexpr std::uint64_t factor_of(std::uint32_t rank) { return mix(0xfac7 + std::uint64_t{rank}) | 1U; }
inline constexpr std::uint64_t kFinalFactor = 0xd1b54a32d192ed03U;

}  // namespace tutti::oracle
