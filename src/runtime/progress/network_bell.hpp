// SPDX-License-Identifier: Apache-2.0
// Wakes a rank that sleeps in memory, where ranks of its host wake it, when something comes from another host: one
// thread, which sleeps itself, and while nobody listens costs nothing.
//
// Owns its thread. One thread calls listen() and stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "runtime/bootstrap/service_thread.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

class NetworkBell {
 public:
  // Rings the rank's doorbell. The region and the endpoint are borrowed, and outlive it.
  [[nodiscard]] static Result<std::unique_ptr<NetworkBell>> start(const shm::Region& region, std::uint32_t rank,
                                                                  const transport::Endpoint& endpoint);
  NetworkBell(const NetworkBell&) = delete;
  NetworkBell& operator=(const NetworkBell&) = delete;
  ~NetworkBell();

  // From here on what comes rings, once.
  void listen() {
    is_listening_.store(true, std::memory_order_release);
    thread_->wake();
  }
  // It may ring once more.
  void stop() { is_listening_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_here() const { return thread_->is_here(); }

 private:
  NetworkBell(const shm::Region& region, std::uint32_t rank, int descriptor)
      : region_(region), rank_(rank), descriptor_(descriptor) {}
  void run(int wake_fd);

  const shm::Region& region_;
  std::uint32_t rank_;
  int descriptor_;
  std::atomic<bool> is_listening_{false};
  std::atomic<bool> is_ending_{false};
  std::unique_ptr<ServiceThread> thread_;  // last, so that it ends before what it works on
};

}  // namespace tutti
