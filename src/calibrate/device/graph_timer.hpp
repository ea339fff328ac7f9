// SPDX-License-Identifier: Apache-2.0
// Times calls on a device in turn, round by round, so that a device that changes its pace does so for all of them.
// Calls are replayed as CUDA graphs, in which the host launches none of them: what is timed is the device alone. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace tutti::calibrate {

// Puts one call into the stream.
using DeviceCallOnce = std::function<Status(cudaStream_t stream)>;

class GraphTimer {
 public:
  GraphTimer() = default;
  ~GraphTimer();
  GraphTimer(const GraphTimer&) = delete;
  GraphTimer& operator=(const GraphTimer&) = delete;

  // On the present device.
  [[nodiscard]] Status set_up();

  // A call that moves about so many bytes of memory; the number by which median() knows it. Calls it once.
  [[nodiscard]] Result<std::size_t> add(const DeviceCallOnce& call, std::uint64_t moved);
  // The same, launched by the host one by one.
  [[nodiscard]] Result<std::size_t> add_to_stream(const DeviceCallOnce& call);

  // Times all of them.
  [[nodiscard]] Status run();
  // Nanoseconds of one call.
  [[nodiscard]] double median(std::size_t number) const;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  struct Timed {
    int calls = 1;
    cudaGraphExec_t graph = nullptr;  // of so many calls; null: the host makes them
    DeviceCallOnce call = {};
    std::vector<double> times = {};
  };
  Status capture(Timed& timed);
  Status start(const Timed& timed);
  Result<double> time(const Timed& timed);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  std::vector<Timed> timed_;
};

}  // namespace tutti::calibrate
