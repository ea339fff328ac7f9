// SPDX-License-Identifier: Apache-2.0
// Which ranks run on which hosts.
#include "launch/hosts.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

std::string text_of(const Result<std::vector<HostRanks>>& placed) {
  if (!placed.ok()) return placed.status().to_string();
  std::string text;
  for (const HostRanks& each : *placed) {
    text += fmt::format("{}{}:{}+{}/{}@{}", text.empty() ? "" : " ", each.host, each.ranks.first, each.ranks.count,
                        each.ranks.total, each.ranks.first_place);
  }
  return text;
}

std::string placed(std::string_view hosts, std::optional<int> num_ranks = {}) {
  return text_of(place_ranks(hosts, num_ranks));
}

std::string of_file(std::string_view text, std::optional<int> num_ranks = {}) {
  return text_of(place_ranks_of_file(text, "hosts.txt", num_ranks));
}

TEST(Hosts, NumberRanksInOrder) {
  EXPECT_EQ(placed("a:2,b:1"), "a:0+2/3@0 b:2+1/3@0");
  EXPECT_EQ(placed("a"), "a:0+1/1@0");
  EXPECT_EQ(placed("user@a.example, [fd00::1]:2"), "user@a.example:0+1/3@0 fd00::1:1+2/3@0");
}

TEST(Hosts, AHostThatIsNamedAgainGoesOnWithItsCores) {
  EXPECT_EQ(placed("a:2,b:1,a:1"), "a:0+2/4@0 b:2+1/4@0 a:3+1/4@2");
}

TEST(Hosts, RanksAreSpreadInBlocksWhereNoHostHasANumber) {
  EXPECT_EQ(placed("a,b", 4), "a:0+2/4@0 b:2+2/4@0");
  EXPECT_EQ(placed("a,b,c", 5), "a:0+2/5@0 b:2+2/5@0 c:4+1/5@0");
  EXPECT_EQ(placed("a,b,c", 2), "a:0+1/2@0 b:1+1/2@0");
}

TEST(Hosts, NumbersArePlacesForNRanks) {
  EXPECT_EQ(placed("a:2,b:2", 3), "a:0+2/3@0 b:2+1/3@0");
  EXPECT_EQ(placed("a:2,b:2", 2), "a:0+2/2@0");
  EXPECT_EQ(placed("a:2,b", 3), "a:0+2/3@0 b:2+1/3@0");
  EXPECT_EQ(placed("a:2,b", 4), "--hosts: -n is 4, and --hosts has places for 3");
}

TEST(Hosts, AFileHasAHostALine) {
  EXPECT_EQ(of_file("# mine\n a slots=2 # two\n\nb:1\r\n[::1] slots=1\nc"),
            "a:0+2/5@0 b:2+1/5@0 ::1:3+1/5@0 c:4+1/5@0");
  EXPECT_EQ(of_file("a\nb\n", 4), "a:0+2/4@0 b:2+2/4@0");
  EXPECT_EQ(of_file("a\nb cores=2\n"), "hosts.txt:2: found 'cores=2' behind the host, expected slots=N");
  EXPECT_EQ(of_file("a:2 slots=2\n"), "hosts.txt:1: 'a:2 slots=2' has its number of ranks twice");
  EXPECT_EQ(of_file("# none\n"), "hosts.txt: it names no host");
  EXPECT_EQ(of_file("a slots=0\n"), "hosts.txt:1: 'a slots=0' has '0' ranks; a host has 1 to 1024");
}

// One that begins with a hyphen would be an option of the agent.
TEST(Hosts, WhatIsNoHostIsRefused) {
  for (const char* wrong : {"", "a,,b", "-oProxyCommand=x", "a b", "fd00::1", "[fd00::1", "[]:2", ":2", "a\n"}) {
    EXPECT_FALSE(place_ranks(wrong, {}).ok()) << wrong;
  }
  EXPECT_EQ(placed("a:x"), "--hosts: 'a:x' has 'x' ranks; a host has 1 to 1024");
  EXPECT_EQ(placed("a:1025"), "--hosts: 'a:1025' has '1025' ranks; a host has 1 to 1024");
  EXPECT_EQ(placed("a:1024,b,a:1"), "--hosts: host 'a' has 1025 ranks in all; a host has at most 1024");
  std::string many = "h0:1024";
  for (int host = 1; host < 65; ++host) many += fmt::format(",h{}:1024", host);
  EXPECT_EQ(placed(many), "--hosts: it has places for 66560 ranks; 65536 are the most");
  EXPECT_EQ(placed("fd00::1"),
            "--hosts: 'fd00::1' is not a host; write HOST or HOST:RANKS, and IPv6 addresses in brackets, such as "
            "[fd00::1]:2");
}

TEST(Hosts, ListsOfHostsAreShort) {
  EXPECT_EQ(host_list({"a"}), "a");
  EXPECT_EQ(host_list({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(host_list({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d and 3 more");
}

}  // namespace
}  // namespace tutti::launch
