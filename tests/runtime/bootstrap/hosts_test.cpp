// SPDX-License-Identifier: Apache-2.0
// join() of ranks on several hosts, with threads that say they are.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../ranks.hpp"
#include "base/system/host.hpp"
#include "base/system/socket.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/bootstrap/waiting_tree.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {
namespace {

using test::on_threads;
using test::patient;
using test::request_of;
using test::start_server_on_network;

// Ranks 1 and 2 are on one host, 0, 3 and 4 each on another.
TEST(BootstrapOverHosts, RanksOfSeveralHostsMeet) {
  const auto server = start_server_on_network();
  auto joined = on_threads(5, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 5);
    request.host_id = rank == 1 || rank == 2 ? "one" : fmt::format("host-{}", rank);
    return join(request, patient());
  });
  for (const auto& one : joined) ASSERT_TRUE(one->ok()) << one->status().to_string();
  const auto of = [&](std::size_t rank) -> const Membership& { return **joined[rank]; };
  std::set<std::uint16_t> ports;
  for (std::size_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(of(rank).host_of, (std::vector<std::uint32_t>{0, 1, 1, 2, 3}));
    ASSERT_EQ(of(rank).addresses.size(), 5U);
    ASSERT_EQ(of(rank).listeners.size(), 1U);
    EXPECT_EQ(of(rank).addresses[rank].front(), of(rank).listeners.front().address);
    EXPECT_EQ(of(rank).addresses, of(0).addresses);
    ports.insert(of(rank).listeners.front().address.port);
  }
  EXPECT_EQ(ports.size(), 5U);
  // One region a host, and a tree of links.
  struct stat first {};
  struct stat second {};
  struct stat other {};
  ASSERT_EQ(fstat(of(1).region.get(), &first), 0);
  ASSERT_EQ(fstat(of(2).region.get(), &second), 0);
  ASSERT_EQ(fstat(of(0).region.get(), &other), 0);
  EXPECT_EQ(first.st_ino, second.st_ino);
  EXPECT_NE(first.st_ino, other.st_ino);
  const auto peers_of = [&](std::size_t rank) {
    std::vector<int> peers;
    for (const RankLink& link : of(rank).links.peers) peers.push_back(link.is_parent ? -1 - link.rank : link.rank);
    return peers;
  };
  EXPECT_EQ(peers_of(0), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(peers_of(1), (std::vector<int>{2, -1}));
  EXPECT_EQ(peers_of(2), (std::vector<int>{-2}));
  EXPECT_EQ(peers_of(4), (std::vector<int>{-1}));
}

// For many ranks in one process.
void allow_many_descriptors() {
  rlimit descriptors{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
}

// Most of them at other ranks.
TEST(BootstrapOverHosts, ManyRanksMeet) {
  constexpr int kRanks = 256;
  allow_many_descriptors();
  const auto server = start_server_on_network();
  for (const int ranks_a_host : {1, 4}) {
    SCOPED_TRACE(ranks_a_host);
    auto joined = on_threads(kRanks, [&](int rank) {
      JoinRequest request = request_of(server->id(), rank, kRanks);
      Attempt attempt{.generation = static_cast<std::uint64_t>(ranks_a_host)};
      request.attempt = &attempt;
      request.host_id = fmt::format("host-{}", rank / ranks_a_host);
      return join(request, patient());
    });
    for (const auto& one : joined) ASSERT_TRUE(one->ok()) << one->status().to_string();
    std::vector<int> parents(kRanks, -1);
    for (int rank = 0; rank < kRanks; ++rank) {
      const Membership& member = **joined[static_cast<std::size_t>(rank)];
      EXPECT_EQ(member.host_of[kRanks - 1], static_cast<std::uint32_t>((kRanks - 1) / ranks_a_host));
      EXPECT_EQ(member.addresses.size(), static_cast<std::size_t>(kRanks));
      std::size_t far = 0;
      for (const RankLink& link : member.links.peers) {
        far += link.is_far && !link.is_parent ? 1 : 0;
        if (link.is_parent) parents[static_cast<std::size_t>(rank)] = link.rank;
      }
      EXPECT_LE(far, kFanOut);
    }
    // A tree: from each rank the way up ends at rank 0.
    for (int rank = 1; rank < kRanks; ++rank) EXPECT_LT(parents[static_cast<std::size_t>(rank)], rank);
    EXPECT_EQ(std::count(parents.begin() + 1, parents.end(), -1), 0);
  }
}

TEST(BootstrapOverHosts, ManyRanksHearWhyOneCouldNotJoin) {
  constexpr int kRanks = 100;
  const auto server = start_server_on_network();
  for (const bool has_met : {false, true}) {
    SCOPED_TRACE(has_met);
    auto joined = on_threads(kRanks, [&](int rank) {
      JoinRequest request = request_of(server->id(), rank, kRanks);
      Attempt attempt{.generation = has_met ? 1U : 0U};
      request.attempt = &attempt;
      request.host_id = fmt::format("host-{}", rank);
      const Status why(Code::system, "of no consequence");
      if (rank == 57 && !has_met) request.refusal = why;
      if (rank == 57 && has_met) request.prepare = [&](Membership&) { return why; };
      return join(request, patient());
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const Status status = joined[static_cast<std::size_t>(rank)]->status();
      ASSERT_FALSE(status.ok()) << rank;
      if (rank == 57) continue;
      EXPECT_EQ(status.rank(), 57) << rank << ": " << status.to_string();
      EXPECT_EQ(status.to_string(), fmt::format("rank 57 {}: of no consequence", has_met ? "gave up" : "cannot join"));
    }
  }
}

JoinRequest request_of_host(const UniqueId& id, int rank, int num_ranks) {
  JoinRequest request = request_of(id, rank, num_ranks);
  request.host_id = fmt::format("host-{}", rank);
  return request;
}

// Says hello as that rank, and nothing else.
UniqueFd say_hello_as(const UniqueId& id, int rank, int num_ranks, const Address& address) {
  wire::Hello hello;
  hello.rank = rank;
  hello.num_ranks = num_ranks;
  hello.pid = 4321;
  hello.host = this_host(fmt::format("host-{}", rank)).value();
  hello.addresses = {address};
  Result<UniqueFd> socket = begin_connect(id.address());
  EXPECT_TRUE(socket.ok());
  pollfd fd{socket->get(), POLLOUT, 0};
  EXPECT_EQ(poll(&fd, 1, 5000), 1);
  const std::vector<std::byte> words = wire::encode(hello, id.token());
  EXPECT_EQ(send_some(socket->get(), words).bytes, words.size());
  return std::move(*socket);
}

void wait_for_arrivals(const RendezvousServer& server, std::uint64_t wanted) {
  const auto until = Clock::now() + test::kPatience;
  while (server.arrived() < wanted && Clock::now() < until) std::this_thread::yield();
  ASSERT_EQ(server.arrived(), wanted);
}

Listener listen_here() {
  Address loopback;
  loopback.bytes = {127, 0, 0, 1};
  Result<Listener> listener = listen_at(loopback);
  EXPECT_TRUE(listener.ok());
  return std::move(*listener);
}

// What rank 1 of three says where the rendezvous answers its hello with these tables.
Status said_to(const std::vector<wire::Table>& tables, std::size_t num_bytes_left_out = 0) {
  const Listener listener = listen_here();
  const UniqueId id = UniqueId::make(listener.address).value();
  std::thread rendezvous([&] {
    pollfd fd{listener.socket.get(), POLLIN, 0};
    if (poll(&fd, 1, 5000) != 1) return;
    const UniqueFd rank = std::move(accept_from(listener.socket.get()).value());
    // At once, so that it reads all before it goes on.
    std::vector<std::byte> all;
    for (const wire::Table& table : tables) {
      std::vector<std::byte> bytes = wire::encode(table);
      // The frame is whole, and its body is not.
      bytes.resize(bytes.size() - num_bytes_left_out);
      bytes[1] = static_cast<std::byte>(std::to_integer<std::size_t>(bytes[1]) - num_bytes_left_out);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    EXPECT_EQ(send_some(rank.get(), all).bytes, all.size());
    // Until the rank hangs up.
    std::array<std::byte, 4096> heard{};
    fd.fd = rank.get();
    while (poll(&fd, 1, 5000) == 1 && receive_some(rank.get(), heard).outcome != SocketTransfer::Outcome::closed)
      continue;
  });
  JoinRequest request = request_of_host(id, 1, 3);
  JoinOptions options = patient();
  options.explanation = std::chrono::milliseconds(1);
  const Result<Membership> joined = join(request, options);
  rendezvous.join();
  return joined.status();
}

TEST(BootstrapOverHosts, TablesThatCannotBeAreRefused) {
  const auto row = [](std::uint32_t host) {
    return wire::TableRow{.host = host, .leader_socket = "tutti-x", .addresses = {Address{.bytes = {127, 0, 0, 1}}}};
  };
  const auto words = [](const Status& status) { return status.to_string(); };
  const auto has = [](const std::string& all, std::string_view part) { return all.find(part) != std::string::npos; };
  const wire::Table right{.generation = 0, .ranks = {row(0), row(1), row(2)}};
  EXPECT_PRED2(has, words(said_to({{.generation = 0, .ranks = {row(0), row(1)}}})), "another number of ranks");
  EXPECT_PRED2(has, words(said_to({{.generation = 0, .ranks = {row(0), row(2), row(1)}}})), "out of order");
  wire::Table lacks_addresses = right;
  lacks_addresses.ranks[2].addresses.clear();
  EXPECT_PRED2(has, words(said_to({lacks_addresses})), "without addresses");
  EXPECT_PRED2(has, words(said_to({right}, 3)), "malformed table");
  EXPECT_PRED2(has, words(said_to({right, right})), "spoke out of turn");
}

// Whoever's patience ends first, and wherever it waits.
TEST(BootstrapOverHosts, ManyRanksHearWhoIsMissingAtATimeout) {
  constexpr int kRanks = 100;
  const auto server = start_server_on_network();
  auto joined = on_threads(kRanks - 1, [&](int thread) {
    JoinOptions options;
    options.timeout = Nanos(5'000'000'000);
    return join(request_of_host(server->id(), thread < 57 ? thread : thread + 1, kRanks), options);
  });
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_EQ(one->status().code(), Code::timeout) << one->status().to_string();
    EXPECT_NE(one->status().to_string().find("rank 57 of 100 has not arrived"), std::string::npos)
        << one->status().to_string();
  }
}

TEST(BootstrapOverHosts, ManyRanksHearThatTheRendezvousHasEnded) {
  constexpr int kRanks = 100;
  auto server = start_server_on_network();
  const UniqueId id = server->id();
  std::vector<std::optional<Result<Membership>>> joined;
  std::thread ranks([&] {
    joined = on_threads(kRanks - 1, [&](int rank) { return join(request_of_host(id, rank, kRanks), patient()); });
  });
  wait_for_arrivals(*server, kRanks - 1);
  server.reset();
  ranks.join();
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_NE(one->status().to_string().find("hung up before all ranks were there"), std::string::npos)
        << one->status().to_string();
  }
}

// Others are sent to rank 0, where nobody listens.
TEST(BootstrapOverHosts, ARankThatCannotBeReachedIsNotCalledEnded) {
  constexpr int kRanks = 40;
  const auto server = start_server_on_network();
  Listener closed = listen_here();
  closed.socket.reset();
  const UniqueFd rank_0 = say_hello_as(server->id(), 0, kRanks, closed.address);
  wait_for_arrivals(*server, 1);
  auto joined = on_threads(
      kRanks - 1, [&](int thread) { return join(request_of_host(server->id(), thread + 1, kRanks), patient()); });
  const std::string expected = fmt::format("cannot reach rank 0 at {}: ", to_text(closed.address));
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_NE(one->status().to_string().find(expected), std::string::npos) << one->status().to_string();
  }
}

// Others are sent to rank 0, which does not answer.
TEST(BootstrapOverHosts, AStoppedRankIsWaitedForAndNamedAtATimeout) {
  constexpr int kRanks = 40;
  const auto server = start_server_on_network();
  const Listener silent = listen_here();
  const UniqueFd rank_0 = say_hello_as(server->id(), 0, kRanks, silent.address);
  wait_for_arrivals(*server, 1);
  auto joined = on_threads(kRanks - 1, [&](int thread) {
    JoinOptions options;
    options.timeout = Nanos(5'000'000'000);
    return join(request_of_host(server->id(), thread + 1, kRanks), options);
  });
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_EQ(one->status().code(), Code::timeout) << one->status().to_string();
    EXPECT_NE(one->status().to_string().find("has not come to rank 0 yet, at which it is to wait"), std::string::npos)
        << one->status().to_string();
  }
}

// It is sent on, and ends before it comes there.
TEST(BootstrapOverHosts, ARankThatEndsOnItsWayIsNamed) {
  constexpr int kRanks = 40;
  const auto server = start_server_on_network();
  std::vector<std::optional<Result<Membership>>> joined;
  std::thread ranks([&] {
    joined =
        on_threads(kRanks - 1, [&](int rank) { return join(request_of_host(server->id(), rank, kRanks), patient()); });
  });
  wait_for_arrivals(*server, kRanks - 1);
  {
    const UniqueFd last = say_hello_as(server->id(), kRanks - 1, kRanks, server->id().address());
    pollfd fd{last.get(), POLLIN, 0};
    EXPECT_EQ(poll(&fd, 1, 20'000), 1) << "it is not told where to wait";
  }
  ranks.join();
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_EQ(one->status().to_string(), "rank 39 (process 4321) ended before the communicator was complete");
  }
}

// Their programs try again, and do not know whether the others' attempt failed too.
TEST(BootstrapOverHosts, ManyUnsureRanksWaitAtOthersToo) {
  constexpr int kRanks = 40;
  const auto server = start_server_on_network();
  for (const bool fails : {true, false}) {
    auto joined = on_threads(kRanks, [&](int rank) {
      JoinRequest request = request_of_host(server->id(), rank, kRanks);
      Attempt attempt{.generation = 0, .is_unsure = !fails};
      request.attempt = &attempt;
      if (fails && rank == 3) request.refusal = Status(Code::system, "of no consequence");
      Result<Membership> outcome = join(request, patient());
      EXPECT_EQ(attempt.generation, fails ? 1U : 2U) << rank;
      return outcome;
    });
    for (const auto& one : joined) {
      EXPECT_EQ(one->ok(), !fails) << one->status().to_string();
      EXPECT_EQ(one->ok() ? (*one)->generation : 1U, 1U);
    }
  }
}

// Crowds of them, which say nothing, a wrong token or half of one, while ranks come and wait.
TEST(BootstrapOverHosts, StrangersAtWaitingRanksEndNothing) {
  constexpr int kRanks = 64;
  allow_many_descriptors();
  const auto server = start_server_on_network();
  std::mutex mutex;
  std::vector<Address> ports;
  std::atomic<bool> is_over = false;
  std::atomic<int> num_crowds = 0;
  std::thread strangers([&] {
    for (std::size_t turn = 0; !is_over.load(); ++turn) {
      Address port;
      {
        const std::lock_guard lock(mutex);
        if (!ports.empty()) port = ports[turn % ports.size()];
      }
      if (port.port == 0) {
        std::this_thread::yield();
        continue;
      }
      std::vector<UniqueFd> crowd;
      for (std::size_t i = 0; i < 150; ++i) {
        Result<UniqueFd> one = begin_connect(port);
        if (!one.ok()) break;
        const std::vector<std::byte> words(i % 3 == 0 ? 0 : i % 3 == 1 ? wire::kFetchBytes : wire::kFetchBytes / 2);
        static_cast<void>(send_some(one->get(), words));
        crowd.push_back(std::move(*one));
      }
      ++num_crowds;
    }
  });
  auto joined = on_threads(kRanks, [&](int rank) {
    JoinRequest request = request_of_host(server->id(), rank, kRanks);
    request.open_transport = [&](const Address& own) -> Result<std::string> {
      const std::lock_guard lock(mutex);
      ports.push_back(own);
      return std::string("none");
    };
    // The last comes when each port has had its crowds.
    const auto until = Clock::now() + test::kPatience;
    while (rank == kRanks - 1 && num_crowds.load() < 2 * kRanks && Clock::now() < until) std::this_thread::yield();
    return join(request, patient());
  });
  is_over = true;
  strangers.join();
  for (const auto& one : joined) ASSERT_TRUE(one->ok()) << one->status().to_string();
}

TEST(BootstrapOverHosts, WithoutOtherHostsNobodyListens) {
  const auto server = start_server_on_network();
  auto joined = on_threads(3, [&](int rank) { return join(request_of(server->id(), rank, 3), patient()); });
  for (const auto& one : joined) {
    ASSERT_TRUE(one->ok()) << one->status().to_string();
    EXPECT_TRUE((*one)->listeners.empty());
    EXPECT_TRUE((*one)->addresses.empty());
  }
}

}  // namespace
}  // namespace tutti
