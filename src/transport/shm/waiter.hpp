// SPDX-License-Identifier: Apache-2.0
// How a rank waits: it spins while the answer is likely to be near, then lets others have the core, then sleeps.
//
// Sleeping costs the poster nothing while nobody sleeps: it looks at one shared counter after each post. The order
// "store the post, look at the counter" against "raise the counter, look at the post" would need a full fence in every
// post; instead the sleeper pays for both with membarrier(2), which runs a fence on every core that runs a rank.
// Where a rank's kernel has no such call, sleeps are short instead; and sleeps that are short anyway do without it.
//
// One Waiter belongs to one rank and one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/relax.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/core_watch.hpp"
#include "transport/shm/region.hpp"

namespace tutti::shm {

// A net below the wake-ups, not a way of waiting: it costs an idle rank four looks a second.
inline constexpr std::chrono::milliseconds kLongestSleep{250};

struct WaitPolicy {
  bool crowded = false;                       // who is waited for needs this rank's core: give it away between looks
  std::uint32_t eager = 400;                  // looks before the clock is asked at all
  std::chrono::nanoseconds spin{100'000};     // then looks without giving the core away
  std::chrono::nanoseconds yield{1'000'000};  // then yields between looks
  std::chrono::nanoseconds turn{2'000};       // what giving the core away and having it again takes
  std::chrono::nanoseconds timeout{0};        // gives up after this long; 0 never
  // Sleeps grow up to this. Long only where no wake-up can be missed: every rank has membarrier.
  std::chrono::nanoseconds longest_sleep{200'000};
};

enum class WaitEnd : std::uint8_t {
  ready,
  broken,     // the region says why
  timed_out,  // WaitPolicy::timeout
  given_up,   // the one who was asked during the wait said that it is in vain
};

// Asked now and then during a long wait, with how long it has been: whether to go on.
using Persist = std::function<bool(std::chrono::nanoseconds waited)>;

class Waiter {
 public:
  Waiter(const Region& region, std::uint32_t rank, const WaitPolicy& policy, Persist persist);

  // Waits until `ready()` is true; anything else than WaitEnd::ready means that it never will be. No sleep is longer
  // than `longest_sleep`.
  template <typename Ready>
  [[nodiscard]] WaitEnd until(const Ready& ready, std::chrono::nanoseconds longest_sleep = kLongestSleep) {
    for (std::uint32_t look = 0; look < policy_.eager; ++look) {
      if (ready()) return WaitEnd::ready;
      if (policy_.crowded) {
        // A turn of all others may take long, so what patiently() looks at is looked at here too.
        if (region_.is_broken()) break;
        give_core_away();
      } else {
        relax();
      }
      step();
    }
    return patiently([](const void* context) { return (*static_cast<const Ready*>(context))(); }, &ready,
                     std::min(longest_sleep, policy_.longest_sleep));
  }

  // Until the rank has made the post of that number. Where ranks share cores and the post is near, this one keeps its
  // core for a moment, unless another there could go on with something that leads up to it.
  [[nodiscard]] WaitEnd until_posted(std::uint32_t rank, std::uint64_t value) {
    if (keeps_core_) return keeping_core(rank, value);
    return until([&] { return has_posted(rank, value); });
  }
  // Whether the posts that are waited for from here on are near: all ranks are busy with little.
  void expect_near_posts(bool near) { keeps_core_ = near && policy_.crowded; }

  // From here on, goes on with what comes from other hosts between looks. Borrowed. What comes while this rank sleeps
  // rings its doorbell after `listen(true)`; a rank that is alone on its host needs no such thing.
  void drive(transport::Endpoint& endpoint, std::function<void(bool listens)> listen) {
    endpoint_ = &endpoint;
    listen_ = std::move(listen);
  }

  // From here on, notices a foreign process that keeps this rank's core busy.
  void watch_core(CoreWatch::Senses senses) { core_watch_.emplace(std::move(senses)); }

  // Whether another rank on that core, by DoorbellLine::core, could go on and has not made the post of that number.
  [[nodiscard]] bool others_here_can_use(std::uint32_t core, std::uint64_t awaited) const;

  // To be called after making anything known that another rank may be asleep for.
  void wake_others() const {
    // Keeps the compiler from looking before it stores; the processor is the sleeper's business (see above).
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Acquire: whoever sees the raised counter also sees which rank raised it (sleep() stores `asleep` before).
    if (sleepers_.load(std::memory_order_acquire) != 0) [[unlikely]]
      region_.wake_all();
  }

  [[nodiscard]] const WaitPolicy& policy() const { return policy_; }
  [[nodiscard]] bool has_membarrier() const { return has_membarrier_; }

 private:
  using Look = bool (*)(const void* context);
  void give_core_away();
  void step() {
    if (endpoint_ != nullptr) [[unlikely]]
      endpoint_->step();
  }
  // Acquire: partner of store_flag().
  [[nodiscard]] bool has_posted(std::uint32_t rank, std::uint64_t value) const {
    return region_.post_line(rank, value).sequence.load(std::memory_order_acquire) >= value;
  }
  WaitEnd keeping_core(std::uint32_t rank, std::uint64_t value);
  WaitEnd patiently(Look look, const void* context, std::chrono::nanoseconds longest_sleep);
  WaitEnd go_on_looking(Look look, const void* context, std::chrono::nanoseconds longest_sleep);
  void sleep(Look look, const void* context, std::chrono::nanoseconds longest, bool with_barrier);

  const Region& region_;
  const std::atomic<std::uint32_t>& sleepers_;
  std::uint32_t rank_;
  WaitPolicy policy_;
  Persist persist_;
  bool has_membarrier_ = false;
  bool keeps_core_ = false;
  transport::Endpoint* endpoint_ = nullptr;
  std::function<void(bool listens)> listen_;
  std::optional<CoreWatch> core_watch_;
};

}  // namespace tutti::shm
