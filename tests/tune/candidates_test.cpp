// SPDX-License-Identifier: Apache-2.0
// What there is to try.
#include "tune/candidates.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::tune {
namespace {

std::vector<std::string> names_of(const std::vector<TableWay>& ways) {
  std::vector<std::string> names;
  for (const TableWay& way : ways) names.push_back(way.to_string());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Candidates, BeginWithWhatHappensUntuned) {
  const Candidates candidates = own_candidates(Collective::all_reduce, {.ranks = 4, .cores = 2});
  EXPECT_EQ(candidates.first.front(), TableWay());
  const std::vector<std::string> names = names_of(candidates.first);
  EXPECT_TRUE(has(names, "one_shot"));
  EXPECT_TRUE(has(names, "two_shot_few(2)"));
  EXPECT_TRUE(has(names, "ring"));
  EXPECT_FALSE(has(names, "multicast_one_shot"));
}

TEST(Candidates, OfEqualSchedulesThereIsOne) {
  const std::vector<std::string> names =
      names_of(own_candidates(Collective::all_reduce, {.ranks = 2, .cores = 2}).first);
  // With two ranks this is recursive doubling.
  EXPECT_TRUE(has(names, "recursive_doubling"));
  EXPECT_FALSE(has(names, "recursive_multiplying(2)"));
}

TEST(Candidates, BetweenHostsSendMessages) {
  const Candidates candidates = own_candidates(Collective::all_reduce, {.ranks = 4, .ranks_of_hosts = {1, 3}});
  const std::vector<std::string> names = names_of(candidates.first);
  EXPECT_TRUE(has(names, "ring"));
  EXPECT_TRUE(has(names, "hierarchical(1+3, ring)"));
  EXPECT_TRUE(has(names, "hierarchical(1+3, recursive_doubling)"));
  EXPECT_FALSE(has(names, "one_shot"));
  EXPECT_FALSE(has(names, "two_shot"));
  // Rounds and copies are of memory that all share.
  EXPECT_FALSE(candidates.neighbours);
}

TEST(Candidates, KeepTheOrderClass) {
  const std::vector<std::string> names =
      names_of(own_candidates(Collective::all_reduce, {.ranks = 4, .order = OrderClass::rank_order}).first);
  EXPECT_TRUE(has(names, "one_shot"));
  EXPECT_TRUE(has(names, "recursive_doubling"));
  EXPECT_FALSE(has(names, "ring"));
}

TEST(Candidates, NeighboursDifferInRoundOrInCopiesAndStores) {
  const Candidates candidates = own_candidates(Collective::all_reduce, {.ranks = 2});
  const TableWay one_shot{.algorithm = "one_shot", .tuning = {}, .settings = {}};
  EXPECT_TRUE(candidates.neighbours(one_shot, 8).empty());
  const std::vector<std::string> names = names_of(candidates.neighbours(one_shot, 1 << 20));
  EXPECT_TRUE(has(names, "one_shot [copies=attached, stores=cached]"));
  EXPECT_TRUE(has(names, "one_shot [copies=staged, stores=streamed]"));
  EXPECT_TRUE(has(names, "one_shot [round=128K]"));
  // Stores make a difference only where outputs are larger than what caches are for.
  EXPECT_EQ(names_of(candidates.neighbours(one_shot, 8192)),
            (std::vector<std::string>{"one_shot [copies=staged]", "one_shot [copies=attached]"}));
  // Messages have no staging slots.
  EXPECT_TRUE(candidates.neighbours({.algorithm = "ring", .tuning = {}, .settings = {}}, 1 << 20).empty());
  EXPECT_TRUE(candidates.neighbours(TableWay(), 1 << 20).empty());
}

TEST(Candidates, KnobsOfPeersChangeOneAfterAnother) {
  const Candidates candidates =
      peer_candidates({"ring", "linear"}, {{.name = "SEGMENT", .values = {"1", "2"}, .algorithms = {"ring"}},
                                           {.name = "FAN", .values = {"4"}, .algorithms = {}, .least_bytes = 100}});
  const TableWay ring{.algorithm = "ring", .tuning = {}, .settings = {}};
  EXPECT_EQ(names_of(candidates.neighbours(ring, 10)),
            (std::vector<std::string>{"ring [SEGMENT=1]", "ring [SEGMENT=2]"}));
  const TableWay second{.algorithm = "ring", .tuning = {}, .settings = {{"SEGMENT", "2"}}};
  EXPECT_EQ(names_of(candidates.neighbours(second, 100)),
            (std::vector<std::string>{"ring [SEGMENT=1]", "ring [FAN=4, SEGMENT=2]"}));
  EXPECT_EQ(names_of(candidates.neighbours({.algorithm = "linear", .tuning = {}, .settings = {}}, 100)),
            (std::vector<std::string>{"linear [FAN=4]"}));
}

}  // namespace
}  // namespace tutti::tune
