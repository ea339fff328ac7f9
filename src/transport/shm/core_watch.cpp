#include "transport/shm/core_watch.hpp"

#include <algorithm>

namespace tutti::shm {

void CoreWatch::timed_yield() {
  if (has_left_) return senses_.yield();
  const std::optional<Nanoseconds> ranks_before = is_suspicious_ ? senses_.time_of_ranks() : std::nullopt;
  const Nanoseconds from = senses_.now();
  senses_.yield();
  const Nanoseconds to = senses_.now();
  if (is_suspicious_) {
    look_at_window(from, to, ranks_before);
  } else if (to - from >= kLongYield) {
    window_start_ = to;
    foreign_ = Nanoseconds(0);
    is_suspicious_ = true;
  }
  // In a window every yield counts.
  if (is_suspicious_) until_sample_ = 1;
}

void CoreWatch::look_at_window(Nanoseconds from, Nanoseconds to, std::optional<Nanoseconds> ranks_before) {
  const std::optional<Nanoseconds> ranks_after = senses_.time_of_ranks();
  // Unknown times are taken for the ranks' own.
  if (ranks_before && ranks_after && to - from >= kLongYield)
    foreign_ += std::max(Nanoseconds(0), (to - from) - (*ranks_after - *ranks_before));
  if (to - window_start_ < kWindow) return;
  is_suspicious_ = false;
  if (foreign_ < (to - window_start_) / kForeignShare) return;
  has_left_ = true;
  senses_.leave();
}

}  // namespace tutti::shm
