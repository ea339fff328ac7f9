// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/algorithm_axis.hpp"

#include <gtest/gtest.h>

#include "bench/axes/case.hpp"
#include "bench/results/comparison.hpp"

namespace tutti::harness {
namespace {

const std::vector<ForcedAlgorithm> kKnown = {
    {.name = "ring", .settings = {{"ALGORITHM", "1"}}},
    {.name = "pairs", .settings = {{"ALGORITHM", "2"}}, .ranks = RanksAllowed::two}};

std::string names_of(const std::vector<ForcedAlgorithm>& algorithms) {
  std::string names;
  for (const ForcedAlgorithm& each : algorithms) names += each.name + " ";
  return names;
}

std::string names(const std::vector<std::string>& words, const std::vector<ForcedAlgorithm>& known = kKnown) {
  return names_of(chosen(words, known));
}

TEST(AlgorithmAxis, WordsAreNamesAllAndDefault) {
  EXPECT_EQ(names({"all"}), "ring pairs ");
  EXPECT_EQ(names({"default", "ALL", "ring"}), "default ring pairs ");
  EXPECT_EQ(names({"pairs", "nothing"}), "pairs ");
  EXPECT_EQ(names({"nothing"}), "");
  EXPECT_EQ(names({"all"}, {}), "default ") << "who has no names has its own choice";
  EXPECT_TRUE(chosen(std::vector<std::string>{"default"}, kKnown)[0].settings.empty());
}

TEST(AlgorithmAxis, RanksAreAllowed) {
  const auto allowed = [](RanksAllowed ranks) {
    std::string text;
    for (const int num_ranks : {1, 2, 3, 4, 6, 8})
      if (allows(ranks, num_ranks)) text += std::to_string(num_ranks);
    return text;
  };
  EXPECT_EQ(allowed(RanksAllowed::any), "123468");
  EXPECT_EQ(allowed(RanksAllowed::two), "2");
  EXPECT_EQ(allowed(RanksAllowed::even), "2468");
  EXPECT_EQ(allowed(RanksAllowed::power_of_two), "1248");
}

class AlgorithmSweep : public ::testing::Test {
 protected:
  AlgorithmSweep() {
    sweep_.bench = "all_reduce";
    sweep_.peers = {"a", "b"};
    sweep_.num_ranks = {2, 3};
    sweep_.axes = {{.name = "bytes", .values = {Value(8)}, .peer = ""}};
    sweep_.algorithms["a"] = chosen(std::vector<std::string>{"default", "all"}, kKnown);
    sweep_.algorithms["b"] = chosen(std::vector<std::string>{"all"}, {});
  }

  Sweep sweep_;
};

TEST_F(AlgorithmSweep, EachStartsAGroupWhereItsRanksAllowIt) {
  const auto groups = plan(sweep_);
  ASSERT_TRUE(groups.ok()) << groups.status().to_string();
  std::string text;
  for (const Group& group : *groups) text += to_string(group) + ": " + to_string(group.cases.at(0).point) + "\n";
  EXPECT_EQ(text,
            "peer a, 2 ranks: algorithm=default, bytes=8\n"
            "peer a, 2 ranks, ALGORITHM=1: algorithm=ring, bytes=8\n"
            "peer a, 2 ranks, ALGORITHM=2: algorithm=pairs, bytes=8\n"
            "peer a, 3 ranks: algorithm=default, bytes=8\n"
            "peer a, 3 ranks, ALGORITHM=1: algorithm=ring, bytes=8\n"
            "peer b, 2 ranks: algorithm=default, bytes=8\n"
            "peer b, 3 ranks: algorithm=default, bytes=8\n");
  EXPECT_TRUE((*groups)[1].settings.empty()) << "the algorithm's name stands for them";
}

TEST_F(AlgorithmSweep, NothingIsStartedForWhatIsRuledOut) {
  sweep_.num_ranks = {3};
  sweep_.peers = {"a"};
  sweep_.algorithms["a"] = chosen(std::vector<std::string>{"pairs"}, kKnown);
  const auto groups = plan(sweep_);
  ASSERT_FALSE(groups.ok());
  EXPECT_NE(groups.status().to_string().find("pairs with 3 ranks: it wants 2"), std::string::npos)
      << groups.status().to_string();
}

TEST_F(AlgorithmSweep, AVariableIsNotForcedAndSwept) {
  sweep_.environment = {{.peer = "b", .names = {"ALGORITHM"}, .points = {{"3"}}}};
  EXPECT_TRUE(plan(sweep_).ok()) << "b is not forced";
  sweep_.environment[0].peer = "";
  const auto groups = plan(sweep_);
  ASSERT_FALSE(groups.ok());
  EXPECT_NE(groups.status().to_string().find("ALGORITHM is swept, and forces a's algorithm ring"), std::string::npos)
      << groups.status().to_string();
}

TEST_F(AlgorithmSweep, RulesSeeIt) {
  sweep_.rules.emplace_back(
      [](const Point& point, int) { return point.find("algorithm")->text() == "ring" ? "not that" : ""; });
  const auto groups = plan(sweep_);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(groups->size(), 5U);
}

TEST(AlgorithmLabels, TellCompetitorsApart) {
  EXPECT_EQ(labels_of({{"a", "default", {}}, {"a", "ring", {}}, {"b", "default", {}}}),
            (std::vector<std::string>{"a default", "a ring", "b default"}));
  EXPECT_EQ(labels_of({{"a", "default", {}}, {"b", "default", {}}}), (std::vector<std::string>{"a", "b"}));
}

TEST(AlgorithmLabels, AlgorithmsCompeteOrAreCases) {
  Row ring;
  ring.bench = "all_reduce";
  ring.peer = "a";
  ring.point.values = {{"algorithm", Value("ring")}, {"bytes", Value(8)}};
  Row tree = ring;
  tree.point.values[0].second = Value("tree");
  const Comparison competing = Comparison::of_peers({ring, tree}, true, true);
  EXPECT_EQ(competing.competitors, (std::vector<std::string>{"a ring", "a tree"}));
  EXPECT_EQ(competing.cases.size(), 1U);
  EXPECT_EQ(competing.view.identity_columns().back().name, "bytes");
  EXPECT_EQ(competing.view.identity_columns().size(), 3U) << "bench, ranks and bytes";
  const Comparison apart = Comparison::of_peers({ring, tree}, true);
  EXPECT_EQ(apart.competitors, (std::vector<std::string>{"a"}));
  EXPECT_EQ(apart.cases.size(), 2U);
}

}  // namespace
}  // namespace tutti::harness
