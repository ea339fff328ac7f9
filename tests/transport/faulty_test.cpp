// SPDX-License-Identifier: Apache-2.0
// That a faulty endpoint makes the faults that it is for: what tests over it show rests on that.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <poll.h>

#include "tests/transport/tcp_world.hpp"
#include "transport/faulty/endpoint.hpp"

namespace tutti::transport::faulty {
namespace {

constexpr auto kTestPatience = std::chrono::seconds(60);
constexpr std::uint32_t kRounds = 200;

class FaultyEndpoint : public testing::Test {
 protected:
  // Rank 0 with faults, rank 1 without.
  void begin(const Faults& faults) { late_ = make_faulty_endpoint(world_.endpoint(0), faults); }
  void step_until(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + kTestPatience;
    while (!is_so()) {
      late_->step();
      other().step();
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
  }
  Endpoint& other() { return world_.endpoint(1); }

  tcp::TcpWorld world_{{.num_ranks = 2}};
  std::unique_ptr<Endpoint> late_{};
};

TEST_F(FaultyEndpoint, QueuesOvertakeEachOther) {
  begin({.delayed = 50, .withheld = 0, .blind = 0});
  std::uint32_t first_is_later = 0;
  std::uint32_t second_is_later = 0;
  Incoming& first = other().from(0, Traffic::schedules);
  Incoming& second = other().from(0, Traffic::program);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    step_until(
        [&] { return late_->to(1, Traffic::schedules).has_credit() && late_->to(1, Traffic::program).has_credit(); });
    late_->to(1, Traffic::schedules).publish(round);
    late_->to(1, Traffic::program).publish(round);
    step_until([&] { return first.has_message() || second.has_message(); });
    first_is_later += first.has_message() ? 0 : 1;
    second_is_later += second.has_message() ? 0 : 1;
    step_until([&] { return first.has_message() && second.has_message(); });
    EXPECT_EQ(first.description(), round);
    EXPECT_EQ(second.description(), round);
    first.take();
    second.take();
  }
  EXPECT_GT(first_is_later, 0U);
  EXPECT_GT(second_is_later, 0U);
}

TEST_F(FaultyEndpoint, CreditsAreSeenLate) {
  begin({.delayed = 0, .withheld = 50, .blind = 0});
  Outgoing& to = late_->to(1, Traffic::schedules);
  Outgoing& real = world_.endpoint(0).to(1, Traffic::schedules);
  Incoming& from = other().from(0, Traffic::schedules);
  for (std::uint32_t i = 0; i < late_->shape().depth; ++i) to.publish(i);
  EXPECT_FALSE(to.has_credit());
  std::uint32_t late = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    step_until([&] { return from.has_message(); });
    from.take();
    step_until([&] { return real.has_credit(); });
    late += to.has_credit() ? 0 : 1;
    step_until([&] { return to.has_credit(); });
    to.publish(round);
  }
  EXPECT_GT(late, 0U);
  EXPECT_LT(late, kRounds);
}

// How many messages a step sees of those that it could see.
std::uint32_t seen_at_once(Endpoint& late, Endpoint& sender) {
  std::uint32_t seen = 0;
  Incoming& from = late.from(1, Traffic::schedules);
  const auto until = std::chrono::steady_clock::now() + kTestPatience;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    while (!sender.to(0, Traffic::schedules).has_credit() && std::chrono::steady_clock::now() < until) {
      sender.step();
      late.step();
    }
    sender.to(0, Traffic::schedules).publish(round);
    pollfd arrived{.fd = late.descriptor(), .events = POLLIN, .revents = 0};
    while (poll(&arrived, 1, 1) == 0 && std::chrono::steady_clock::now() < until) sender.step();
    // The first one makes the connection.
    late.step();
    seen += from.has_message() ? 1 : 0;
    while (!from.has_message() && std::chrono::steady_clock::now() < until) {
      late.step();
      sender.step();
    }
    if (!from.has_message()) break;
    from.take();
  }
  return seen;
}

TEST_F(FaultyEndpoint, MessagesAreSeenLate) {
  begin({.delayed = 50, .withheld = 0, .blind = 0});
  const std::uint32_t seen = seen_at_once(*late_, other());
  EXPECT_GT(seen, kRounds / 4);
  EXPECT_LT(seen, kRounds * 3 / 4);
}

TEST_F(FaultyEndpoint, StepsSeeNothingForAWhile) {
  begin({.delayed = 0, .withheld = 0, .blind = 50});
  const std::uint32_t seen = seen_at_once(*late_, other());
  EXPECT_GT(seen, 0U);
  EXPECT_LT(seen, kRounds * 3 / 4);
}

TEST_F(FaultyEndpoint, ARankIsCutOffAfterSoManyMessages) {
  constexpr std::uint64_t kMessages = 5;
  begin({.delayed = 0, .withheld = 0, .blind = 0, .cut_after = kMessages});
  Outgoing& to = late_->to(1, Traffic::schedules);
  Incoming& from = other().from(0, Traffic::schedules);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    EXPECT_FALSE(late_->unreachable());
    to.publish(i);
    step_until([&] { return from.has_message(); });
    from.take();
  }
  step_until([&] { return late_->unreachable().has_value(); });
  EXPECT_EQ(late_->unreachable()->rank, 1U);
  EXPECT_FALSE(to.has_credit());
  EXPECT_FALSE(late_->to(1, Traffic::program).has_credit());
  EXPECT_TRUE(late_->has_delivered(1));
  // Nor does anything come.
  other().to(0, Traffic::schedules).publish(1);
  step_until([&] { return world_.endpoint(0).from(1, Traffic::schedules).has_message(); });
  EXPECT_FALSE(late_->from(1, Traffic::schedules).has_message());
  late_->forget_unreachable();
  for (int i = 0; i < kStepsThatReadAll; ++i) late_->step();
  EXPECT_FALSE(late_->unreachable());
  EXPECT_FALSE(late_->from(1, Traffic::schedules).has_message());
}

TEST_F(FaultyEndpoint, WithoutFaultsEverythingIsSeenAtOnce) {
  begin({.delayed = 0, .withheld = 0, .blind = 0});
  EXPECT_GT(seen_at_once(*late_, other()), kRounds * 3 / 4);
}

}  // namespace
}  // namespace tutti::transport::faulty
