// SPDX-License-Identifier: Apache-2.0
// Any number of ranks folded into a handier number of places: who stands for whom where an algorithm wants a power.
//
// Each place is a group of neighbouring ranks; the first of a group leads it and does the others' work. Groups differ
// by one rank at most and larger ones come first, so folding group by group keeps the order of the ranks.
//
// Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::patterns {

// The largest power of `base` (at least 2) that is at most `number` (at least 1).
[[nodiscard]] std::uint32_t floor_power(std::uint32_t number, std::uint32_t base);
// How often 2 divides a power of two.
[[nodiscard]] std::uint32_t log2_of_power(std::uint32_t power);

class FoldIn {
 public:
  // As many places as ranks at most, and at least one.
  FoldIn(std::uint32_t num_ranks, std::uint32_t num_places);

  [[nodiscard]] std::uint32_t num_places() const { return num_places_; }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t rank) const;
  // The group of a place is leader(place), leader(place) + 1 and so on, size_of(place) ranks.
  [[nodiscard]] std::uint32_t leader(std::uint32_t place) const;
  [[nodiscard]] std::uint32_t size_of(std::uint32_t place) const;

 private:
  std::uint32_t num_places_;
  std::uint32_t base_size_;   // ranks of a smaller group
  std::uint32_t num_larger_;  // groups with one rank more
};

// Rounds of an exchange of all with all in which every place has at most radix-1 peers a round: in round i the places
// that differ only in their digit i exchange, where digits have the bases listed here (mixed radix, lowest first). The
// product of the bases is the number of places.
//
// The ranks' number itself where it is a product of such bases that takes no more rounds than folding in would;
// otherwise the largest power of the radix.
[[nodiscard]] std::vector<std::uint32_t> exchange_bases(std::uint32_t num_ranks, std::uint32_t radix);

}  // namespace tutti::patterns
