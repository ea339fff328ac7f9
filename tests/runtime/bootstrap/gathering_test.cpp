// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/gathering.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/bootstrap/waiting_tree.hpp"

namespace tutti {
namespace {

wire::Hello hello_of(int rank, int num_ranks) {
  wire::Hello hello;
  hello.rank = rank;
  hello.num_ranks = num_ranks;
  hello.pid = 100 + rank;
  hello.host = {.name = "box", .boot = "boot-1", .network = "net:[1]"};
  if (rank == 0) hello.leader_socket = "leader";
  return hello;
}

std::vector<pid_t> pids_of(const wire::Table& table) {
  std::vector<pid_t> pids;
  for (const wire::TableRow& row : table.ranks) pids.push_back(row.pid);
  return pids;
}

// The words with which a second rank is refused.
std::string refusal(const wire::Hello& first, const wire::Hello& second) {
  Gathering gathering;
  EXPECT_TRUE(gathering.admit(first).ok());
  const Status status = gathering.admit(second);
  EXPECT_FALSE(status.ok());
  return status.to_string();
}

TEST(Gathering, CompletesInAnyOrder) {
  Gathering gathering;
  for (const int rank : {2, 0, 1}) {
    EXPECT_FALSE(gathering.all_arrived());
    ASSERT_TRUE(gathering.admit(hello_of(rank, 3)).ok());
  }
  EXPECT_TRUE(gathering.all_arrived());
  EXPECT_EQ(gathering.table().ranks[0].leader_socket, "leader");
  EXPECT_EQ(pids_of(gathering.table()), (std::vector<pid_t>{100, 101, 102}));
  gathering.mark_ready(0);
  gathering.mark_ready(0);
  gathering.mark_ready(1);
  EXPECT_FALSE(gathering.all_ready());
  gathering.mark_ready(2);
  EXPECT_TRUE(gathering.all_ready());
}

// A number of another namespace may be that of a stranger here, who may be stopped.
TEST(Gathering, TellsNoProcessNumbersAcrossNamespaces) {
  Gathering gathering;
  wire::Hello boxed = hello_of(1, 2);
  boxed.host.processes = "pid:[2]";
  ASSERT_TRUE(gathering.admit(hello_of(0, 2)).ok());
  ASSERT_TRUE(gathering.admit(boxed).ok());
  EXPECT_EQ(pids_of(gathering.table()), (std::vector<pid_t>{0, 0}));
}

TEST(Gathering, SaysWhoIsMissing) {
  Gathering gathering;
  ASSERT_TRUE(gathering.admit(hello_of(0, 3)).ok());
  EXPECT_EQ(gathering.progress(), "ranks 1 and 2 of 3 have not arrived");
  ASSERT_TRUE(gathering.admit(hello_of(2, 3)).ok());
  EXPECT_EQ(gathering.progress(), "rank 1 of 3 has not arrived");
  ASSERT_TRUE(gathering.admit(hello_of(1, 3)).ok());
  gathering.mark_ready(1);
  EXPECT_EQ(gathering.progress(), "ranks 0 and 2 of 3 have arrived but are not connected yet");
}

TEST(Gathering, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal(hello_of(1, 4), hello_of(1, 4)), "two processes join as rank 1: 101 and 101");
  EXPECT_EQ(refusal(hello_of(0, 4), hello_of(2, 5)), "rank 0 says that there are 4 ranks, and rank 2 says 5");
  EXPECT_EQ(refusal(hello_of(0, 4), hello_of(4, 4)), "a process joins as rank 4; of 4 ranks the last is 3");
  Gathering gathering;
  EXPECT_FALSE(gathering.admit(hello_of(0, 0)).ok());
  EXPECT_FALSE(Gathering().admit(hello_of(0, 1'000'000)).ok());
}

TEST(Gathering, RefusesAnotherVersion) {
  wire::Hello other = hello_of(1, 2);
  other.version = wire::kVersion + 1;
  EXPECT_NE(refusal(hello_of(0, 2), other).find("rank 1 has another version"), std::string::npos);
}

TEST(Gathering, RefusesOtherHostsWithoutAnAddressByName) {
  wire::Hello elsewhere = hello_of(1, 2);
  elsewhere.host = {.name = "attic", .boot = "boot-2", .network = "net:[1]"};
  const std::string words = refusal(hello_of(0, 2), elsewhere);
  EXPECT_NE(words.find("rank 0 (process 100) runs on host 'box'"), std::string::npos) << words;
  EXPECT_NE(words.find("rank 1 (process 101) on host 'attic'"), std::string::npos) << words;
}

// Hosts differ in the boot of their kernel, in the network namespace, or in what the user calls them.
TEST(Gathering, NumbersHostsByTheirFirstRanks) {
  Gathering gathering;
  for (int rank = 0; rank < 6; ++rank) {
    wire::Hello hello = hello_of(rank, 6);
    hello.addresses = {Address{.port = static_cast<std::uint16_t>(4000 + rank)}};
    hello.leader_socket = fmt::format("leader-{}", rank);
    if (rank == 1) hello.host.boot = "boot-2";
    if (rank == 3) hello.host.network = "net:[2]";
    if (rank == 4) hello.host.id = "mine";
    if (rank == 5) hello.host.boot = "boot-2";
    // Of the first host alone.
    if (rank == 2) hello.host.processes = "pid:[2]";
    // Of what was split.
    if (rank == 4) hello.turn = 7;
    ASSERT_TRUE(gathering.admit(hello).ok()) << rank;
  }
  const wire::Table table = gathering.table();
  std::vector<std::uint32_t> hosts;
  std::vector<std::string> leaders;
  std::vector<std::uint32_t> turns;
  for (const wire::TableRow& row : table.ranks) {
    hosts.push_back(row.host);
    leaders.push_back(row.leader_socket);
    turns.push_back(row.turn);
    EXPECT_EQ(row.addresses.size(), 1U);
  }
  EXPECT_EQ(hosts, (std::vector<std::uint32_t>{0, 1, 0, 2, 3, 1}));
  EXPECT_EQ(turns, (std::vector<std::uint32_t>{0, 0, 1, 0, 7, 1}));
  EXPECT_EQ(leaders, (std::vector<std::string>{"leader-0", "leader-1", "", "leader-3", "leader-4", ""}));
  EXPECT_EQ(pids_of(table), (std::vector<pid_t>{0, 101, 0, 103, 104, 105}));
}

TEST(Gathering, SaysWhichVariableDiffersWhere) {
  wire::Hello with = hello_of(0, 3);
  with.configuration = "TUTTI_SPIN=1us\nTUTTI_TIMEOUT=5s\n";
  wire::Hello without = hello_of(2, 3);
  without.configuration = "TUTTI_SPIN=1us\n";
  const std::string expected = "all ranks must be configured alike: TUTTI_TIMEOUT is 5s on rank 0 and unset on rank 2";
  EXPECT_EQ(refusal(with, without), expected);
  EXPECT_EQ(refusal(without, with), expected);
}

TEST(WaitingTree, NobodyServesMoreThanAFew) {
  WaitingTree tree;
  std::map<int, std::size_t> served;
  std::size_t direct = 0;
  for (int rank = 999; rank >= 0; --rank) {
    wire::Hello hello = hello_of(rank, 1000);
    hello.generation = 6;
    hello.addresses = {Address{}};
    const wire::Place place = tree.place(hello);
    EXPECT_EQ(place.generation, 6U);
    if (place.addresses.empty()) {
      ++direct;
      continue;
    }
    EXPECT_GT(place.rank, rank) << "it has arrived before";
    EXPECT_EQ(tree.parent_of(rank), place.rank);
    EXPECT_LE(++served[place.rank], kFanOut);
  }
  EXPECT_EQ(direct, kFanOut);
}

TEST(WaitingTree, SaysWhoIsOnTheWay) {
  WaitingTree tree;
  for (int rank = 0; rank < 11; ++rank) {
    wire::Hello hello = hello_of(rank, 100);
    hello.addresses = {Address{}};
    static_cast<void>(tree.place(hello));
  }
  EXPECT_FALSE(tree.have_all_attached());
  EXPECT_EQ(tree.progress(), "rank 8 has not come to rank 0 yet, at which it is to wait, nor have 2 more to theirs");
  EXPECT_FALSE(tree.note_attached(3)) << "it waits at the rendezvous";
  EXPECT_TRUE(tree.note_attached(8));
  EXPECT_FALSE(tree.note_attached(8)) << "it was there already";
  EXPECT_TRUE(tree.note_attached(10));
  EXPECT_EQ(tree.num_attached(), 2);
  EXPECT_EQ(tree.progress(), "rank 9 has not come to rank 0 yet, at which it is to wait");
  EXPECT_TRUE(tree.note_attached(9));
  EXPECT_TRUE(tree.have_all_attached());
  tree.forget(9);
  EXPECT_EQ(tree.num_attached(), 2);
  EXPECT_FALSE(tree.parent_of(9));
}

TEST(Gathering, KnowsWhoComesBack) {
  Gathering gathering;
  wire::Hello hello = hello_of(1, 40);
  hello.leader_socket = "one";
  ASSERT_TRUE(gathering.admit(hello).ok());
  EXPECT_TRUE(gathering.has(hello));
  hello.leader_socket = "another, of a container with the same process number";
  EXPECT_FALSE(gathering.has(hello));
}

TEST(WaitingTree, OfFewAllWaitAtTheRendezvous) {
  WaitingTree tree;
  for (int rank = 0; rank < kMostAtRendezvous; ++rank) {
    wire::Hello hello = hello_of(rank, kMostAtRendezvous);
    hello.addresses = {Address{}};
    EXPECT_TRUE(tree.place(hello).addresses.empty());
  }
}

TEST(Gathering, RefusesTooManyRanksOnAHost) {
  Gathering gathering;
  const int many = 1025;
  for (int rank = 0; rank < many; ++rank) ASSERT_TRUE(gathering.admit(hello_of(rank, many)).ok());
  EXPECT_EQ(gathering.check_hosts().message(), "more than 1024 ranks are on host 'box'");
}

TEST(ConfigurationDifference, ListsSeveralAndCountsTheRest) {
  EXPECT_EQ(configuration_difference({0, "A=1\nB=2"}, {1, "B=2\nA=1\n"}), "");
  EXPECT_EQ(configuration_difference({0, "A=1\nB=\n"}, {3, "A=2\nB=x\n"}),
            "A is 1 on rank 0 and 2 on rank 3; B is empty on rank 0 and x on rank 3");
  EXPECT_EQ(configuration_difference({0, "A=1\nB=1\nC=1\nD=1\nE=1\nF=1"}, {1, ""}),
            "A is 1 on rank 0 and unset on rank 1; B is 1 on rank 0 and unset on rank 1; "
            "C is 1 on rank 0 and unset on rank 1; D is 1 on rank 0 and unset on rank 1; and 2 more differ");
}

TEST(RankList, ReadsWell) {
  EXPECT_EQ(rank_list({3}), "rank 3");
  EXPECT_EQ(rank_list({3, 4}), "ranks 3 and 4");
  EXPECT_EQ(rank_list({0, 1, 2, 3, 7}), "ranks 0-3 and 7");
  EXPECT_EQ(rank_list({0, 2, 4, 6, 8, 10, 12, 14, 16, 18}), "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 2 more");
}

}  // namespace
}  // namespace tutti
