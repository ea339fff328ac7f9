#include "algorithms/patterns/digits.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tutti::patterns {

DigitRoute::DigitRoute(std::uint32_t num_ranks, std::uint32_t radix) : num_ranks_(num_ranks), radix_(radix) {
  TUTTI_ASSERT(num_ranks > 0 && radix >= 2, "blocks travel between ranks by the digits of a radix of 2 or more");
}

std::uint64_t DigitRoute::hop_before(std::uint32_t offset, std::uint64_t value) const {
  do value /= radix_;
  while (hop(offset, value) == 0);
  return value;
}

std::uint64_t DigitRoute::num_resting(std::uint32_t offset, std::uint64_t value) const {
  // Of radix · value offsets in a row, beginning with a multiple of that, the first `value` rest.
  const std::uint64_t turn = value * radix_;
  const auto below = [&](std::uint64_t end) { return end / turn * value + std::min(end % turn, value); };
  return below(num_ranks_) - below(offset);
}

std::uint32_t DigitRoute::place_of(std::uint32_t offset, std::uint64_t value) const {
  std::uint64_t place = 0;
  for (std::uint64_t lower = 1; lower < value; lower *= radix_) place += num_ranks_ - num_resting(0, lower);
  place += num_ranks_ - 1 - offset - num_resting(offset + 1, value);
  return static_cast<std::uint32_t>(place);
}

bool DigitRoute::finds_room(std::uint32_t offset) const {
  const std::uint32_t leaving = num_ranks_ - offset;
  std::uint64_t leaves_at = 1;
  while (hop(leaving, leaves_at) == 0) leaves_at *= radix_;
  std::uint64_t comes_at = 1;
  while (!is_last_hop(offset, comes_at)) comes_at *= radix_;
  // Of the same value the higher offset goes first, and of the same offset one is sent before one is received.
  return leaves_at < comes_at || (leaves_at == comes_at && leaving >= offset);
}

}  // namespace tutti::patterns
