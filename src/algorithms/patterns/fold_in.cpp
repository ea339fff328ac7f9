// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/fold_in.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"

namespace tutti::patterns {

std::uint32_t floor_power(std::uint32_t number, std::uint32_t base) {
  std::uint32_t power = 1;
  while (power <= number / base) power *= base;
  return power;
}

std::uint32_t log2_of_power(std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); }

FoldIn::FoldIn(std::uint32_t num_ranks, std::uint32_t num_places)
    : num_places_(num_places), base_size_(num_ranks / num_places), num_larger_(num_ranks % num_places) {
  TUTTI_ASSERT(base_size_ > 0, "every place has a rank");
}

std::uint32_t FoldIn::place_of(std::uint32_t rank) const {
  const std::uint32_t in_larger = num_larger_ * (base_size_ + 1);
  if (rank < in_larger) return rank / (base_size_ + 1);
  return num_larger_ + (rank - in_larger) / base_size_;
}

std::uint32_t FoldIn::leader(std::uint32_t place) const { return place * base_size_ + std::min(place, num_larger_); }

std::uint32_t FoldIn::size_of(std::uint32_t place) const { return base_size_ + (place < num_larger_ ? 1 : 0); }

std::vector<std::uint32_t> exchange_bases(std::uint32_t num_ranks, std::uint32_t radix) {
  std::vector<std::uint32_t> powers;
  for (std::uint32_t rest = num_ranks; rest >= radix; rest /= radix) powers.push_back(radix);

  // The largest divisors first: fewest rounds in all but rare cases, and never wrong.
  std::vector<std::uint32_t> divisors;
  std::uint32_t rest = num_ranks;
  for (std::uint32_t base = std::min(radix, num_ranks); base > 1; --base) {
    for (; rest % base == 0; rest /= base) divisors.push_back(base);
  }
  // Folding in costs a round before and one behind.
  const bool is_product = rest == 1 && divisors.size() <= powers.size() + 2;
  return is_product ? divisors : powers;
}

}  // namespace tutti::patterns
