// SPDX-License-Identifier: Apache-2.0
// A rank in a process of its own. It does collectives with ranks in other processes of this host, through device memory
// that each has shared. Buffers in the symmetric heap are read and written where they lie. Others are copied through
// slots, which not all algorithms allow.
//
// Calls are put into streams and do not wait for the device. Ranks make equal calls in the same order. Buffers of a
// call that failed must outlive the rank. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "device/cuda/call.hpp"
#include "device/cuda/region.hpp"

namespace tutti::device {

// How the ranks of a communicator exchange what they need to begin: each gives bytes and a descriptor, and gets those
// of all, in the order of ranks. All must call it; the descriptors that come are the caller's to close.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  [[nodiscard]] virtual Status exchange(std::span<const std::byte> own, int descriptor, std::span<std::byte> all,
                                        std::vector<int>& descriptors) = 0;
};

struct RankOptions {
  int device = 0;
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 1;
  double timeout = 0;          // seconds that a rank waits for another; 0: for ever, or until abort()
  std::uint32_t channels = 0;  // at most; 0: a multiprocessor each. Equal on all ranks, as the next ones are
  std::uint64_t heap_bytes = 64 << 20U;
  std::uint64_t channel_bytes = 16 << 10U;
  std::uint64_t slots_bytes = 256 << 10U;
  std::uint64_t scratch_bytes = 64 << 10U;
};

class DeviceRank {
 public:
  // All ranks make theirs at the same time, by way of the rendezvous.
  [[nodiscard]] static Result<std::unique_ptr<DeviceRank>> create(const RankOptions& options, Rendezvous& rendezvous);
  ~DeviceRank();
  DeviceRank(const DeviceRank&) = delete;
  DeviceRank& operator=(const DeviceRank&) = delete;

  // From the symmetric heap, at a multiple of 256 bytes. If all ranks allocate equal sizes in the same order, offsets
  // are equal. The memory lives as long as the rank.
  [[nodiscard]] Result<std::byte*> allocate(std::uint64_t bytes);
  [[nodiscard]] bool is_symmetric(const void* buffer) const;

  [[nodiscard]] Schedules& schedules() { return schedules_; }

  // This rank's part of a call. Whether all its buffers are symmetric must be equal on all ranks.
  [[nodiscard]] Status call(const DeviceCall& call, const DevicePart& part, cudaStream_t stream);

  // What kept this rank from finishing calls that the device has ended; then only destroying it is left.
  [[nodiscard]] Status check() const { return failures_.status(0, options_.rank, options_.timeout); }
  // This rank leaves the calls in which it waits.
  void abort() { failures_.abort(); }

 private:
  DeviceRank(const RankOptions& options, Schedules schedules) : options_(options), schedules_(std::move(schedules)) {}
  Status set_up(Rendezvous& rendezvous);
  Status meet(Rendezvous& rendezvous);

  RankOptions options_;
  Schedules schedules_;
  Limits limits_;
  RegionLayout layout_;
  std::vector<Region> regions_;  // by rank
  DeviceArray peers_;
  DeviceArray state_;
  Failures failures_;
  std::uint64_t allocated_ = 0;
};

// How many channels a rank has, at most: those that all run at the same time where `sharing` ranks have the device.
[[nodiscard]] Result<std::uint32_t> most_channels(int device, std::uint32_t sharing, std::uint32_t wanted);

}  // namespace tutti::device
