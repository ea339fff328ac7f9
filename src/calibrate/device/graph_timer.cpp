// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/graph_timer.hpp"

#include <algorithm>

#include "device/cuda/cuda_status.hpp"

namespace tutti::calibrate {

using device::cuda_status;

namespace {

constexpr int kWarmUp = 2;
constexpr int kRounds = 15;
// A graph has as many calls as take about so long, so that what its start takes is nothing beside them.
constexpr double kGraphTime = 600'000;
constexpr int kMostCalls = 100;
constexpr int kLeastCalls = 3;
// Of the right size: a launch, and memory of a device.
constexpr double kUsualLaunch = 2000;
constexpr double kUsualRate = 3000;

}  // namespace

GraphTimer::~GraphTimer() {
  if (stream_ != nullptr) static_cast<void>(cudaStreamSynchronize(stream_));
  for (const Timed& each : timed_)
    if (each.graph != nullptr) static_cast<void>(cudaGraphExecDestroy(each.graph));
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Status GraphTimer::set_up() {
  TUTTI_TRY(cuda_status(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"));
  TUTTI_TRY(cuda_status(cudaEventCreate(&begin_), "make an event"));
  return cuda_status(cudaEventCreate(&end_), "make an event");
}

Result<std::size_t> GraphTimer::add(const DeviceCallOnce& call, std::uint64_t moved) {
  // Kernels are loaded by their first launch, which a capture does not allow.
  TUTTI_TRY(call(stream_));
  TUTTI_TRY(cuda_status(cudaStreamSynchronize(stream_), "run a call"));
  const double expected = kUsualLaunch + static_cast<double>(moved) / kUsualRate;
  Timed timed{.calls = std::clamp(static_cast<int>(kGraphTime / expected), kLeastCalls, kMostCalls), .call = call};
  TUTTI_TRY(capture(timed));
  timed_.push_back(std::move(timed));
  return timed_.size() - 1;
}

Result<std::size_t> GraphTimer::add_to_stream(const DeviceCallOnce& call) {
  TUTTI_TRY(call(stream_));
  TUTTI_TRY(cuda_status(cudaStreamSynchronize(stream_), "run a call"));
  timed_.push_back({.calls = kMostCalls, .call = call});
  return timed_.size() - 1;
}

Status GraphTimer::capture(Timed& timed) {
  TUTTI_TRY(cuda_status(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin a graph"));
  Status called;
  for (int i = 0; i < timed.calls && called.ok(); ++i) called = timed.call(stream_);
  cudaGraph_t graph = nullptr;
  const Status ended = cuda_status(cudaStreamEndCapture(stream_, &graph), "end a graph");
  Status made = called.ok() ? ended : called;
  if (made.ok()) made = cuda_status(cudaGraphInstantiate(&timed.graph, graph, 0), "make a graph");
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  return made;
}

Status GraphTimer::start(const Timed& timed) {
  if (timed.graph != nullptr) return cuda_status(cudaGraphLaunch(timed.graph, stream_), "start a graph");
  for (int i = 0; i < timed.calls; ++i) TUTTI_TRY(timed.call(stream_));
  return {};
}

// Of the second of two times in a row: the device is at work when it begins, so the way from the host is no part of it.
Result<double> GraphTimer::time(const Timed& timed) {
  TUTTI_TRY(start(timed));
  TUTTI_TRY(cuda_status(cudaEventRecord(begin_, stream_), "record an event"));
  TUTTI_TRY(start(timed));
  TUTTI_TRY(cuda_status(cudaEventRecord(end_, stream_), "record an event"));
  TUTTI_TRY(cuda_status(cudaEventSynchronize(end_), "wait for the device"));
  float milliseconds = 0;
  TUTTI_TRY(cuda_status(cudaEventElapsedTime(&milliseconds, begin_, end_), "read an event"));
  return static_cast<double>(milliseconds) * 1e6 / timed.calls;
}

Status GraphTimer::run() {
  for (int round = -kWarmUp; round < kRounds; ++round)
    for (Timed& each : timed_) {
      TUTTI_TRY_ASSIGN(const double taken, time(each));
      if (round >= 0) each.times.push_back(taken);
    }
  return {};
}

double GraphTimer::median(std::size_t number) const {
  std::vector<double> times = timed_[number].times;
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace tutti::calibrate
