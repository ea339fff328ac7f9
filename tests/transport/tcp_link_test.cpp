// SPDX-License-Identifier: Apache-2.0
// The one connection of two ranks: both make it at once, one end alone has lost it, nobody answers.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transport/relayed_pair.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {
namespace {

using std::chrono::milliseconds;

// Long before it is taken for unreachable.
TEST(TcpLink, WhoLeavesDoesNotWaitForARankThatRefusesConnections) {
  TcpWorld world({.num_ranks = 2});
  world.drop(1);
  world.endpoint(0).to(1, Traffic::program).publish(1);
  world.endpoint(0).step();
  EXPECT_FALSE(world.endpoint(0).has_delivered(1));
  ASSERT_TRUE(until([&] { return world.endpoint(0).has_delivered(1); }, [&] { world.endpoint(0).step(); }));
  EXPECT_FALSE(world.endpoint(0).unreachable().has_value());
}

// Ranks that have something for each other at the same time, in whatever order they come to notice.
TEST(TcpLink, RanksThatConnectAtOnceShareOneConnection) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    TcpWorld world({.num_ranks = 2});
    const std::size_t before = num_descriptors();
    const std::vector<Flow> flows = both_ways(5, {8, 5000});
    Party first(world.endpoint(0), 0, flows, seed);
    Party second(world.endpoint(1), 1, flows, seed + 1);
    while (world.endpoint(0).has_sent_all() || world.endpoint(1).has_sent_all()) {
      first.talk();
      second.talk();
    }
    ASSERT_TRUE(until([&] { return first.is_done() && second.is_done(); },
                      [&] {
                        first.talk();
                        second.talk();
                        world.endpoint(random() % 2).step();
                      }))
        << "seed " << seed;
    ASSERT_EQ(first.fault() + second.fault(), "") << "seed " << seed;
    // Whatever was refused is closed by both.
    ASSERT_TRUE(until([&] { return num_descriptors() == before + 2; },
                      [&] {
                        world.endpoint(0).step();
                        world.endpoint(1).step();
                      }))
        << "seed " << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE(world.warnings(rank).empty()) << world.warnings(rank)[0] << " (seed " << seed << ")";
      ASSERT_FALSE(world.endpoint(rank).unreachable()) << "seed " << seed;
    }
  }
}

// Each says hello before it can have seen the other's. That this repeats itself is what the lower rank's patience is
// for.
TEST(TcpLink, RanksThatConnectAtOnceOverASlowWayMakeOneConnectionEach) {
  RelayedPair pair(Relay::Plan([] { return Course{.delay = milliseconds(80)}; }));
  for (std::uint32_t rank = 0; rank < 2; ++rank) pair.world->endpoint(rank).to(1 - rank, Traffic::schedules).publish(7);
  const auto both_have = [&] {
    return pair.world->endpoint(0).from(1, Traffic::schedules).has_message() &&
           pair.world->endpoint(1).from(0, Traffic::schedules).has_message();
  };
  ASSERT_TRUE(until(both_have, [&] { pair.step(); }));
  for (const Relay& relay : pair.relays) EXPECT_EQ(relay.num_connections(), 1);
}

// Rank 1 can reach rank 0, but nobody answers rank 0.
TEST(TcpLink, ConnectionOfTheHigherRankIsTakenWhereThatOfTheLowerFails) {
  RelayedPair pair(Relay::Plan([] { return Course{}; }));
  pair.world->endpoint(0).to(1, Traffic::schedules).publish(7);
  pair.world->endpoint(1).to(0, Traffic::schedules).publish(8);
  const auto step = [&] {
    pair.world->endpoint(0).step();
    pair.world->endpoint(1).step();
    pair.relays[0].step();
  };
  // The hello of rank 1 arrives while rank 0 still waits for an answer, which the end of its way brings.
  const auto end = Clock::now() + milliseconds(100);
  while (Clock::now() < end) step();
  ASSERT_FALSE(pair.world->endpoint(0).from(1, Traffic::schedules).has_message());
  pair.relays[1].end();
  const auto both_have = [&] {
    return pair.world->endpoint(0).from(1, Traffic::schedules).has_message() &&
           pair.world->endpoint(1).from(0, Traffic::schedules).has_message();
  };
  ASSERT_TRUE(until(both_have, step));
  EXPECT_EQ(pair.relays[0].num_connections(), 1);
}

// The lower rank has not noticed the break, and is sent a hello while its connection stands.
TEST(TcpLink, ConnectionThatOnlyOneEndHasLostIsReplaced) {
  for (const std::uint32_t who : {0U, 1U}) {
    TcpWorld world({.num_ranks = 2});
    const auto step = [&] {
      world.endpoint(0).step();
      world.endpoint(1).step();
    };
    const auto exchange = [&](std::uint64_t description) {
      for (std::uint32_t rank = 0; rank < 2; ++rank)
        world.endpoint(rank).to(1 - rank, Traffic::program).publish(description);
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        Incoming& from = world.endpoint(rank).from(1 - rank, Traffic::program);
        ASSERT_TRUE(until([&] { return from.has_message(); }, step));
        EXPECT_EQ(from.description(), description);
        from.take();
      }
    };
    exchange(1);
    // Somebody with the token takes the place of the other rank at `who`, and says nothing more.
    Result<UniqueFd> socket = begin_connect(world.address(who));
    ASSERT_TRUE(socket.ok());
    Hello hello{.token = token_of_test(), .communicator = 42, .source = 1 - who, .destination = who};
    hello.shape = world.endpoint(0).shape();
    hello.progress = {.received = {0, 1}, .taken = {0, 1}};
    ASSERT_EQ(send_some(socket->get(), encode(hello)).bytes, kHelloBytes);
    std::array<std::byte, kWelcomeBytes> welcome{};
    ASSERT_TRUE(
        until([&] { return receive_some(socket->get(), welcome).bytes > 0; }, [&] { world.endpoint(who).step(); }));
    // The other rank finds its connection closed, and makes another.
    exchange(2);
    exchange(3);
  }
}

// What a rank sends first may be lost with the connection, and the rank may be in no call: so the other end makes it
// again. Somebody who repeats the hello and leaves brings about no more than that.
TEST(TcpLink, OneThatHasCarriedNothingIsMadeAgain) {
  TcpWorld world({.num_ranks = 2});
  const std::size_t before = num_descriptors();
  {
    Result<UniqueFd> socket = begin_connect(world.address(0));
    ASSERT_TRUE(socket.ok());
    Hello hello{.token = token_of_test(), .communicator = 42, .source = 1, .destination = 0};
    hello.shape = world.endpoint(0).shape();
    ASSERT_EQ(send_some(socket->get(), encode(hello)).bytes, kHelloBytes);
    std::array<std::byte, kWelcomeBytes> welcome{};
    ASSERT_TRUE(
        until([&] { return receive_some(socket->get(), welcome).bytes > 0; }, [&] { world.endpoint(0).step(); }));
  }
  const auto step = [&] {
    world.endpoint(0).step();
    world.endpoint(1).step();
  };
  EXPECT_TRUE(until([&] { return num_descriptors() == before + 2; }, step));
  const auto end = Clock::now() + milliseconds(100);
  while (Clock::now() < end) step();
  EXPECT_EQ(num_descriptors(), before + 2);
}

// Rank 1 has two addresses, and cannot reach rank 0 itself.
TEST(TcpLink, OneThatIsCutIsMadeAgainAtTheFirstAddress) {
  std::array<Relay, 2> relays{Relay([number = 0]() mutable { return Course{.limit = number++ == 0 ? 2000U : 0U}; }),
                              Relay()};
  Relay refusing;
  refusing.end();
  TcpWorld::Setup setup;
  setup.told = [&](std::uint32_t rank, const Address& real) {
    if (rank == 0) return std::vector{refusing.address()};
    for (Relay& relay : relays) relay.lead_to(real);
    return std::vector{relays[0].address(), relays[1].address()};
  };
  TcpWorld world(setup);
  const auto step = [&] {
    for (std::uint32_t rank = 0; rank < 2; ++rank) world.endpoint(rank).step();
    for (Relay& relay : relays) relay.step();
  };
  Incoming& from = world.endpoint(1).from(0, Traffic::schedules);
  Outgoing& to = world.endpoint(0).to(1, Traffic::schedules);
  for (int message = 0; message < 3; ++message) {
    std::memset(to.slot(1500), message, 1500);
    to.publish(1);
    ASSERT_TRUE(until([&] { return from.has_message(); }, step));
    from.take();
  }
  EXPECT_EQ(relays[0].num_cuts(), 1);
  EXPECT_EQ(relays[0].num_connections(), 2);
  EXPECT_EQ(relays[1].num_connections(), 0);
}

}  // namespace
}  // namespace tutti::transport::tcp
