// SPDX-License-Identifier: Apache-2.0
// What is particular to endpoints over libfabric: doors and their names, strangers, ranks that go without a word.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transport/ofi_world.hpp"

namespace tutti::transport::ofi {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

bool until(const std::function<bool()>& is_so, const std::function<void()>& step) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    step();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

class OfiEndpoints : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(OfiEndpoints, NamesOfDoorsSayTheProvider) {
  const auto door = open_door(door_for_test(GetParam()));
  ASSERT_TRUE(door.ok()) << door.status().to_string();
  EXPECT_TRUE(provider_of((*door)->name()).starts_with(GetParam())) << (*door)->name();
  EXPECT_LE((*door)->name().size(), kMostNameBytes);
  EXPECT_TRUE(check_names({(*door)->name(), (*door)->name()}).ok());
}

// Another job's rank that has this one's address: it may even have the same number of it.
TEST_P(OfiEndpoints, StrangerWithoutTheTokenGetsNothingIn) {
  OfiWorld world({.provider = GetParam()});
  Result<std::unique_ptr<Door>> door = open_door(door_for_test(GetParam(), 2, world.endpoint(0).shape()));
  ASSERT_TRUE(door.ok()) << door.status().to_string();
  OfiOptions options{.rank = 0, .num_ranks = 2, .shape = world.endpoint(0).shape()};
  options.token = OfiWorld::token();
  options.token.back() ^= std::byte{1};
  options.communicator = OfiWorld::kCommunicator;
  options.names = {(*door)->name(), world.names()[1]};
  Result<std::unique_ptr<Endpoint>> stranger = make_ofi_endpoint(std::move(door).value(), std::move(options));
  ASSERT_TRUE(stranger.ok()) << stranger.status().to_string();
  (*stranger)->to(1, Traffic::schedules).publish(666);
  Outgoing& to = world.endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world.endpoint(1).from(0, Traffic::schedules);
  const auto step = [&] {
    (*stranger)->step();
    world.endpoint(0).step();
    world.endpoint(1).step();
  };
  for (int i = 0; i < 2000; ++i) step();
  EXPECT_FALSE(from.has_message());
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(until([&] { return to.has_credit(); }, step));
    to.publish(i);
    ASSERT_TRUE(until([&] { return from.has_message(); }, step));
    EXPECT_EQ(from.description(), i);
    from.take();
  }
  EXPECT_FALSE((*stranger)->to(1, Traffic::schedules).is_drained());
}

TEST_P(OfiEndpoints, RankThatLeavesWithoutTakingIsUnreachableInTime) {
  OfiWorld world({.provider = GetParam(), .restore_within = std::chrono::milliseconds(300)});
  Outgoing& to = world.endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world.endpoint(1).from(0, Traffic::schedules);
  const auto step = [&] {
    world.endpoint(0).step();
    world.endpoint(1).step();
  };
  to.publish(0);
  ASSERT_TRUE(until([&] { return from.has_message(); }, step));
  world.drop(1);
  // So that its bye is heard first.
  for (int i = 0; i < 2000; ++i) world.endpoint(0).step();
  EXPECT_FALSE(world.endpoint(0).unreachable());
  to.publish(1);
  ASSERT_TRUE(until([&] { return world.endpoint(0).unreachable().has_value(); }, [&] { world.endpoint(0).step(); }));
  EXPECT_EQ(world.endpoint(0).unreachable()->rank, 1U);
  EXPECT_NE(world.endpoint(0).unreachable()->words.find("rank 1"), std::string::npos);
}

TEST_P(OfiEndpoints, MessagesOfManySlotsCrossInBothDirections) {
  OfiWorld world({.provider = GetParam(), .shape = {.depth = 3, .slot = 300'000}});
  std::vector<Flow> flows;
  for (const Traffic traffic : {Traffic::schedules, Traffic::program})
    for (const std::uint32_t source : {0U, 1U})
      flows.push_back({source, 1 - source, traffic, 40, {300'000, 16'300, 16'400, 131'000, 131'100, 1, 0}});
  Party first(world.endpoint(0), 0, flows, 1);
  Party second(world.endpoint(1), 1, flows, 2);
  ASSERT_TRUE(until([&] { return first.is_done() && second.is_done(); },
                    [&] {
                      for (Party* party : {&first, &second}) {
                        party->talk();
                        party->endpoint().step();
                      }
                    }))
      << first.fault() << second.fault();
}

INSTANTIATE_TEST_SUITE_P(Each, OfiEndpoints, testing::Values(kOverTcp), [](const auto&) { return "OverTcp"; });

TEST(OfiDoor, ProviderThatIsNotThereIsNamed) {
  const auto door = open_door(door_for_test("no_such_provider"));
  ASSERT_FALSE(door.ok());
  EXPECT_EQ(door.status().code(), Code::unsupported);
  if (why_not(kOverTcp).empty()) {
    EXPECT_NE(door.status().message().find("no_such_provider"), std::string::npos) << door.status().to_string();
  }
}

TEST(OfiDoor, AddressOfNoInterfaceIsNamed) {
  if (const std::string why = why_not(kOverTcp); !why.empty()) GTEST_SKIP() << why;
  DoorOptions options = door_for_test(kOverTcp);
  options.address.bytes = {203, 0, 113, 7};
  const auto door = open_door(options);
  ASSERT_FALSE(door.ok());
  EXPECT_NE(door.status().message().find("203.0.113.7"), std::string::npos) << door.status().to_string();
}

TEST(OfiDoor, RanksWithDifferentProvidersAreTold) {
  const Status status = check_names({"tcp;ofi_rxm\nx", "tcp;ofi_rxm\ny", "verbs;ofi_rxm\nz"});
  EXPECT_EQ(status.rank(), 2);
  EXPECT_EQ(status.message(),
            "rank 2 uses libfabric's provider verbs;ofi_rxm and rank 0 uses tcp;ofi_rxm; TUTTI_OFI_PROVIDER names one "
            "for all");
  EXPECT_FALSE(check_names({"no address"}).ok());
}

}  // namespace
}  // namespace tutti::transport::ofi
