// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/core_watch.hpp"

namespace tutti::shm {

void CoreWatch::timed_yield() {
  if (has_left_) return senses_.yield();
  const Nanoseconds from = senses_.now();
  senses_.yield();
  const Nanoseconds to = senses_.now();
  if (is_suspicious_) {
    look_at_window(from, to);
  } else if (to - from >= kLongYield) {
    window_start_ = to;
    long_yields_ = Nanoseconds(0);
    ranks_before_ = senses_.time_of_ranks();
    is_suspicious_ = true;
  }
  // In a window every yield counts.
  if (is_suspicious_) until_sample_ = 1;
}

void CoreWatch::look_at_window(Nanoseconds from, Nanoseconds to) {
  if (to - from >= kLongYield) long_yields_ += to - from;
  if (to - window_start_ < kWindow) return;
  is_suspicious_ = false;
  const std::optional<Nanoseconds> ranks_after = senses_.time_of_ranks();
  if (!ranks_before_ || !ranks_after) return;
  const Nanoseconds foreign = long_yields_ - (*ranks_after - *ranks_before_);
  if (foreign < (to - window_start_) / kForeignShare) return;
  has_left_ = true;
  senses_.leave();
}

}  // namespace tutti::shm
