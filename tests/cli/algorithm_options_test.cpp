// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/algorithm_options.hpp"

#include <gtest/gtest.h>

namespace tutti::cli {
namespace {

BenchWorld world() {
  BenchWorld world;
  world.algorithms_of = [](std::string_view peer, std::string_view) -> std::vector<harness::ForcedAlgorithm> {
    if (peer == "a") return {{.name = "ring", .settings = {{"A", "1"}}}, {.name = "tree", .settings = {{"A", "2"}}}};
    if (peer == "b") return {{.name = "ring", .settings = {{"B", "1"}}}};
    return {};
  };
  return world;
}

harness::Sweep sweep(std::vector<std::string> peers) {
  harness::Sweep sweep;
  sweep.bench = "all_reduce";
  sweep.peers = std::move(peers);
  return sweep;
}

// "a: ring tree; b: ring;", or the error.
std::string outcome(const std::vector<AlgorithmWords>& asked, std::vector<std::string> peers) {
  harness::Sweep asking = sweep(std::move(peers));
  const Status status = set_algorithms(asked, world(), asking);
  if (!status.ok()) return status.to_string();
  std::string text;
  for (const auto& [peer, algorithms] : asking.algorithms) {
    text += peer + ":";
    for (const harness::ForcedAlgorithm& each : algorithms) text += " " + each.name;
    text += "; ";
  }
  return text;
}

TEST(AlgorithmOptions, AreAnAxisWhereTheBenchHasNone) {
  EXPECT_TRUE(is_algorithm_axis("Algorithm", sweep({"a"}), world()));
  EXPECT_FALSE(is_algorithm_axis("bytes", sweep({"a"}), world()));
  EXPECT_FALSE(is_algorithm_axis("algorithm", sweep({"a"}), BenchWorld{}));
  harness::Sweep with_its_own = sweep({"a"});
  with_its_own.axes = {{.name = "algorithm", .values = {harness::Value(1)}, .peer = ""}};
  EXPECT_FALSE(is_algorithm_axis("algorithm", with_its_own, world()));
}

TEST(AlgorithmOptions, EachPeerHasItsOwn) {
  EXPECT_EQ(outcome({}, {"a", "b"}), "");
  EXPECT_EQ(outcome({{"", {"all"}}}, {"a", "b", "c"}), "a: ring tree; b: ring; c: default; ");
  EXPECT_EQ(outcome({{"", {"default", "tree", "ring"}}}, {"a", "b"}), "a: default tree ring; b: default ring; ");
}

TEST(AlgorithmOptions, WordsForAPeerReplaceThoseForAll) {
  EXPECT_EQ(outcome({{"b", {"default"}}, {"", {"ring"}}}, {"a", "b"}), "a: ring; b: default; ");
  EXPECT_EQ(outcome({{"a", {"tree"}}}, {"a", "b"}), "a: tree; b: default; ");
  EXPECT_EQ(outcome({{"", {"tree"}}, {"", {"ring"}}}, {"a", "b"}), "a: ring; b: ring; ") << "the last counts";
}

TEST(AlgorithmOptions, MistakesAreNamed) {
  EXPECT_NE(
      outcome({{"", {"rng"}}}, {"a", "b"}).find("'rng', which is none; for all_reduce peer a has default, all, ring"),
      std::string::npos);
  EXPECT_NE(outcome({{"", {"tree"}}}, {"a", "b"}).find("leaves nothing for peer b"), std::string::npos);
}

}  // namespace
}  // namespace tutti::cli
