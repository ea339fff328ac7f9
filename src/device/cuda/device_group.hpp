// SPDX-License-Identifier: Apache-2.0
// Ranks of one process that share a device, each a part of its multiprocessors: collectives among them, by the
// schedules of the catalogue or of users. What runs is what would run between devices; how long it takes is not, since
// all ranks share one memory, and what would cross links stays in it.
//
// Calls are put into streams and do not wait for the device. One launch may hold the calls of all ranks. Or each rank's
// call goes into a stream of its own. Then CUDA must run these streams side by side, which it does not promise. It
// never does so for more streams than CUDA_DEVICE_MAX_CONNECTIONS. Ranks make equal calls in the same order. A device
// has one group at a time, or groups whose channels together are not more than its multiprocessors. Buffers of a call
// that failed must outlive the group. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "device/cuda/call.hpp"
#include "device/walk/layout.hpp"

namespace tutti::device {

struct DeviceOptions {
  int device = 0;
  std::uint32_t num_ranks = 2;
  double timeout = 0;          // seconds that a rank waits for another; 0: for ever, or until abort()
  std::uint32_t channels = 0;  // of a rank, at most; 0: its share of the multiprocessors
  std::uint64_t channel_bytes = 16 << 10U;
  std::uint64_t slots_bytes = 256 << 10U;
  std::uint64_t scratch_bytes = 64 << 10U;
  bool as_between_devices = false;  // flags as between devices
};

class DeviceGroup {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DeviceGroup>> create(const DeviceOptions& options);
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  [[nodiscard]] Schedules& schedules() { return schedules_; }

  // One rank's part of a call.
  [[nodiscard]] Status call(std::uint32_t rank, const DeviceCall& call, const DevicePart& part, cudaStream_t stream);
  // All ranks' in one launch; a rank each of `parts`.
  [[nodiscard]] Status call_all(const DeviceCall& call, std::span<const DevicePart> parts, cudaStream_t stream);
  // The flags of a one-shot without its data: a lower bound of a one-shot's time.
  [[nodiscard]] Status flags_all(cudaStream_t stream);

  // What kept a rank from finishing calls that the device has ended; then only destroying the group is left.
  [[nodiscard]] Status check() const;
  // Ranks that wait leave.
  void abort() { failures_.abort(); }

  [[nodiscard]] std::uint32_t num_ranks() const { return options_.num_ranks; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  DeviceGroup(const DeviceOptions& options, Schedules schedules)
      : options_(options), schedules_(std::move(schedules)) {}
  Status set_up();
  [[nodiscard]] RankPlace place_of(std::uint32_t rank) const;

  DeviceOptions options_;
  Schedules schedules_;
  Limits limits_;
  std::vector<DeviceArray> regions_;  // by rank
  std::vector<DeviceArray> states_;
  DeviceArray peers_;
  Failures failures_;
};

}  // namespace tutti::device
