// SPDX-License-Identifier: Apache-2.0
// One device through CUDA's driver or the HIP runtime, of which this declares the few functions that it calls, as their
// documentation has them. One thread; what is made of a Device must go before it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "peers/on_device/platform.hpp"

namespace tutti::peers::on_device {

struct Stream;
struct Event;

class Device {
 public:
  // The platform, ready to be asked; no device is touched yet. An error says what is missing.
  [[nodiscard]] static Result<std::unique_ptr<Device>> open(const Platform& platform);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] Result<std::string> name(int device) const;
  // "8 devices (NVIDIA H200)", by the first one's name.
  [[nodiscard]] Result<std::string> summary() const;
  // This thread's calls are for that device from now on.
  [[nodiscard]] Status use(int device);

  struct Release {
    Device* device = nullptr;
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Release>;
  [[nodiscard]] Result<Memory> allocate(std::size_t bytes);
  // Both have happened, for all streams, when they come back.
  [[nodiscard]] Status copy_in(void* on_device, const void* on_host, std::size_t bytes);
  [[nodiscard]] Status copy_out(void* on_host, const void* on_device, std::size_t bytes);

  [[nodiscard]] Result<Stream*> make_stream();
  [[nodiscard]] Status synchronize(Stream* stream);
  // Events and streams live as long as the process.
  [[nodiscard]] Result<Event*> make_event();
  [[nodiscard]] Status record(Event* event, Stream* stream);
  // Of two events that have happened.
  [[nodiscard]] Result<double> microseconds_between(Event* first, Event* second);

 private:
  struct Calls;
  struct FreeCalls {
    void operator()(Calls* calls) const;
  };

  explicit Device(const Platform& platform);
  [[nodiscard]] Status find_calls();
  [[nodiscard]] Status status_of(int result, const char* what) const;

  const Platform& platform_;
  std::unique_ptr<Calls, FreeCalls> calls_;
  int count_ = 0;
};

}  // namespace tutti::peers::on_device
