// SPDX-License-Identifier: Apache-2.0
#include "bench/hosts/clock_offset.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::harness {

ClockOffset offset_of(std::int64_t sent, std::int64_t told, std::int64_t answered) {
  const std::int64_t middle = sent + (answered - sent) / 2;
  return {.at = middle, .offset = middle - told, .error = (answered - sent + 1) / 2};
}

ClockOffset better(const ClockOffset& earlier, const ClockOffset& later) {
  return later.error <= earlier.error ? later : earlier;
}

std::int64_t HostClock::common(std::int64_t local) const {
  const std::int64_t length = behind_.at - before_.at;
  if (length <= 0) return local - before_.offset;
  const double share = std::clamp(static_cast<double>(local - before_.at) / static_cast<double>(length), 0.0, 1.0);
  return local - before_.offset - std::llround(share * static_cast<double>(behind_.offset - before_.offset));
}

}  // namespace tutti::harness
