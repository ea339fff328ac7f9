// SPDX-License-Identifier: Apache-2.0
// A stream of a device, with the events that time what is put into it. One thread; it goes before its device.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "peers/on_device/device.hpp"

namespace tutti::peers::on_device {

class Queue {
 public:
  // On the device that this thread uses.
  [[nodiscard]] static Result<Queue> make(Device& device);

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] Stream* stream() const { return stream_; }
  [[nodiscard]] Status synchronize() const { return device_->synchronize(stream_); }

  // What a call takes on the device's own clock: the median of some runs of calls that follow each other without the
  // host in between, as nccl-tests times them. How many there are follows from `bytes` alone, so all ranks do the same.
  // `enqueue` puts a call into the stream. Throws where the device fails.
  [[nodiscard]] double microseconds_of(const std::function<void()>& enqueue, std::size_t bytes) const;

 private:
  explicit Queue(Device& device) : device_(&device) {}

  Device* device_;
  Stream* stream_ = nullptr;
  std::array<Event*, 2> events_{};
};

}  // namespace tutti::peers::on_device
