// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/waiter.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti::shm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLooksBetweenQuestions = 4;

constexpr int kLooksBetweenClocks = 64;
// When whoever waits is first asked whether it makes sense, how often then, and at most how often by a wake-up.
constexpr std::chrono::milliseconds kFirstQuestion{1};
constexpr std::chrono::milliseconds kBetweenQuestions{20};
constexpr std::chrono::milliseconds kLeastBetweenQuestions{1};
// A question looks at every rank, and every waiting rank of this host asks, so all of them together cost something for
// each pair of these. At least so much time for each pair lies between the questions of a rank; else they would take
// the cores from ranks with work.
constexpr std::chrono::nanoseconds kBetweenQuestionsOfPair{200};
constexpr std::chrono::milliseconds kFirstSleep{20};
// Sleeps that never grow longer than this begin short and do without the barrier: a wake-up that is missed then costs
// less than many barriers, which stop every core that runs a rank.
constexpr std::chrono::milliseconds kBriefSleep{1};
constexpr std::chrono::microseconds kFirstBriefSleep{50};

// A rank that is alone on its host sleeps on the network, where a thread of its own that has bad news does not ring.
constexpr std::chrono::milliseconds kLongestSleepAlone{20};

std::chrono::nanoseconds for_all_to_ask(const RegionShape& shape) {
  const auto pairs = static_cast<std::int64_t>(std::uint64_t{shape.num_ranks} * shape.num_local());
  return std::clamp<std::chrono::nanoseconds>(kBetweenQuestionsOfPair * pairs, kLeastBetweenQuestions, kLongestSleep);
}

// Makes this process one that membarrier(2) reaches; false where the kernel has no such call.
bool register_membarrier() { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0; }

timespec to_timespec(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
}

}  // namespace

Waiter::Waiter(const Region& region, std::uint32_t rank, const WaitPolicy& policy, Persist persist)
    : region_(region),
      sleepers_(region.sleepers()),
      rank_(rank),
      policy_(policy),
      persist_(std::move(persist)),
      has_membarrier_(register_membarrier()) {}

void Waiter::give_core_away() {
  if (core_watch_) return core_watch_->yield();
  sched_yield();
}

// As far as is known: both that are read of another may be of different waits, for it may be running elsewhere by now;
// and one that waits for something else than a post may be in vain. Then this rank gives its core away for nothing, or
// keeps it a moment too long.
bool Waiter::others_here_can_use(std::uint32_t core, std::uint64_t awaited) const {
  for (std::uint32_t other = 0; other < region_.shape().num_ranks; ++other) {
    if (other == rank_ || !region_.is_here(other)) continue;
    const DoorbellLine& bell = region_.doorbell(other);
    if (bell.core.load(std::memory_order_relaxed) != core) continue;
    const std::uint64_t theirs = bell.awaited_post.load(std::memory_order_relaxed);
    if (theirs == 0) return true;
    // Who has made the awaited post itself is not what holds it up elsewhere.
    if (!has_posted(other, awaited) && has_posted(bell.awaited_rank.load(std::memory_order_relaxed), theirs))
      return true;
  }
  return false;
}

WaitEnd Waiter::keeping_core(std::uint32_t rank, std::uint64_t value) {
  const auto is_posted = [&] { return has_posted(rank, value); };
  if (is_posted()) return WaitEnd::ready;
  DoorbellLine& bell = region_.doorbell(rank_);
  bell.awaited_rank.store(rank, std::memory_order_relaxed);
  bell.awaited_post.store(value, std::memory_order_relaxed);
  const auto come = [&](WaitEnd end) {
    bell.awaited_post.store(0, std::memory_order_relaxed);
    return end;
  };
  for (std::uint32_t turn = 0; turn < policy_.eager && !region_.is_broken(); ++turn) {
    // It may have been moved; nobody stores to a line that is right.
    const auto core = static_cast<std::uint32_t>(::sched_getcpu()) + 1;
    if (bell.core.load(std::memory_order_relaxed) != core) bell.core.store(core, std::memory_order_relaxed);
    const Clock::time_point latest = Clock::now() + policy_.turn;
    while (!others_here_can_use(core, value) && Clock::now() < latest) {
      for (int look = 0; look < kLooksBetweenQuestions; ++look) {
        if (is_posted()) return come(WaitEnd::ready);
        relax();
      }
    }
    if (is_posted()) return come(WaitEnd::ready);
    give_core_away();
    if (is_posted()) return come(WaitEnd::ready);
  }
  return come(patiently([](const void* context) { return (*static_cast<const decltype(is_posted)*>(context))(); },
                        &is_posted, std::min<std::chrono::nanoseconds>(kLongestSleep, policy_.longest_sleep)));
}

WaitEnd Waiter::patiently(Look look, const void* context, std::chrono::nanoseconds longest_sleep) {
  const WaitEnd end = go_on_looking(look, context, longest_sleep);
  // Whose patience has ended still counts as one that waits, for others whose patience ends at the same time.
  if (end != WaitEnd::timed_out) {
    region_.doorbell(rank_).looked.store(0, std::memory_order_relaxed);
    region_.doorbell(rank_).awaited_elsewhere.store(0, std::memory_order_relaxed);
  }
  return end;
}

WaitEnd Waiter::go_on_looking(Look look, const void* context, std::chrono::nanoseconds longest_sleep) {
  const Clock::time_point start = Clock::now();
  std::atomic<std::int64_t>& looked = region_.doorbell(rank_).looked;
  std::chrono::nanoseconds next_question = kFirstQuestion;
  const std::chrono::nanoseconds all_ask = for_all_to_ask(region_.shape());
  const bool is_brief = longest_sleep <= kBriefSleep;
  std::chrono::nanoseconds longest =
      std::min<std::chrono::nanoseconds>(is_brief ? kFirstBriefSleep : kFirstSleep, longest_sleep);
  while (true) {
    const Clock::time_point now = Clock::now();
    const std::chrono::nanoseconds waited = now - start;
    looked.store(std::chrono::nanoseconds(now.time_since_epoch()).count(), std::memory_order_relaxed);
    if (region_.is_broken()) return look(context) ? WaitEnd::ready : WaitEnd::broken;
    // Who got no core for that long has not looked meanwhile.
    if (policy_.timeout.count() > 0 && waited >= policy_.timeout)
      return look(context) ? WaitEnd::ready : WaitEnd::timed_out;
    if (waited >= next_question) {
      if (!persist_(waited)) return look(context) ? WaitEnd::ready : WaitEnd::given_up;
      next_question = waited + std::max<std::chrono::nanoseconds>(kBetweenQuestions, all_ask);
    }
    if (waited < policy_.spin) {
      for (int i = 0; i < kLooksBetweenClocks; ++i) {
        if (look(context)) return WaitEnd::ready;
        step();
        relax();
      }
    } else if (waited < policy_.spin + policy_.yield) {
      if (look(context)) return WaitEnd::ready;
      step();
      give_core_away();
    } else {
      step();
      if (look(context)) return WaitEnd::ready;
      const bool ends = policy_.timeout.count() > 0;
      sleep(look, context, ends ? std::min(longest, policy_.timeout - waited) : longest, !is_brief);
      longest = std::min(longest * 2, longest_sleep);
      // Whoever rang may have done so because it is in vain.
      next_question = std::min(next_question, waited + all_ask);
    }
  }
}

void Waiter::sleep(Look look, const void* context, std::chrono::nanoseconds longest, bool with_barrier) {
  if (endpoint_ != nullptr && !listen_)
    return endpoint_->sleep(std::min<std::chrono::nanoseconds>(longest, kLongestSleepAlone));
  DoorbellLine& bell = region_.doorbell(rank_);
  const std::uint32_t word = bell.word.load(std::memory_order_acquire);
  bell.asleep.store(1, std::memory_order_relaxed);
  region_.sleepers().fetch_add(1, std::memory_order_seq_cst);
  if (with_barrier && has_membarrier_) syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  if (listen_) {
    longest = endpoint_->may_sleep(longest);
    listen_(true);
  }
  step();
  // From here on: either this look sees the post, or the poster sees the raised counter and rings.
  if (!look(context) && !region_.is_broken() && longest.count() > 0) {
    const timespec limit = to_timespec(longest);
    syscall(SYS_futex, &bell.word, FUTEX_WAIT, word, &limit, nullptr, 0);
  }
  if (listen_) listen_(false);
  region_.sleepers().fetch_sub(1, std::memory_order_relaxed);
  bell.asleep.store(0, std::memory_order_relaxed);
}

}  // namespace tutti::shm
