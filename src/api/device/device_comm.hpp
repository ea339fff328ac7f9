// SPDX-License-Identifier: Apache-2.0
// What a device communicator of the C API is: a communicator of its own, by which its ranks meet and learn that one is
// lost, its part on the device, and how it chooses algorithms.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/handle.hpp"
#include "device/cuda/chooser.hpp"
#include "device/cuda/device_rank.hpp"
#include "runtime/communicator/invocation.hpp"
#include <tutti/device.h>

namespace tutti::api {

class DeviceComm {
 public:
  // All ranks of `comm` make theirs at the same time. Takes the communicator, which is used for nothing else.
  [[nodiscard]] static Result<std::unique_ptr<DeviceComm>> create(tuttiComm_t comm);
  ~DeviceComm();
  DeviceComm(const DeviceComm&) = delete;
  DeviceComm& operator=(const DeviceComm&) = delete;

  [[nodiscard]] device::DeviceRank& ranks() { return *ranks_; }
  [[nodiscard]] std::uint32_t rank() const { return ranks_->rank(); }
  [[nodiscard]] std::uint32_t num_ranks() const { return ranks_->num_ranks(); }

  [[nodiscard]] Result<device::DeviceChoice> choose(const Invocation& asked);
  [[nodiscard]] Status call(const Invocation& asked, cudaStream_t stream);

  [[nodiscard]] std::uint32_t add_operator(const Operator& made);
  [[nodiscard]] Status remove_operator(std::uint32_t op);

  // Any thread.
  [[nodiscard]] Status check() const;
  void abort();
  // If calls of this rank have failed, so do those of the ranks that wait for it.
  void tell_failure();
  // See DeviceRank.
  [[nodiscard]] Result<bool> settle();
  // False in a forked child, which has neither CUDA nor the watcher.
  [[nodiscard]] bool is_of_this_process() const;

 private:
  struct Destroying {
    void operator()(tuttiComm* comm) const { static_cast<void>(tuttiCommDestroy(comm)); }
  };

  explicit DeviceComm(tuttiComm_t comm) : comm_(comm) {}
  [[nodiscard]] Result<device::DeviceRules> read_rules() const;
  [[nodiscard]] Status set_up();
  // A call but for its schedule.
  struct Prepared {
    device::DeviceCall call;
    device::DevicePart part;
    device::CallBytes bytes;
    std::uint64_t message_bytes = 0;
    bool is_symmetric = false;
  };
  [[nodiscard]] Result<Prepared> prepare(const Invocation& asked) const;
  [[nodiscard]] Result<device::DeviceChoice> choose(const Invocation& asked, const Prepared& made);
  [[nodiscard]] Result<Operator> operator_of(const Invocation& asked) const;
  // Until the end: if the communicator breaks, kernels that wait leave.
  void watch(const std::stop_token& stop);

  std::unique_ptr<tuttiComm, Destroying> comm_;
  int device_ = 0;
  std::unique_ptr<device::DeviceRank> ranks_;
  std::unique_ptr<device::Chooser> chooser_;
  std::vector<std::optional<Operator>> operators_;  // that were made, by number; destroyed ones leave a hole
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread watcher_;
};

}  // namespace tutti::api

// As of tuttiComm: a handle stays until the process ends and is never reused.
struct tuttiDeviceComm {
  std::unique_ptr<tutti::api::DeviceComm> live;  // null: it was destroyed
  tuttiDeviceComm* made_before = nullptr;        // so that leak checkers find all of them
};
