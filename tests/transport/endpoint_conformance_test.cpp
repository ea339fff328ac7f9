// SPDX-License-Identifier: Apache-2.0
// What every way of carrying messages between hosts must do, with all ranks in one process: driven in turns by one
// thread, and by a thread each; as it is, and with faults above and below it.
//
// FAULTS_SEED begins another series of faults; a failure prints it.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transport/conversation.hpp"
#include "tests/transport/faults_seed.hpp"
#include "tests/transport/ofi_world.hpp"
#include "tests/transport/relay.hpp"
#include "tests/transport/tcp_world.hpp"
#include "transport/faulty/endpoint.hpp"

namespace tutti::transport {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto kPatience = std::chrono::seconds(60);

// What a world is made of.
struct Wanted {
  std::uint32_t num_ranks = 2;
  EndpointShape shape{};
  std::uint64_t seed = 1;  // of faults
  bool may_break = true;   // whether connections may break, where there are faults at all
};

struct Way {
  const char* name;
  std::function<std::unique_ptr<World>(const Wanted& wanted)> make;
  bool is_slow = false;
  bool breaks = false;  // connections, of which a rank must make steps to restore them
  std::function<std::string()> why_not = [] { return std::string(); };  // what keeps it from being tested here
};

class EndpointOf : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().why_not(); !why.empty()) GTEST_SKIP() << why;
  }

  void begin(std::uint32_t num_ranks, EndpointShape shape, std::vector<Flow> flows, bool may_break = true) {
    num_ranks_ = num_ranks;
    flows_ = std::move(flows);
    world_ = GetParam().make({num_ranks, shape, seed_, may_break});
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
      parties_.push_back(
          std::make_unique<Party>(world_->endpoint(rank), rank, flows_, 1000 + rank, !may_break || !GetParam().breaks));
  }

  // For tests of what holds only where no connection breaks: what one has taken is lost with it.
  void begin_unbroken() { begin(2, {.depth = 8, .slot = 64 << 10}, {}, false); }

  void TearDown() override {
    if (HasFailure()) ADD_FAILURE() << "FAULTS_SEED=" << seed_;
  }

  void take_turns() {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (const auto& party : parties_) {
        party->talk();
        party->endpoint().step();
        is_done = is_done && party->is_done();
        ASSERT_EQ(party->fault(), "");
      }
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
  }

  void run_threads() {
    std::atomic<std::uint32_t> num_done = 0;
    std::vector<std::thread> threads;
    for (const auto& party : parties_)
      threads.emplace_back([&num_done, &party, this] { run_thread(*party, num_done); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& party : parties_) {
      EXPECT_EQ(party->fault(), "");
      EXPECT_TRUE(party->is_done());
    }
  }

  // A rank that is done leaves when the system has all that others need of it.
  void run_thread(Party& party, std::atomic<std::uint32_t>& num_done) const {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    std::uint32_t idle = 0;
    while (!party.is_done() && party.fault().empty() && std::chrono::steady_clock::now() < until) {
      party.talk();
      idle = party.endpoint().step() ? 0 : idle + 1;
      if (idle > 50 && num_ranks_ > 1) party.endpoint().sleep(microseconds(500));
    }
    while (!party.endpoint().has_sent_all() && std::chrono::steady_clock::now() < until) party.endpoint().step();
    ++num_done;
    while (GetParam().breaks && num_done < num_ranks_ && std::chrono::steady_clock::now() < until)
      if (!party.endpoint().step()) party.endpoint().sleep(microseconds(500));
  }

  void drive(const std::function<bool()>& is_done) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!is_done()) {
      for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) world_->endpoint(rank).step();
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
  }

  std::uint64_t seed_ = test::seed_of_faults();
  std::uint32_t num_ranks_ = 0;
  std::vector<Flow> flows_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<Party>> parties_;
};

constexpr EndpointShape kShape = {.depth = 8, .slot = 64 << 10};

std::vector<Flow> all_to_all(std::uint32_t num_ranks, std::uint64_t messages, const std::vector<std::uint64_t>& sizes) {
  std::vector<Flow> flows;
  for (std::uint32_t source = 0; source < num_ranks; ++source)
    for (std::uint32_t destination = 0; destination < num_ranks; ++destination)
      for (const Traffic traffic : {Traffic::schedules, Traffic::program})
        if (source != destination) flows.push_back({source, destination, traffic, messages, sizes});
  return flows;
}

TEST_P(EndpointOf, BothTrafficsKeepTheirOrderInTurns) {
  begin(3, kShape, all_to_all(3, 60, {0, 1, 47, 48, 4096, kShape.slot, 8, kShape.slot - 1}));
  take_turns();
  // Messages over libfabric always come to slots.
  if (std::string_view(GetParam().name).starts_with("ofi")) return;
  for (const auto& party : parties_) EXPECT_GT(party->num_placed(), 0U);
}

TEST_P(EndpointOf, BothTrafficsKeepTheirOrderInThreads) {
  begin(3, kShape, all_to_all(3, 60, {0, 1, 47, 48, 4096, kShape.slot, 8, kShape.slot - 1}));
  run_threads();
}

TEST_P(EndpointOf, QueuesOfAnyDepthPassMessages) {
  for (const std::uint32_t depth : {1U, 2U, 3U, 5U}) {
    parties_.clear();
    begin(2, {.depth = depth, .slot = 1000}, all_to_all(2, 50, {0, 999, 1000, 3}));
    take_turns();
  }
}

TEST_P(EndpointOf, ManySmallMessagesArriveOneByOne) {
  const std::uint64_t messages = GetParam().is_slow ? 5'000 : 50'000;
  begin(2, kShape, {{0, 1, Traffic::schedules, messages, {8}}, {1, 0, Traffic::program, messages, {8, 0, 40}}});
  run_threads();
}

TEST_P(EndpointOf, SenderStopsWithoutCreditsAndGoesOnWithThem) {
  begin(2, kShape, {});
  Outgoing& to = world_->endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world_->endpoint(1).from(0, Traffic::schedules);
  std::uint64_t published = 0;
  for (; to.has_credit(); ++published) to.publish(published);
  EXPECT_EQ(published, kShape.depth);
  EXPECT_FALSE(to.is_drained());
  for (int i = 0; i < 1000; ++i) drive([] { return true; });
  EXPECT_FALSE(to.has_credit());
  drive([&] { return from.has_message(); });
  EXPECT_EQ(from.description(), 0U);
  EXPECT_EQ(from.bytes(), 0U);
  from.take();
  drive([&] { return to.has_credit(); });
  for (std::uint64_t i = 1; i < published; ++i) {
    drive([&] { return from.has_message(); });
    EXPECT_EQ(from.description(), i);
    from.take();
  }
  drive([&] { return to.is_drained(); });
  EXPECT_FALSE(from.has_message());
}

TEST_P(EndpointOf, ReaderThatLeavesHasToldItsCredits) {
  begin_unbroken();
  Outgoing& to = world_->endpoint(0).to(1, Traffic::program);
  Incoming& from = world_->endpoint(1).from(0, Traffic::program);
  for (std::uint32_t i = 0; i < kShape.depth; ++i) to.publish(i);
  for (std::uint32_t i = 0; i < kShape.depth; ++i) {
    drive([&] { return from.has_message(); });
    from.take();
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!world_->endpoint(1).has_sent_all()) {
    world_->endpoint(1).step();
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  // From here on only the sender steps.
  for (std::uint32_t i = 0; i <= kShape.depth / 2;) {
    if (!to.has_credit()) world_->endpoint(0).step();
    if (!to.has_credit()) continue;
    to.publish(i++);
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
}

TEST_P(EndpointOf, SentMessagesArriveWithoutFurtherStepsOfTheSender) {
  begin_unbroken();
  Outgoing& to = world_->endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world_->endpoint(1).from(0, Traffic::schedules);
  to.publish(1);
  drive([&] { return world_->endpoint(0).has_sent_all() && from.has_message(); });
  from.take();
  to.slot(100);
  to.publish(2);
  while (!world_->endpoint(0).has_sent_all()) world_->endpoint(0).step();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!from.has_message()) {
    world_->endpoint(1).step();
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  EXPECT_EQ(from.bytes(), 100U);
  while (!world_->endpoint(0).has_delivered(1)) ASSERT_LT(std::chrono::steady_clock::now(), until);
}

TEST_P(EndpointOf, SleepEndsWhenSomethingComes) {
  begin_unbroken();
  Outgoing& to = world_->endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world_->endpoint(1).from(0, Traffic::schedules);
  to.publish(1);
  drive([&] { return from.has_message(); });
  from.take();
  std::thread reader([&] {
    while (!from.has_message()) {
      if (!world_->endpoint(1).step()) world_->endpoint(1).sleep(std::chrono::hours(1));
    }
  });
  to.publish(2);
  while (!world_->endpoint(0).has_sent_all()) world_->endpoint(0).step();
  reader.join();
  EXPECT_EQ(from.description(), 2U);
}

TEST_P(EndpointOf, SleepEndsInTime) {
  begin(2, kShape, {});
  for (const std::chrono::nanoseconds longest : {std::chrono::nanoseconds(1), std::chrono::nanoseconds(100'000)})
    world_->endpoint(0).sleep(longest);
}

TEST_P(EndpointOf, RankThatLeavesInOrderIsMissedByNobody) {
  begin(2, kShape, {{0, 1, Traffic::schedules, 20, {100}}, {1, 0, Traffic::schedules, 20, {100}}});
  take_turns();
  world_->drop(1);
  for (int i = 0; i < 1000; ++i) world_->endpoint(0).step();
  EXPECT_FALSE(world_->endpoint(0).unreachable().has_value());
}

TEST_P(EndpointOf, MessagesAreThereAlthoughTheirSenderHasLeft) {
  begin_unbroken();
  Outgoing& to = world_->endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world_->endpoint(1).from(0, Traffic::schedules);
  to.publish(0);
  drive([&] { return from.has_message(); });
  for (std::uint64_t i = 1; i < 4; ++i) {
    to.slot(5000);
    to.publish(i);
  }
  while (!world_->endpoint(0).has_delivered(1)) world_->endpoint(0).step();
  world_->drop(0);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (std::uint64_t i = 0; i < 4; ++i) {
    while (!from.has_message()) {
      world_->endpoint(1).step();
      ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
    EXPECT_EQ(from.description(), i);
    from.take();
  }
}

std::unique_ptr<World> make_tcp_world(const Wanted& wanted) {
  return std::make_unique<tcp::TcpWorld>(tcp::TcpWorld::Setup{.num_ranks = wanted.num_ranks, .shape = wanted.shape});
}

std::unique_ptr<World> make_tcp_world_on_faulty_wire(const Wanted& wanted) {
  constexpr int kMostCuts = 8;
  return std::make_unique<tcp::FaultyWireWorld>(
      tcp::TcpWorld::Setup{.num_ranks = wanted.num_ranks, .shape = wanted.shape}, wanted.seed,
      wanted.may_break ? kMostCuts : 0);
}

constexpr std::uint32_t kStripes = 3;

std::unique_ptr<World> make_striped_world(const Wanted& wanted) {
  return std::make_unique<tcp::TcpWorld>(
      tcp::TcpWorld::Setup{.num_ranks = wanted.num_ranks, .shape = wanted.shape, .connections = kStripes});
}

std::unique_ptr<World> make_striped_world_on_faulty_wire(const Wanted& wanted) {
  constexpr int kMostCuts = 8;
  return std::make_unique<tcp::FaultyWireWorld>(
      tcp::TcpWorld::Setup{.num_ranks = wanted.num_ranks, .shape = wanted.shape, .connections = kStripes}, wanted.seed,
      wanted.may_break ? kMostCuts : 0);
}

// The endpoints of another world, each late in its own way.
class FaultyWorld final : public World {
 public:
  FaultyWorld(std::unique_ptr<World> real, const Wanted& wanted) : real_(std::move(real)) {
    for (std::uint32_t rank = 0; rank < wanted.num_ranks; ++rank)
      endpoints_.push_back(faulty::make_faulty_endpoint(real_->endpoint(rank), {.seed = wanted.seed + rank}));
  }
  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return *endpoints_[rank]; }
  void drop(std::uint32_t rank) override {
    endpoints_[rank].reset();
    real_->drop(rank);
  }

 private:
  std::unique_ptr<World> real_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_{};
};

std::function<std::unique_ptr<World>(const Wanted&)> faulty_over(std::unique_ptr<World> (*make)(const Wanted&)) {
  return [make](const Wanted& wanted) { return std::make_unique<FaultyWorld>(make(wanted), wanted); };
}

Way way_over(const char* name, const char* provider) {
  return {.name = name,
          .make =
              [provider](const Wanted& wanted) {
                return std::make_unique<ofi::OfiWorld>(
                    ofi::OfiWorld::Setup{.provider = provider, .num_ranks = wanted.num_ranks, .shape = wanted.shape});
              },
          .why_not = [provider] { return ofi::why_not(provider); }};
}

INSTANTIATE_TEST_SUITE_P(
    Each, EndpointOf,
    testing::Values(Way{"tcp", make_tcp_world}, Way{"tcp_on_faulty_wire", make_tcp_world_on_faulty_wire, true, true},
                    Way{"faulty_tcp", faulty_over(make_tcp_world), true},
                    Way{"faulty_tcp_on_faulty_wire", faulty_over(make_tcp_world_on_faulty_wire), true, true},
                    Way{"striped_tcp", make_striped_world},
                    Way{"striped_tcp_on_faulty_wire", make_striped_world_on_faulty_wire, true, true},
                    Way{"faulty_striped_tcp", faulty_over(make_striped_world), true},
                    way_over("ofi_over_tcp", ofi::kOverTcp)),
    [](const testing::TestParamInfo<Way>& way) { return way.param.name; });

}  // namespace
}  // namespace tutti::transport
