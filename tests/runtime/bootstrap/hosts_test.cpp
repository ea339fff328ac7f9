// SPDX-License-Identifier: Apache-2.0
// join() of ranks on several hosts, with threads that say they are.
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../ranks.hpp"
#include "runtime/bootstrap/bootstrap.hpp"

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
