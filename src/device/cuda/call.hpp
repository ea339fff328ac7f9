// SPDX-License-Identifier: Apache-2.0
// A call on a device: schedules that lie there, what a rank brings, and its launch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "algorithms/algorithm.hpp"
#include "base/status.hpp"
#include "data/kernel.hpp"
#include "device/cuda/device_array.hpp"
#include "device/kernels/kernels.hpp"
#include "device/walk/copies.hpp"
#include "device/walk/program.hpp"
#include "device/walk/shape.hpp"
#include "schedule/schedule.hpp"

namespace tutti::device {

// A schedule that is on the device. Lives as long as its Schedules.
class LoadedSchedule {
 public:
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  // Whether calls read and write the buffers of other ranks where they lie. That may be only where all ranks' buffers
  // are symmetric.
  [[nodiscard]] bool is_by_name(bool in_place, bool is_symmetric) const {
    return form(in_place, !is_symmetric).programs.by_name;
  }

  // What copy engines do where all buffers are symmetric; null where they cannot.
  [[nodiscard]] const CopyPrograms* copies(bool in_place) const {
    const Form& of_call = form(in_place, false);
    return of_call.copies ? &*of_call.copies : nullptr;
  }

 private:
  friend class Schedules;
  enum class Written : std::uint8_t { no, one_shot, two_shot };
  struct Form {
    bool is_allowed = true;
    WordPrograms programs;
    std::optional<CopyPrograms> copies;  // where it is nothing else
    std::vector<const WordStep*> steps;  // by rank, on the device
    std::vector<const WordEnd*> ends;
  };
  [[nodiscard]] const Form& form(bool in_place, bool copies) const {
    if (in_place) return copies ? staged_in_place_ : in_place_;
    return copies ? staged_out_of_place_ : out_of_place_;
  }

  Schedule schedule_;
  Written written_ = Written::no;  // which kernel of its own it has
  std::uint64_t digest_ = 0;       // of what the ranks do
  Form in_place_;
  Form out_of_place_;
  Form staged_in_place_;  // what is exposed is copied in any case
  Form staged_out_of_place_;
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
  const std::uint64_t* input_views = nullptr;  // see WalkCall
  const std::uint64_t* output_views = nullptr;
  double scalar = 1;  // of a premultiplied sum; see Operator
  std::uint64_t integer_scalar = 1;
};

// What all calls of a rank have alike.
struct RankPlace {
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 1;
  const Peer* peers = nullptr;
  ChannelState* state = nullptr;
  Failure* failure = nullptr;  // as the device reaches it
  bool same_device = false;
  bool is_symmetric = true;  // the buffers of its calls
  double timeout = 0;        // seconds
  Limits limits;
};

// The schedules of a communicator: all of its ranks' programs, on the present device. One thread.
class Schedules {
 public:
  // For `num_ranks` ranks, of which `only` alone makes calls, if one is named. Loads the kernels of collectives and
  // allocates memory for schedules now: doing so later could wait for kernels of ranks that wait for this one.
  [[nodiscard]] static Result<Schedules> make(int device, std::uint32_t num_ranks,
                                              std::optional<std::uint32_t> only = {});
  ~Schedules();
  Schedules(Schedules&& other) noexcept;
  Schedules& operator=(Schedules&&) = delete;

  // An error where the program is none for devices.
  [[nodiscard]] Result<const LoadedSchedule*> load(const Algorithm& algorithm, const Request& request);
  // Of a user, proven first: also an error where it is wrong.
  [[nodiscard]] Result<const LoadedSchedule*> load(const Schedule& schedule);

  [[nodiscard]] static Result<Shape> shape(const DeviceCall& call, const RankPlace& place);
  [[nodiscard]] static Result<WalkCall> prepare(const DeviceCall& call, const DevicePart& part, const Shape& shape,
                                                const RankPlace& place);
  [[nodiscard]] static Kernel kernel_of(const DeviceCall& call);
  // Of flags_kernel(): ranks meet. With a call, those that make the same one, with their buffers at the same places,
  // and are in the same phase of it.
  [[nodiscard]] static WalkCall meeting(const RankPlace& place);
  [[nodiscard]] static WalkCall meeting(const DeviceCall& call, std::uint64_t input_place, std::uint64_t output_place,
                                        std::uint64_t phase, const RankPlace& place);

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  // Which calls are right, and which of them by name.
  struct Allowed {
    bool in_place = true;
    bool out_of_place = true;
    bool in_place_by_name = false;
    bool out_of_place_by_name = false;
  };

  Schedules(int device, std::uint32_t num_ranks, std::optional<std::uint32_t> only)
      : device_(device), num_ranks_(num_ranks), only_(only) {}
  Status upload(LoadedSchedule::Form& form);
  Result<std::byte*> take_room(std::uint64_t bytes);
  Result<const LoadedSchedule*> load(Schedule schedule, const Allowed& allowed, LoadedSchedule::Written written);
  // That a call of such a rank runs; an error where there is none.
  [[nodiscard]] static Result<const LoadedSchedule::Form*> form_of(const DeviceCall& call, const RankPlace& place);
  [[nodiscard]] static std::uint64_t digest_of(const DeviceCall& call, const Shape& shape, bool by_name);

  int device_;
  std::uint32_t num_ranks_;
  std::optional<std::uint32_t> only_;
  cudaStream_t stream_ = nullptr;
  std::vector<std::unique_ptr<LoadedSchedule>> schedules_;
  std::vector<DeviceArray> arrays_;  // room is taken from the last one
  std::uint64_t room_left_ = 0;
  std::byte* room_ = nullptr;
};

[[nodiscard]] Status launch(Kernel kernel, WalkCalls& calls, std::uint32_t ranks, std::uint32_t channels,
                            cudaStream_t stream, const std::string& what);
[[nodiscard]] std::string words_of(const DeviceCall& call);

// Room for the failures of so many ranks, which host and device reach. Movable.
class Failures {
 public:
  Failures() = default;
  [[nodiscard]] static Result<Failures> make(std::uint32_t number);
  ~Failures();
  Failures(Failures&& other) noexcept;
  Failures& operator=(Failures&& other) noexcept;

  [[nodiscard]] Failure* on_device(std::uint32_t number) const { return device_ + number; }
  // What kept rank `rank`, whose failure is that number, from finishing.
  [[nodiscard]] Status status(std::uint32_t number, std::uint32_t rank, double timeout) const;
  void abort();
  // The rank will make no call any more; who waits for one leaves.
  void note_left(std::uint32_t number, std::uint32_t rank);

 private:
  std::uint32_t number_ = 0;
  Failure* host_ = nullptr;
  Failure* device_ = nullptr;
};

}  // namespace tutti::device
