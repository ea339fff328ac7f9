// SPDX-License-Identifier: Apache-2.0
// The parts of shared memory by themselves: payloads in flags, messages, waiting. Ranks are threads, or just numbers.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "transport/shm/inline_payload.hpp"
#include "transport/shm/message.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti::shm {
namespace {

constexpr RegionShape kShape{.num_ranks = 2, .message_depth = 3, .message_slot = 256};

std::unique_ptr<Region> make_region() { return std::move(Region::create(kShape).value()); }

std::vector<std::byte> bytes_from(std::uint8_t first, std::uint64_t count) {
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(first + i));
  return bytes;
}

// The signal that such a limit sends would end the process.
TEST(Memory, ThatMayNotBeSoLargeIsAnError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<UniqueFd> memory = make_memory(1 << 20);
  const Result<UniqueFd> larger = make_memory((1 << 20) + 1);
  const Status grown = memory.ok() ? grow_memory(memory->get(), 2 << 20) : Status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(memory.ok());
  EXPECT_NE(larger.status().to_string().find("ulimit -f"), std::string::npos) << larger.status().to_string();
  EXPECT_NE(grown.to_string().find("cannot grow shared memory to 2097152 bytes"), std::string::npos)
      << grown.to_string();
}

TEST(InlinePayload, HoldsWhatWasStoredAndNothingElse) {
  std::vector<bool> ways = {false};
  if (has_wide_store()) ways.push_back(true);
  for (const bool wide : ways)
    for (std::uint64_t count = 0; count <= kInlineBytes; ++count) {
      FlagLine line{};
      constexpr std::byte kBefore{0xEE};
      std::fill(std::begin(line.payload), std::end(line.payload), kBefore);
      line.description.store(5);
      const std::vector<std::byte> data = bytes_from(static_cast<std::uint8_t>(count), count);
      store_inline(line, 9 + count, data.data(), count, wide);
      EXPECT_EQ(line.sequence.load(), 9 + count);
      EXPECT_EQ(line.description.load(), 5U);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), line.payload)) << count << " bytes";
      // The first eight always go together.
      const std::uint64_t end = std::max<std::uint64_t>(count, 8);
      EXPECT_EQ(std::count(line.payload + end, std::end(line.payload), kBefore),
                static_cast<std::ptrdiff_t>(kInlineBytes - end))
          << count << " bytes";
    }
}

class Messages : public testing::Test {
 protected:
  void send(std::uint8_t number, std::uint64_t bytes) {
    const std::vector<std::byte> data = bytes_from(number, bytes);
    std::copy(data.begin(), data.end(), sender_.slot(bytes));
    sender_.publish(number);
  }
  void expect(std::uint8_t number, std::uint64_t bytes) {
    ASSERT_TRUE(receiver_.has_message());
    EXPECT_EQ(receiver_.description(), number);
    const std::vector<std::byte> data = bytes_from(number, bytes);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), receiver_.data(bytes))) << "message " << int{number};
    receiver_.take();
  }

  std::unique_ptr<Region> region_ = make_region();
  MessageSender sender_{region_->connection(0, 1, Traffic::program), {}};
  MessageReceiver receiver_{region_->connection(0, 1, Traffic::program), {}};
};

TEST_F(Messages, KeepTheirOrderAroundTheSlots) {
  EXPECT_FALSE(receiver_.has_message());
  EXPECT_TRUE(sender_.is_drained());
  // Of what travels in the head, of what does not, of nothing.
  constexpr std::array<std::uint64_t, 5> kSizes = {kInlineBytes, kInlineBytes + 1, 0, 256, 1};
  for (std::uint8_t number = 0; number < 20; ++number) {
    send(number, kSizes[number % kSizes.size()]);
    if (number == 0) continue;  // one stays ahead
    expect(static_cast<std::uint8_t>(number - 1), kSizes[(number - 1U) % kSizes.size()]);
    EXPECT_FALSE(sender_.is_drained());
  }
  expect(19, kSizes[19 % kSizes.size()]);
  EXPECT_TRUE(sender_.is_drained());
  EXPECT_FALSE(receiver_.has_message());
}

TEST_F(Messages, WaitForCreditWhenAllSlotsAreFull) {
  for (std::uint8_t number = 0; number < kShape.message_depth; ++number) {
    ASSERT_TRUE(sender_.has_credit());
    send(number, 64);
  }
  EXPECT_FALSE(sender_.has_credit());
  expect(0, 64);
  EXPECT_TRUE(sender_.has_credit());
  send(3, 64);
  EXPECT_FALSE(sender_.has_credit());
  for (std::uint8_t number = 1; number <= 3; ++number) expect(number, 64);
}

// Of sizes that lie in other places of the same slots.
TEST(SpreadMessages, AreWhereTheirReceiverLooks) {
  for (const std::uint64_t spread : {std::uint64_t{100'000}, std::uint64_t{1} << 20, std::uint64_t{1} << 30}) {
    const std::unique_ptr<Region> region =
        std::move(Region::create({.num_ranks = 2, .message_depth = 3, .message_slot = 64 << 10}).value());
    const Connection connection = region->connection(0, 1, Traffic::program);
    MessageSender sender(connection, {spread, 8 << 10});
    MessageReceiver receiver(connection, {spread, 8 << 10});
    std::set<const std::byte*> places;
    constexpr std::array<std::uint64_t, 5> kSizes = {64 << 10, 8 << 10, 20'000, 100, 0};
    const auto send = [&](std::uint64_t number) {
      const std::uint64_t bytes = kSizes[number % kSizes.size()];
      std::byte* const slot = sender.slot(bytes);
      std::fill_n(slot, bytes, static_cast<std::byte>(number));
      if (bytes == 8 << 10) places.insert(slot);
      sender.publish(number);
    };
    for (std::uint64_t number = 0; number < 2; ++number) send(number);
    for (std::uint64_t number = 2; number < 400; ++number) {
      send(number);
      const std::uint64_t bytes = kSizes[(number - 2) % kSizes.size()];
      ASSERT_TRUE(receiver.has_message());
      const std::byte* const data = receiver.data(bytes);
      ASSERT_EQ(std::count(data, data + bytes, static_cast<std::byte>(number - 2)), bytes) << spread << ", " << number;
      receiver.take();
      ASSERT_TRUE(sender.has_credit());
    }
    // Each slot holds 4 of 8 KB in its share of the shortest spread.
    EXPECT_EQ(places.size(), spread == 100'000 ? 3 * 4U : 80U) << spread;
  }
}

TEST_F(Messages, OfOtherConnectionsAreNotTheirs) {
  MessageReceiver back(region_->connection(1, 0, Traffic::program), {});
  MessageReceiver scheduled(region_->connection(0, 1, Traffic::schedules), {});
  send(1, 8);
  EXPECT_FALSE(back.has_message());
  EXPECT_FALSE(scheduled.has_message());
}

TEST_F(Messages, CrossBetweenThreads) {
  constexpr int kMessages = 2000;
  std::jthread sending([&] {
    for (int each = 0; each < kMessages; ++each) {
      while (!sender_.has_credit()) std::this_thread::yield();
      send(static_cast<std::uint8_t>(each), 100);
    }
  });
  for (int each = 0; each < kMessages && !HasFailure(); ++each) {
    while (!receiver_.has_message()) std::this_thread::yield();
    expect(static_cast<std::uint8_t>(each), 100);
  }
}

// Sleeps soon.
constexpr WaitPolicy kSleepy{.eager = 1, .spin = std::chrono::nanoseconds(0), .yield = std::chrono::nanoseconds(0)};

class Waits : public testing::Test {
 protected:
  Waiter waiter(
      WaitPolicy policy, Persist persist = [](std::chrono::nanoseconds) { return true; }) {
    return {*region_, 0, policy, std::move(persist)};
  }
  // A rank whose patience has ended still counts as waiting: others, whose patience ends at the same time, ask.
  void expect_no_trace_but_the_look() const {
    EXPECT_NE(region_->doorbell(0).looked.exchange(0), 0);
    expect_no_trace();
  }
  void expect_no_trace() const {
    EXPECT_EQ(region_->sleepers().load(), 0U);
    EXPECT_EQ(region_->doorbell(0).asleep.load(), 0U);
    EXPECT_EQ(region_->doorbell(0).looked.load(), 0);
    EXPECT_EQ(region_->doorbell(0).awaited_post.load(), 0U);
  }

  std::unique_ptr<Region> region_ = make_region();
};

TEST_F(Waits, EndAtOnceWhereNothingIsToBeWaitedFor) {
  int looks = 0;
  EXPECT_EQ(waiter({}).until([&] { return ++looks > 0; }), WaitEnd::ready);
  EXPECT_EQ(looks, 1);
}

TEST_F(Waits, EndWhereTheRegionIsBroken) {
  region_->break_with({Code::aborted, 1});
  EXPECT_EQ(waiter(kSleepy).until([] { return false; }), WaitEnd::broken);
  EXPECT_EQ(waiter({.crowded = true}).until([] { return false; }), WaitEnd::broken);
  // What has come meanwhile counts.
  int looks = 0;
  EXPECT_EQ(waiter(kSleepy).until([&] { return ++looks > 1; }), WaitEnd::ready);
  expect_no_trace();
}

TEST_F(Waits, EndWithTheirPatience) {
  WaitPolicy policy = kSleepy;
  policy.timeout = std::chrono::milliseconds(3);
  EXPECT_EQ(waiter(policy).until([] { return false; }), WaitEnd::timed_out);
  expect_no_trace_but_the_look();
}

TEST_F(Waits, AskWhetherTheyAreInVain) {
  int questions = 0;
  std::chrono::nanoseconds longest{0};
  const auto persist = [&](std::chrono::nanoseconds waited) {
    EXPECT_GT(waited, longest);
    longest = waited;
    return ++questions < 3;
  };
  EXPECT_EQ(waiter(kSleepy, persist).until([] { return false; }), WaitEnd::given_up);
  EXPECT_EQ(questions, 3);
  expect_no_trace();
}

// A question looks at all ranks, and each of these ranks asks.
TEST(WaitsOfMany, AskSeldomWhetherTheyAreInVain) {
  const auto questions_of = [](std::uint32_t num_ranks) {
    const std::unique_ptr<Region> region = std::move(Region::create({.num_ranks = num_ranks,
                                                                     .staging_slot = 64,
                                                                     .message_depth = 1,
                                                                     .message_slot = 64,
                                                                     .memory_of_slots = 0,
                                                                     .memory_of_connections = 0})
                                                         .value());
    WaitPolicy policy = kSleepy;
    policy.timeout = std::chrono::milliseconds(300);
    int questions = 0;
    Waiter waiter(*region, 0, policy, [&](std::chrono::nanoseconds) { return ++questions > 0; });
    EXPECT_EQ(waiter.until([] { return false; }), WaitEnd::timed_out);
    return questions;
  };
  // A question follows each sleep, and the first sleeps are short. A busy machine asks less often.
  const int of_few = questions_of(2);
  const int of_many = questions_of(700);
  EXPECT_GE(of_many, 1);
  EXPECT_LE(of_many, 5);  // 98 ms apart
  EXPECT_LT(of_many, of_few);
}

// Of ranks that share cores, for a post that is near.
constexpr WaitPolicy kCrowded{
    .crowded = true, .eager = 3, .spin = std::chrono::nanoseconds(0), .yield = std::chrono::nanoseconds(0)};

TEST_F(Waits, ForPostsEndAsOthersDo) {
  Waiter usual = waiter(kCrowded);
  usual.expect_near_posts(true);
  region_->post_line(1, 5).sequence.store(5);
  EXPECT_EQ(usual.until_posted(1, 5), WaitEnd::ready);
  WaitPolicy policy = kCrowded;
  policy.timeout = std::chrono::milliseconds(3);
  Waiter impatient = waiter(policy);
  impatient.expect_near_posts(true);
  EXPECT_EQ(impatient.until_posted(1, 6), WaitEnd::timed_out);
  expect_no_trace_but_the_look();
  Waiter in_vain = waiter(kCrowded, [](std::chrono::nanoseconds) { return false; });
  in_vain.expect_near_posts(true);
  EXPECT_EQ(in_vain.until_posted(1, 6), WaitEnd::given_up);
  expect_no_trace();
  region_->break_with({Code::aborted, 1});
  EXPECT_EQ(usual.until_posted(1, 6), WaitEnd::broken);
  EXPECT_EQ(usual.until_posted(1, 5), WaitEnd::ready);
  expect_no_trace();
}

TEST_F(Waits, KnowWhoElseCouldUseTheCore) {
  constexpr std::uint32_t kCore = 3;
  constexpr std::uint64_t kAwaited = 6;  // by rank 0
  const Waiter own = waiter(kCrowded);
  DoorbellLine& other = region_->doorbell(1);
  EXPECT_FALSE(own.others_here_can_use(kCore, kAwaited));
  other.core.store(kCore + 1);
  EXPECT_FALSE(own.others_here_can_use(kCore, kAwaited));
  other.core.store(kCore);
  EXPECT_TRUE(own.others_here_can_use(kCore, kAwaited)) << "it waits for no post";
  other.awaited_rank.store(0);
  other.awaited_post.store(5);
  EXPECT_FALSE(own.others_here_can_use(kCore, kAwaited)) << "what it waits for has not come";
  region_->post_line(0, 5).sequence.store(5);
  EXPECT_TRUE(own.others_here_can_use(kCore, kAwaited));
  region_->post_line(1, kAwaited).sequence.store(kAwaited);
  EXPECT_FALSE(own.others_here_can_use(kCore, kAwaited)) << "it has come as far";
  // Nor is a rank another of itself.
  region_->doorbell(0).core.store(kCore);
  EXPECT_FALSE(own.others_here_can_use(kCore, kAwaited));
}

// Two that take turns to post, on one core or on two.
TEST_F(Waits, ForPostsMeetThem) {
  constexpr std::uint64_t kPosts = 2000;
  for (const bool near : {true, false}) {
    region_ = make_region();
    const auto go = [&](std::uint32_t rank) {
      Waiter own(*region_, rank, kCrowded, [](std::chrono::nanoseconds) { return true; });
      own.expect_near_posts(near);
      for (std::uint64_t post = 1; post <= kPosts; ++post) {
        region_->post_line(rank, post).sequence.store(post, std::memory_order_release);
        own.wake_others();
        EXPECT_EQ(own.until_posted(1 - rank, post), WaitEnd::ready);
      }
    };
    std::thread other([&] { go(1); });
    go(0);
    other.join();
    expect_no_trace();
  }
}

// By who posts, and by who breaks the region; the sleeper would look by itself only after an hour.
TEST_F(Waits, AreWokenFromSleep) {
  WaitPolicy policy = kSleepy;
  policy.longest_sleep = std::chrono::hours(1);
  for (const bool breaks : {false, true}) {
    std::atomic<bool> is_ready = false;
    WaitEnd end = WaitEnd::timed_out;
    {
      std::jthread waiting([&] {
        end = waiter(policy).until([&] { return is_ready.load(std::memory_order_acquire); }, std::chrono::hours(1));
      });
      while (region_->sleepers().load() == 0) std::this_thread::yield();
      if (breaks) {
        region_->break_with({Code::aborted, 1});
      } else {
        const Waiter poster(*region_, 1, kSleepy, [](std::chrono::nanoseconds) { return true; });
        is_ready.store(true, std::memory_order_release);
        poster.wake_others();
      }
    }
    EXPECT_EQ(end, breaks ? WaitEnd::broken : WaitEnd::ready);
    expect_no_trace();
  }
}

}  // namespace
}  // namespace tutti::shm
