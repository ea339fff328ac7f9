// SPDX-License-Identifier: Apache-2.0
#include "peers/on_device/queue.hpp"

#include <algorithm>

#include "peers/on_device/must.hpp"

namespace tutti::peers::on_device {

Result<Queue> Queue::make(Device& device) {
  Queue queue(device);
  TUTTI_TRY_ASSIGN(queue.stream_, device.make_stream());
  for (Event*& event : queue.events_) {
    TUTTI_TRY_ASSIGN(event, device.make_event());
  }
  return queue;
}

double Queue::microseconds_of(const std::function<void()>& enqueue, std::size_t bytes) const {
  constexpr int kRuns = 5;
  const std::size_t calls = std::clamp<std::size_t>((std::size_t{1} << 30) / std::max<std::size_t>(bytes, 1), 4, 20);
  std::array<double, kRuns> times{};
  for (double& time : times) {
    must(device_->record(events_[0], stream_));
    for (std::size_t each = 0; each < calls; ++each) enqueue();
    must(device_->record(events_[1], stream_));
    must(synchronize());
    const Result<double> between = device_->microseconds_between(events_[0], events_[1]);
    must(between.status());
    time = *between / static_cast<double>(calls);
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

}  // namespace tutti::peers::on_device
