// SPDX-License-Identifier: Apache-2.0
// A rank with a device: a process, or a thread of one. It does collectives with the other ranks of this host, through
// device memory that each has shared. Symmetric buffers are read and written where they lie. Others are copied through
// slots, which not all algorithms allow.
//
// Calls are put into streams and do not wait for the device. They run one after another, whatever their streams; those
// of graphs the program must order. Ranks make equal calls in the same order. Buffers of a call that failed must
// outlive all ranks. One thread at a time, but for check(), abort() and note_left().
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "device/cuda/call.hpp"
#include "device/cuda/rendezvous.hpp"
#include "device/cuda/symmetric_heap.hpp"
#include "device/walk/layout.hpp"

namespace tutti::device {

// Movable; the destructor ends it.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  [[nodiscard]] static Result<DeviceEvent> make();
  ~DeviceEvent();
  DeviceEvent(DeviceEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  DeviceEvent& operator=(DeviceEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

struct RankOptions {
  int device = 0;
  double timeout = 0;  // seconds that a rank waits for another; 0: for ever, or until abort()
  // Equal on all ranks:
  std::uint32_t channels = 0;  // at most; 0: a multiprocessor each
  std::uint64_t channel_bytes = 16 << 10U;
  std::uint64_t slots_bytes = 256 << 10U;
  std::uint64_t scratch_bytes = 64 << 10U;
  // Calls that only copy, between symmetric buffers that are not of cudaMalloc, are left to copy engines, and take no
  // multiprocessor but when ranks meet. Each buffer must then be at the same place on all ranks.
  bool copies_by_engines = false;
  std::uint64_t agreement = 0;  // a digest of whatever else they must have alike
};

// Of a rank's buffers of a call.
struct CallBytes {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
};

class DeviceRank {
 public:
  // All ranks make theirs at the same time. The rendezvous is used by all calls in which ranks meet.
  [[nodiscard]] static Result<std::unique_ptr<DeviceRank>> create(const RankOptions& options,
                                                                  std::unique_ptr<Rendezvous> rendezvous);
  ~DeviceRank();
  DeviceRank(const DeviceRank&) = delete;
  DeviceRank& operator=(const DeviceRank&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return num_ranks_; }

  // Symmetric memory. Ranks meet in each of these three, and make equal calls. release() first waits for this rank's
  // calls.
  [[nodiscard]] Result<std::byte*> allocate(std::uint64_t bytes);
  [[nodiscard]] Status enroll(const void* buffer, std::uint64_t bytes);
  [[nodiscard]] Status release(const void* memory);

  [[nodiscard]] Schedules& schedules() { return schedules_; }

  // Whether all buffers of a call, of so many bytes, are symmetric, which must be equal on all ranks. Null ones are. An
  // error where one is only in part.
  [[nodiscard]] Result<bool> is_symmetric(const DevicePart& part, const CallBytes& bytes) const;
  // Why the call cannot be done; ok where it can.
  [[nodiscard]] Status objection(const DeviceCall& call, bool is_symmetric) const;
  // This rank's part of a call.
  [[nodiscard]] Status call(const DeviceCall& call, const DevicePart& part, const CallBytes& bytes,
                            cudaStream_t stream);

  // Waits for all calls of this rank; where graphs have captured some, or symmetric memory was allocated, for all of
  // the device. False where a capture forbids that.
  [[nodiscard]] Result<bool> settle() const;

  // What kept this rank from finishing calls that the device has ended; then only destroying it is left.
  [[nodiscard]] Status check() const { return failures_.status(0, rank_, options_.timeout); }
  // This rank leaves the calls in which it waits.
  void abort() { failures_.abort(); }
  // It leaves those in which it waits for that rank, which makes no call any more.
  void note_left(std::uint32_t rank) { failures_.note_left(0, rank); }

 private:
  DeviceRank(const RankOptions& options, std::unique_ptr<Rendezvous> rendezvous, Schedules schedules)
      : options_(options),
        rank_(rendezvous->rank()),
        num_ranks_(rendezvous->num_ranks()),
        rendezvous_(std::move(rendezvous)),
        schedules_(std::move(schedules)) {}
  [[nodiscard]] Status meet();
  [[nodiscard]] Status set_up(std::uint64_t span);
  [[nodiscard]] Status share_region(const Result<SharedMemory>& own);
  [[nodiscard]] Status tell_addresses();
  [[nodiscard]] RankPlace place(bool is_symmetric) const;
  // What is put into a stream.
  [[nodiscard]] Status start(const DeviceCall& call, const DevicePart& part, const RankPlace& own, cudaStream_t stream);
  [[nodiscard]] Status start_alone(const DeviceCall& call, const DevicePart& part, const RankPlace& own,
                                   cudaStream_t stream);
  [[nodiscard]] Status start_copies(const DeviceCall& call, const KnownBuffer& input, const KnownBuffer& output,
                                    const RankPlace& own, cudaStream_t stream);
  // Around a launch into a stream that is not captured: the call before comes first, whatever its stream.
  [[nodiscard]] Status follow_last_call(cudaStream_t stream) const;
  [[nodiscard]] Status note_call(cudaStream_t stream);

  RankOptions options_;
  std::uint32_t rank_;
  std::uint32_t num_ranks_;
  std::unique_ptr<Rendezvous> rendezvous_;
  Schedules schedules_;
  Limits limits_;
  bool same_device_ = false;  // all ranks, of one process
  RegionLayout layout_;
  std::vector<AddressRange> regions_;  // by rank
  std::unique_ptr<SymmetricHeap> heap_;
  DeviceArray peers_;
  DeviceArray state_;
  Failures failures_;
  DeviceEvent last_call_;
  bool has_called_ = false;
  bool was_captured_ = false;
};

// How many channels a rank has, at most: those that all run at the same time where `sharing` ranks have the device.
[[nodiscard]] Result<std::uint32_t> most_channels(int device, std::uint32_t sharing, std::uint32_t wanted);

}  // namespace tutti::device
