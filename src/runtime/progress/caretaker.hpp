// SPDX-License-Identifier: Apache-2.0
// Looks after a rank's connections with other hosts while the rank itself does not: one thread, which sleeps, and costs
// nothing while nothing happens.
//
// While the rank sleeps in memory, where ranks of its host wake it, the caretaker wakes it when something comes from
// another host. While the rank is in no call, it restores connections that break: what the rank has sent, and its
// system has lost, may be all that the others wait for.
//
// Owns its thread. One thread at a time may call it. Another one may fork meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/status.hpp"
#include "runtime/bootstrap/service_thread.hpp"
#include "runtime/failure/fork_notice.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

class Caretaker {
 public:
  // Called on its thread, which uses the endpoint meanwhile.
  struct Events {
    std::function<void()> on_unreachable;  // Endpoint::unreachable() says who; to forget it is to go on
    std::function<void()> on_no_memory;    // the endpoint may be in the middle of something
  };
  // Of that rank. The region and the endpoint are borrowed, and outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Caretaker>> start(const shm::Region& region, std::uint32_t rank,
                                                                transport::Endpoint& endpoint, Events events);
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

  // The rank itself uses the endpoint, as long as this lives. Reliefs may be nested. Null: there is no caretaker.
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
  enum class Holder : std::uint8_t { nobody, rank, thread };

  Caretaker(const shm::Region& region, std::uint32_t rank, transport::Endpoint& endpoint, Events events)
      : region_(region),
        rank_(rank),
        endpoint_(endpoint),
        events_(std::move(events)),
        descriptor_(endpoint.descriptor()) {}
  [[nodiscard]] bool take(Holder holder) {
    Holder other = Holder::nobody;
    return holder_.compare_exchange_strong(other, holder);
  }
  void step_aside() {
    while (!take(Holder::rank)) holder_.wait(Holder::thread);
    ++times_used_;
  }
  void take_over() {
    const bool is_needed = endpoint_.is_connecting() || endpoint_.unreachable().has_value();
    holder_.store(Holder::nobody);
    if (is_needed && !is_restoring_.load() && !is_asked_.exchange(true)) thread_->wake();
  }
  // Around a fork, so that the child's copy of the endpoint is not in the middle of what the thread does.
  void halt();
  void go_on();
  void run(int wake_fd);
  // Until connections stand and what was lost with one has been sent again, or the rank itself is at it.
  void restore(int wake_fd);
  [[nodiscard]] bool take_from_rank();
  void let_go();
  // How long to wait at most before the next; nothing: no more are needed.
  [[nodiscard]] std::chrono::nanoseconds take_steps();
  // A rank that only asks, again and again, whether something is done is not away.
  [[nodiscard]] bool is_rank_away();

  const shm::Region& region_;
  std::uint32_t rank_;
  transport::Endpoint& endpoint_;
  Events events_;
  int descriptor_;
  // Of the endpoint. No mutex: the rank takes it before locks of its own and behind them, which harms nobody, since the
  // thread never waits while it has it.
  std::atomic<Holder> holder_{Holder::nobody};
  std::uint32_t reliefs_ = 0;
  // Who holds it may look: how often the rank has used it, how often the thread knows of, and since when.
  std::uint64_t times_used_ = 0;
  std::uint64_t known_uses_ = 0;
  std::chrono::steady_clock::time_point away_since_;
  std::atomic<bool> is_listening_{false};
  std::atomic<bool> is_restoring_{false};  // and need not be asked to
  std::atomic<bool> is_asked_{false};      // to go on with connections that the rank is making
  std::atomic<bool> is_forking_{false};
  std::atomic<bool> is_ending_{false};
  ForkNotice fork_notice_{[this] { holder_ = Holder::nobody; },
                          {.before = [this] { halt(); }, .in_parent = [this] { go_on(); }}};
  std::unique_ptr<ServiceThread> thread_;  // last, so that it ends before what it works on
};

}  // namespace tutti
