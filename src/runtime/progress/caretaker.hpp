// SPDX-License-Identifier: Apache-2.0
// Looks after a rank's connections with other hosts while the rank itself does not: one thread, which sleeps, and costs
// nothing while nothing happens.
//
// While the rank sleeps in memory, where ranks of its host wake it, the caretaker wakes it when something comes from
// another host. While the rank is in no call, it restores connections that break: what the rank has sent, and its
// system has lost, may be all that the others wait for.
//
// Owns its thread. One thread at a time calls it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "runtime/bootstrap/service_thread.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

class Caretaker {
 public:
  // Of that rank. The region and the endpoint are borrowed, and outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Caretaker>> start(const shm::Region& region, std::uint32_t rank,
                                                                transport::Endpoint& endpoint);
  Caretaker(const Caretaker&) = delete;
  Caretaker& operator=(const Caretaker&) = delete;
  ~Caretaker();

  // From here on what comes rings the rank's doorbell, once.
  void listen() {
    is_listening_.store(true, std::memory_order_release);
    thread_->wake();
  }
  // It may ring once more.
  void stop() { is_listening_.store(false, std::memory_order_relaxed); }

  // The rank itself uses the endpoint, as long as this lives; another may live meanwhile. Null: nobody else would.
  class Relief {
   public:
    explicit Relief(Caretaker* caretaker) : caretaker_(caretaker) {
      if (caretaker_ != nullptr && caretaker_->reliefs_++ == 0) caretaker_->step_aside();
    }
    Relief(const Relief&) = delete;
    Relief& operator=(const Relief&) = delete;
    ~Relief() {
      if (caretaker_ != nullptr && --caretaker_->reliefs_ == 0) caretaker_->take_over();
    }

   private:
    Caretaker* caretaker_;
  };

 private:
  Caretaker(const shm::Region& region, std::uint32_t rank, transport::Endpoint& endpoint)
      : region_(region), rank_(rank), endpoint_(endpoint), descriptor_(endpoint.descriptor()) {}
  // It takes a few steps at a time, and waits for nothing in them.
  void step_aside() {
    while (is_in_use_.exchange(true, std::memory_order_acquire)) is_in_use_.wait(true);
  }
  void take_over() {
    const bool is_connecting = endpoint_.is_connecting();
    is_in_use_.store(false);
    if (is_connecting && !is_asked_.exchange(true)) thread_->wake();
  }
  void run(int wake_fd);
  // Until connections stand and what was lost with one has been sent again, or the rank itself is at it.
  void restore(int wake_fd);
  // How long to wait at most before the next; nothing: no more are needed from here.
  [[nodiscard]] std::chrono::nanoseconds take_steps();

  const shm::Region& region_;
  std::uint32_t rank_;
  transport::Endpoint& endpoint_;
  int descriptor_;
  // The endpoint, by the rank or by the thread. No mutex: the rank takes it before locks of its own and behind them,
  // which harms nobody, since the thread never waits while it has it.
  std::atomic<bool> is_in_use_{false};
  std::uint32_t reliefs_ = 0;
  std::atomic<bool> is_listening_{false};
  std::atomic<bool> is_asked_{false};  // to go on with connections that the rank is making
  std::atomic<bool> is_ending_{false};
  std::unique_ptr<ServiceThread> thread_;  // last, so that it ends before what it works on
};

}  // namespace tutti
