#include "algorithms/patterns/digits.hpp"

#include "base/assert.hpp"

namespace tutti::patterns {

DigitRoute::DigitRoute(std::uint32_t num_ranks, std::uint32_t radix) : num_ranks_(num_ranks), radix_(radix) {
  TUTTI_ASSERT(num_ranks > 0 && radix >= 2, "blocks travel between ranks by the digits of a radix of 2 or more");
}

std::uint32_t DigitRoute::num_hops(std::uint32_t offset) const {
  std::uint32_t hops = 0;
  for (; offset != 0; offset /= radix_) hops += offset % radix_ != 0 ? 1 : 0;
  return hops;
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
