// SPDX-License-Identifier: Apache-2.0
// What is particular to endpoints over TCP: connections that break and come back, or do not; ranks that are late;
// strangers that knock; descriptors.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>

#include "tests/transport/conversation.hpp"
#include "tests/transport/relayed_pair.hpp"
#include "tests/transport/tcp_world.hpp"
#include "transport/tcp/strangers.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {
namespace {

using std::chrono::milliseconds;

void talk_over_cuts(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr int kMostCuts = 10;
  int num_limits = 0;
  // The first bytes are those of hello and welcome; a message has up to 4 KB.
  RelayedPair pair([&] { return num_limits++ < kMostCuts ? 1 + random() % (num_limits % 3 == 0 ? 250 : 20'000) : 0; });
  const std::vector<Flow> flows = both_ways(30, {0, 1, 47, 4096, 48, 1000, 4095});
  Party first(pair.world->endpoint(0), 0, flows, seed);
  Party second(pair.world->endpoint(1), 1, flows, seed + 1);
  const bool is_done =
      until([&] { return (first.is_done() && second.is_done()) || !first.fault().empty() || !second.fault().empty(); },
            [&] {
              first.talk();
              second.talk();
              pair.step();
            });
  ASSERT_TRUE(is_done) << "seed " << seed;
  ASSERT_EQ(first.fault() + second.fault(), "") << "seed " << seed;
  ASSERT_GT(pair.relays[0].num_cuts() + pair.relays[1].num_cuts(), 2) << "seed " << seed;
  const auto is_settled = [&] {
    return !pair.world->endpoint(0).is_connecting() && !pair.world->endpoint(1).is_connecting();
  };
  ASSERT_TRUE(until(is_settled, [&] { pair.step(); })) << "seed " << seed;
  for (std::uint32_t rank = 0; rank < 2; ++rank) ASSERT_FALSE(pair.world->endpoint(rank).unreachable()) << seed;
}

TEST(TcpEndpoint, CutConnectionsLoseAndDoubleNothing) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    talk_over_cuts(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Messages that the system takes only in parts, with a relay that does not keep up.
TEST(TcpEndpoint, LargeMessagesArriveOverCutConnections) {
  std::mt19937_64 random(3);
  constexpr std::uint64_t kLarge = 1 << 20;
  int num_limits = 0;
  RelayedPair pair([&] { return num_limits++ < 6 ? 1 + random() % (2 * kLarge) : 0; }, std::chrono::seconds(20),
                   {.depth = 8, .slot = kLarge});
  const std::vector<Flow> flows = {{0, 1, Traffic::schedules, 10, {kLarge, 100, kLarge - 1}},
                                   {0, 1, Traffic::program, 10, {kLarge}}};
  Party first(pair.world->endpoint(0), 0, flows, 1);
  Party second(pair.world->endpoint(1), 1, flows, 2);
  ASSERT_TRUE(until([&] { return (first.is_done() && second.is_done()) || !second.fault().empty(); },
                    [&] {
                      first.talk();
                      second.talk();
                      pair.step();
                    }));
  EXPECT_EQ(second.fault(), "");
  EXPECT_GT(pair.relays[1].num_cuts(), 2);
}

TEST(TcpEndpoint, ConnectionThatStaysAwayIsToldAtBothEnds) {
  RelayedPair pair([] { return std::uint64_t{0}; }, milliseconds(60));
  Outgoing& to = pair.world->endpoint(0).to(1, Traffic::schedules);
  to.publish(1);
  ASSERT_TRUE(
      until([&] { return pair.world->endpoint(1).from(0, Traffic::schedules).has_message(); }, [&] { pair.step(); }));
  for (Relay& relay : pair.relays) relay.end();
  const auto both_know = [&] {
    return pair.world->endpoint(0).unreachable().has_value() && pair.world->endpoint(1).unreachable().has_value();
  };
  ASSERT_TRUE(until(both_know, [&] { pair.step(); }));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const Unreachable& lost = *pair.world->endpoint(rank).unreachable();
    EXPECT_EQ(lost.rank, 1 - rank);
    const std::string words = fmt::format("the connection with rank {} broke (", 1 - rank);
    EXPECT_TRUE(lost.words.starts_with(words)) << lost.words;
    const std::string reason = fmt::format("rank {} could not be reached at 127.0.0.1:", 1 - rank);
    EXPECT_NE(lost.words.find(reason), std::string::npos) << lost.words;
    EXPECT_NE(lost.words.find("Connection refused"), std::string::npos) << lost.words;
  }
}

TEST(TcpEndpoint, NobodyIsGivenUpWhosePatienceIsRenewed) {
  RelayedPair pair([] { return std::uint64_t{0}; }, milliseconds(60));
  Endpoint& endpoint = pair.world->endpoint(0);
  pair.relays[1].end();
  endpoint.to(1, Traffic::schedules).publish(1);
  const auto end = Clock::now() + milliseconds(400);
  while (Clock::now() < end) {
    endpoint.step();
    endpoint.renew_patience([](std::uint32_t rank) { return rank == 1; });
  }
  EXPECT_FALSE(endpoint.unreachable());
  EXPECT_TRUE(endpoint.is_connecting());
  const auto step = [&] {
    endpoint.step();
    endpoint.renew_patience([](std::uint32_t) { return false; });
  };
  EXPECT_TRUE(until([&] { return endpoint.unreachable().has_value(); }, step));
  EXPECT_FALSE(endpoint.is_connecting());
}

// A network namespace for this thread alone, in which it can talk to itself until it is cut off.
bool enter_own_network() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe, cert-env33-c): the words are these
  return unshare(CLONE_NEWNET) == 0 && std::system(
                                           "ip link set lo up && ip rule add pref 10 lookup local && "
                                           "ip rule delete pref 0") == 0;
}
// NOLINTNEXTLINE(concurrency-mt-unsafe, cert-env33-c): the same
bool cut_off() { return std::system("ip rule add pref 5 blackhole") == 0; }

// The system sends nothing of what both write then, and so awaits no acknowledgement, and sends no probes.
TEST(TcpEndpoint, HostWithoutARouteIsNoticedAlthoughNothingIsOnItsWay) {
  std::string outcome = "nothing";
  std::thread([&] {
    if (!enter_own_network()) {
      outcome = "not allowed";
      return;
    }
    TcpWorld world({.num_ranks = 2, .restore_within = std::chrono::seconds(1)});
    const auto publish = [&] {
      for (std::uint32_t rank = 0; rank < 2; ++rank) world.endpoint(rank).to(1 - rank, Traffic::schedules).publish(1);
    };
    const auto both = [&](const auto& is_so) { return is_so(0U) && is_so(1U); };
    const auto step = [&] {
      for (std::uint32_t rank = 0; rank < 2; ++rank)
        if (!world.endpoint(rank).step()) world.endpoint(rank).sleep(milliseconds(5));
    };
    publish();
    EXPECT_TRUE(until(
        [&] {
          return both([&](std::uint32_t rank) {
            return world.endpoint(rank).from(1 - rank, Traffic::schedules).has_message();
          });
        },
        step));
    // All of it is acknowledged by then.
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_TRUE(cut_off());
    publish();
    const auto is_lost = [&](std::uint32_t rank) { return world.endpoint(rank).unreachable().has_value(); };
    outcome = until([&] { return both(is_lost); }, step) ? "noticed" : "not noticed";
  }).join();
  if (outcome == "not allowed") GTEST_SKIP() << "this process may not make a network namespace, or has no ip command";
  EXPECT_EQ(outcome, "noticed");
}

TEST(TcpEndpoint, SecondAddressIsTakenWhereTheFirstRefuses) {
  TcpWorld::Setup setup;
  setup.told = [](std::uint32_t, const Address& real) {
    const Address refusing = listen_on_loopback().address;  // closed again
    return std::vector{refusing, real};
  };
  TcpWorld world(setup);
  world.endpoint(0).to(1, Traffic::program).publish(7);
  ASSERT_TRUE(until([&] { return world.endpoint(1).from(0, Traffic::program).has_message(); },
                    [&] {
                      world.endpoint(0).step();
                      world.endpoint(1).step();
                    }));
}

TEST(TcpEndpoint, LateDestinationIsWaitedFor) {
  TcpWorld world({.num_ranks = 2, .restore_within = milliseconds(20)});
  world.endpoint(0).to(1, Traffic::schedules).publish(7);
  const auto end = Clock::now() + milliseconds(100);
  while (Clock::now() < end) world.endpoint(0).step();
  EXPECT_FALSE(world.endpoint(0).unreachable().has_value());
  EXPECT_FALSE(world.endpoint(0).has_sent_all());
  ASSERT_TRUE(until([&] { return world.endpoint(1).from(0, Traffic::schedules).has_message(); },
                    [&] {
                      world.endpoint(0).step();
                      world.endpoint(1).step();
                    }));
}

TEST(TcpEndpoint, RankThatHasSaidByeIsNotAwaited) {
  TcpWorld world({.num_ranks = 2, .restore_within = milliseconds(20)});
  const std::vector<Flow> flows = both_ways(10, {100});
  Party first(world.endpoint(0), 0, flows, 1);
  Party second(world.endpoint(1), 1, flows, 2);
  const auto is_over = [&] {
    return first.is_done() && second.is_done() && world.endpoint(0).to(1, Traffic::schedules).is_drained() &&
           world.endpoint(0).to(1, Traffic::program).is_drained();
  };
  ASSERT_TRUE(until(is_over, [&] {
    first.talk();
    second.talk();
    world.endpoint(0).step();
    world.endpoint(1).step();
  }));
  world.drop(1);
  const auto end = Clock::now() + milliseconds(100);
  while (Clock::now() < end) world.endpoint(0).step();
  EXPECT_FALSE(world.endpoint(0).unreachable().has_value()) << world.endpoint(0).unreachable()->words;
  EXPECT_TRUE(world.endpoint(0).has_sent_all());
  // It is missed again by who has something for it.
  world.endpoint(0).to(1, Traffic::program).publish(1);
  ASSERT_TRUE(until([&] { return world.endpoint(0).unreachable().has_value(); }, [&] { world.endpoint(0).step(); }));
}

TEST(TcpEndpoint, TimeInWhichNobodyStepsDoesNotCount) {
  RelayedPair pair([] { return std::uint64_t{0}; }, milliseconds(40));
  pair.world->endpoint(0).to(1, Traffic::schedules).publish(1);
  ASSERT_TRUE(
      until([&] { return pair.world->endpoint(1).from(0, Traffic::schedules).has_message(); }, [&] { pair.step(); }));
  for (Relay& relay : pair.relays) relay.end();
  // The break is noticed; then the ranks are busy elsewhere.
  for (int i = 0; i < 10; ++i) pair.step();
  std::this_thread::sleep_for(milliseconds(100));
  for (int i = 0; i < 10; ++i) pair.step();
  EXPECT_FALSE(pair.world->endpoint(1).unreachable().has_value());
}

TEST(TcpEndpoint, OnlyRanksThatTalkAreConnected) {
  constexpr std::uint32_t kRanks = 16;
  TcpWorld world({.num_ranks = kRanks});
  const std::size_t before = num_descriptors();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    for (std::uint32_t other = 0; other < kRanks; ++other)
      if (rank != other) {
        EXPECT_TRUE(world.endpoint(rank).to(other, Traffic::schedules).has_credit());
        EXPECT_FALSE(world.endpoint(other).from(rank, Traffic::schedules).has_message());
      }
  // A ring: each talks to the next, in both kinds of traffic.
  const auto step = [&] {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) world.endpoint(rank).step();
  };
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(num_descriptors(), before);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    for (const Traffic traffic : {Traffic::schedules, Traffic::program})
      world.endpoint(rank).to((rank + 1) % kRanks, traffic).publish(rank);
  const auto all_have = [&] {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank)
      for (const Traffic traffic : {Traffic::schedules, Traffic::program})
        if (!world.endpoint((rank + 1) % kRanks).from(rank, traffic).has_message()) return false;
    return true;
  };
  ASSERT_TRUE(until(all_have, step));
  // Both ends of a connection are in this process.
  EXPECT_EQ(num_descriptors(), before + 2 * kRanks);
}

// How many of this process's sockets that are connected over the network have that congestion control.
int num_connections_with(const std::string& algorithm) {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.ss_family != AF_INET) continue;
    std::array<char, 32> name{};
    socklen_t length = name.size() - 1;
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0 && algorithm == name.data()) ++count;
  }
  return count;
}

// One that this process may use and that is not the system's default; empty where there is none.
std::string another_congestion_control() {
  std::ifstream allowed("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  std::ifstream usual("/proc/sys/net/ipv4/tcp_congestion_control");
  std::string of_system;
  usual >> of_system;
  for (std::string name; allowed >> name;)
    if (name != of_system) return name;
  return "";
}

TEST(TcpEndpoint, ConnectionsUseTheGivenCongestionControl) {
  const std::string wanted = another_congestion_control();
  if (wanted.empty()) GTEST_SKIP() << "this system has only one";
  TcpWorld world({.connections = 2, .congestion = wanted});
  const int before = num_connections_with(wanted);
  std::uint64_t sent = 0;
  for (; sent < 4; ++sent) {
    world.endpoint(0).to(1, Traffic::schedules).slot(world.endpoint(0).shape().slot);
    world.endpoint(0).to(1, Traffic::schedules).publish(sent);
  }
  Incoming& from = world.endpoint(1).from(0, Traffic::schedules);
  const auto step = [&] {
    world.endpoint(0).step();
    world.endpoint(1).step();
  };
  for (std::uint64_t taken = 0; taken < sent; ++taken) {
    ASSERT_TRUE(until([&] { return from.has_message(); }, step));
    EXPECT_EQ(from.description(), taken);
    from.take();
  }
  EXPECT_EQ(num_connections_with(wanted) - before, 4) << "both ends of two connections";
}

TEST(TcpEndpoint, UnknownCongestionControlIsRefused) {
  TcpOptions options{.num_ranks = 1};
  options.addresses = {{}};
  options.congestion = "nosuch";
  const Result<std::unique_ptr<Endpoint>> made = make_tcp_endpoint(std::move(options));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().to_string().find("TUTTI_TCP_CONGESTION is 'nosuch', which this system does not have"),
            std::string::npos)
      << made.status().to_string();
}

TEST(TcpEndpoint, AddressesThatAreNotForAllConnectionsAreRefused) {
  TcpOptions options{.num_ranks = 2, .connections = 2};
  options.addresses = {{}, {loopback_address()}};
  const Result<std::unique_ptr<Endpoint>> made = make_tcp_endpoint(std::move(options));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().to_string().find("addresses of rank 1 is 1, not a multiple of the 2 connections"),
            std::string::npos)
      << made.status().to_string();
}

// Strangers. Each knocks while two ranks talk.

class TcpStrangers : public testing::Test {
 protected:
  void knock(const std::vector<std::byte>& words) {
    Result<UniqueFd> socket = begin_connect(world_.address(1));
    ASSERT_TRUE(socket.ok());
    static_cast<void>(send_some(socket->get(), words));
    strangers_.push_back(std::move(socket).value());
  }

  // All of it arrives, and nothing else does.
  void talk(std::uint64_t messages) {
    const std::vector<Flow> flows = both_ways(messages, {8, 5000});
    Party first(world_.endpoint(0), 0, flows, 5);
    Party second(world_.endpoint(1), 1, flows, 6);
    ASSERT_TRUE(until([&] { return first.is_done() && second.is_done(); },
                      [&] {
                        first.talk();
                        second.talk();
                        step();
                      }));
    EXPECT_EQ(first.fault() + second.fault(), "");
    for (int i = 0; i < 100; ++i) step();
    for (const Traffic traffic : {Traffic::schedules, Traffic::program})
      EXPECT_FALSE(world_.endpoint(1).from(0, traffic).has_message());
    for (std::uint32_t rank = 0; rank < 2; ++rank) EXPECT_FALSE(world_.endpoint(rank).unreachable().has_value());
  }

  void step() {
    world_.endpoint(0).step();
    world_.endpoint(1).step();
  }

  [[nodiscard]] std::size_t num_turned_away() const {
    std::size_t count = 0;
    for (const UniqueFd& socket : strangers_) {
      std::array<std::byte, 100> answer{};
      const SocketTransfer got = receive_some(socket.get(), answer);
      EXPECT_EQ(got.bytes, 0U);
      if (got.outcome == SocketTransfer::Outcome::closed) ++count;
    }
    return count;
  }

  TcpWorld world_{{.num_ranks = 2}};
  std::vector<UniqueFd> strangers_{};
};

std::vector<std::byte> bytes_of(const HelloBytes& hello) { return {hello.begin(), hello.end()}; }

Hello right_hello() {
  return {.token = token_of_test(),
          .communicator = 42,
          .source = 0,
          .destination = 1,
          .shape = {.depth = 8, .slot = 64 << 10}};
}

TEST_F(TcpStrangers, WrongHellosAreTurnedAwayWithOneWarning) {
  const std::vector<std::function<void(Hello&)>> faults = {
      [](Hello& hello) { hello.token = {}; },        [](Hello& hello) { hello.token.back() ^= std::byte{1}; },
      [](Hello& hello) { hello.communicator = 43; }, [](Hello& hello) { hello.source = 1; },
      [](Hello& hello) { hello.source = 2; },        [](Hello& hello) { hello.destination = 0; },
      [](Hello& hello) { hello.shape.depth = 9; },   [](Hello& hello) { hello.shape.slot = 1ULL << 60; }};
  for (const auto& fault : faults) {
    Hello hello = right_hello();
    fault(hello);
    knock(bytes_of(encode(hello)));
  }
  knock(std::vector<std::byte>(4, std::byte{'x'}));
  knock(std::vector<std::byte>(100'000, std::byte{0xff}));
  talk(20);
  ASSERT_TRUE(until([&] { return num_turned_away() == strangers_.size(); }, [&] { step(); }));
  ASSERT_EQ(world_.warnings(1).size(), 1U);
  EXPECT_NE(world_.warnings(1)[0].find("no rank of this communicator"), std::string::npos);
  EXPECT_TRUE(world_.warnings(0).empty());
}

TEST_F(TcpStrangers, SilentOnesDoNotKeepRanksOut) {
  const std::vector<std::byte> hello = bytes_of(encode(right_hello()));
  for (int i = 0; i < 200; ++i) {
    knock(i % 2 == 0 ? std::vector<std::byte>() : std::vector<std::byte>(hello.begin(), hello.begin() + 40));
    if (i == 100) talk(3);
  }
  talk(20);
  ASSERT_TRUE(until([&] { return num_turned_away() == strangers_.size() - Strangers::kMost; }, [&] { step(); }));
}

TEST_F(TcpStrangers, RandomBytesHaveNoEffect) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> words(random() % 300);
    for (std::byte& word : words) word = static_cast<std::byte>(random());
    const HelloBytes hello = encode(right_hello());
    // Some begin right.
    if (round % 3 == 0) std::copy_n(hello.begin(), std::min(words.size(), random() % kHelloBytes), words.begin());
    knock(words);
    if (round % 20 == 0) {
      talk(2);
      strangers_.clear();
    }
  }
  talk(5);
}

// Whoever has the token and then sends garbage loses the connection; the endpoint lives.
TEST_F(TcpStrangers, GarbageBehindARightHelloBreaksOnlyThatConnection) {
  const auto behind_hello = [](const FrameHeader& header) {
    std::vector<std::byte> words = bytes_of(encode(right_hello()));
    const HeaderBytes raw = encode(header);
    words.insert(words.end(), raw.begin(), raw.end());
    return words;
  };
  const std::vector<FrameHeader> wrong = {
      {.kind = FrameKind::message, .bytes = (64 << 10) + 1},
      {.kind = FrameKind::message, .bytes = 0, .number = 1},
      {.kind = FrameKind::credits, .taken = {1, 0}},
      {.kind = static_cast<FrameKind>(9)},
      {.kind = FrameKind::message, .traffic = 2},
  };
  for (const FrameHeader& header : wrong) {
    knock(behind_hello(header));
    const auto is_over = [&] {
      std::array<std::byte, 100> answer{};
      return receive_some(strangers_.back().get(), answer).outcome == SocketTransfer::Outcome::closed;
    };
    ASSERT_TRUE(until(is_over, [&] { step(); }));
  }
  talk(10);
}

}  // namespace
}  // namespace tutti::transport::tcp
