// SPDX-License-Identifier: Apache-2.0
// Ranks of one process that share a device, each a part of its multiprocessors: collectives among them, by the
// schedules of the catalogue or of users. What runs is what would run between devices; how long it takes is not, since
// all ranks share one memory, and what would cross links stays in it.
//
// Calls are put into streams and return at once. Each rank's may go into a stream of its own, or all ranks' into one
// launch. Ranks have to call alike, in the same order. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "algorithms/algorithm.hpp"
#include "cuda/device/kernels.hpp"
#include "cuda/walk/program.hpp"
#include "cuda/walk/shape.hpp"
#include "data/kernel.hpp"
#include "schedule/schedule.hpp"

namespace tutti::cuda {

struct DeviceOptions {
  int device = 0;
  std::uint32_t num_ranks = 2;
  double timeout = 0;          // seconds that a rank waits for another; 0: for ever, or until abort()
  std::uint32_t channels = 0;  // of a rank, at most; 0: its share of the multiprocessors
  std::uint64_t channel_bytes = 16 << 10U;
  std::uint64_t slots_bytes = 256 << 10U;
  std::uint64_t scratch_bytes = 64 << 10U;
};

// A schedule that is on the device. Made by DeviceGroup::load, and of use with that group alone.
class LoadedSchedule {
 public:
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  // Whether calls in place, or out of place, need no copies of what is exposed.
  [[nodiscard]] bool is_by_name(bool in_place) const { return form(in_place).programs.by_name; }

 private:
  friend class DeviceGroup;
  enum class Written : std::uint8_t { no, one_shot, two_shot };
  struct Form {
    WordPrograms programs;
    std::vector<const WordStep*> steps;  // by rank, on the device
    std::vector<const WordEnd*> ends;
  };
  [[nodiscard]] const Form& form(bool in_place) const { return in_place ? in_place_ : out_of_place_; }

  Schedule schedule_;
  Written written_ = Written::no;  // out as a kernel of its own
  Form in_place_;
  Form out_of_place_;
};

struct DeviceCall {
  const LoadedSchedule* schedule = nullptr;
  std::uint64_t count = 0;  // elements of a block
  Operator op = {};         // its type for collectives that fold nothing, too; its factors are in DevicePart
  bool in_place = false;
  bool generic = false;  // never by a kernel of its own
};
// What each rank has of its own.
struct DevicePart {
  const void* input = nullptr;
  void* output = nullptr;
  double scalar = 1;  // of a premultiplied sum; see Operator
  std::uint64_t integer_scalar = 1;
};

class DeviceGroup {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DeviceGroup>> create(const DeviceOptions& options);
  ~DeviceGroup();
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // An error where the program is none for devices. The schedule lives as long as the group.
  [[nodiscard]] Result<const LoadedSchedule*> load(const Algorithm& algorithm, const Request& request);
  // Of a user: exposures are copied.
  [[nodiscard]] Result<const LoadedSchedule*> load(const Schedule& schedule);

  // One rank's part of a call.
  [[nodiscard]] Status call(std::uint32_t rank, const DeviceCall& call, const DevicePart& part, cudaStream_t stream);
  // All ranks' in one launch; a rank each of `parts`.
  [[nodiscard]] Status call_all(const DeviceCall& call, std::span<const DevicePart> parts, cudaStream_t stream);
  // The flags of a one-shot alone, which calls cannot take less than; `rounds` in one stream.
  [[nodiscard]] Status flags_all(cudaStream_t stream);

  // What kept a rank from finishing calls that the device has ended; then only destroying the group is left.
  [[nodiscard]] Status check() const;
  // Ranks that wait leave.
  void abort();

  [[nodiscard]] std::uint32_t num_ranks() const { return options_.num_ranks; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  explicit DeviceGroup(const DeviceOptions& options) : options_(options) {}
  Status set_up();
  Status allocate();
  Status tell_peers();
  Status load_kernels();
  Status allocate(void** memory, std::uint64_t bytes, const char* what);
  Status upload(LoadedSchedule::Form& form);
  Result<const LoadedSchedule*> load(Schedule schedule, bool in_place_by_name, bool out_of_place_by_name,
                                     LoadedSchedule::Written written);
  Result<WalkCall> prepare(std::uint32_t rank, const DeviceCall& call, const Shape& shape,
                           const DevicePart& part) const;
  Status launch(Kernel kernel, WalkCalls& calls, std::uint32_t ranks, std::uint32_t channels, cudaStream_t stream,
                const std::string& what) const;
  [[nodiscard]] Kernel kernel_of(const DeviceCall& call) const;

  DeviceOptions options_;
  Limits limits_;
  std::vector<void*> memory_;  // of the device, to be freed
  std::vector<Peer> peers_;
  const Peer* device_peers_ = nullptr;
  std::vector<ChannelState*> states_;
  Failure* failures_ = nullptr;         // of the host
  Failure* device_failures_ = nullptr;  // the same, as the device reaches them
  cudaStream_t uploads_ = nullptr;
  std::vector<std::unique_ptr<LoadedSchedule>> schedules_;
};

}  // namespace tutti::cuda
