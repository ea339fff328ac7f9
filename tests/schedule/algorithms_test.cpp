// SPDX-License-Identifier: Apache-2.0
// The algorithms' own shapes, step by step for few ranks, and the fused form that runs.
#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/fuse.hpp"

namespace tutti {
namespace {

std::vector<std::string> names_of(const std::vector<Step>& steps) {
  std::vector<std::string> names;
  names.reserve(steps.size());
  for (const Step& step : steps) names.push_back(name_of(step));
  return names;
}

Schedule make(std::string_view name, std::uint32_t ranks) {
  return find_algorithm(Collective::all_reduce, name)->make({.num_ranks = ranks});
}

TEST(Algorithms, AreFoundWithHyphenOrUnderscore) {
  EXPECT_NE(find_algorithm(Collective::all_reduce, "one_shot"), nullptr);
  EXPECT_EQ(find_algorithm(Collective::all_reduce, "one-shot"), find_algorithm(Collective::all_reduce, "one_shot"));
  EXPECT_EQ(find_algorithm(Collective::all_reduce, "two"), nullptr);
}

TEST(Algorithms, RingAsWrittenAndFused) {
  const Schedule ring = make("ring", 3);
  const Program written = collect(ring, 1, Fusion::none);
  EXPECT_EQ(names_of(written.lanes[0]),
            (std::vector<std::string>{"send", "recv_reduce", "send", "recv_reduce", "send", "recv", "send", "recv"}));
  EXPECT_EQ(to_string(written.lanes[0][1]), "recv_reduce output[0.0] = message(0) + input[0.0]");
  const Program fused = collect(ring, 1, Fusion::neighbours);
  EXPECT_EQ(names_of(fused.lanes[0]),
            (std::vector<std::string>{"send", "recv_reduce_send", "recv_reduce_send", "recv_send", "recv"}));
  // A partial sum goes on without being stored; a whole one stays.
  EXPECT_EQ(fused.lanes[0][1].destinations.size(), 1U);
  EXPECT_EQ(fused.lanes[0][2].destinations.size(), 2U);
  EXPECT_EQ(fused.lanes[0][1].number, 2U);
}

TEST(Algorithms, TwoShotFusesTheFoldWithTheStores) {
  const Program fused = collect(make("two_shot", 4), 2, Fusion::neighbours);
  EXPECT_EQ(names_of(fused.lanes[0]),
            (std::vector<std::string>{"open", "expose", "pull_reduce_push", "signal", "wait"}));
  EXPECT_EQ(fused.lanes[0][2].sources.size(), 4U);
  EXPECT_EQ(fused.lanes[0][2].destinations.size(), 4U);
}

TEST(Algorithms, OneRankOnlyCopies) {
  EXPECT_EQ(names_of(collect(make("ring", 1), 0, Fusion::neighbours).lanes[0]), (std::vector<std::string>{"copy"}));
}

Step combine(std::vector<Endpoint> sources, std::vector<Endpoint> destinations, std::uint32_t number) {
  Step step;
  step.number = number;
  step.sources = std::move(sources);
  step.destinations = std::move(destinations);
  return step;
}

const Endpoint kIn{Place::local, 0, 0, {Space::input, 0, 0, 1}};
const Endpoint kOut{Place::local, 0, 0, {Space::output, 0, 0, 1}};
const Endpoint kScratch{Place::local, 0, 0, {Space::scratch, 0, 0, 1}};
const Endpoint kTo{Place::message, 1, 0, {Space::output, 0, 0, 1}};

TEST(Fuse, JoinsOnlyAStepThatForwardsWhatTheFirstMade) {
  Step made = combine({kIn}, {kOut}, 0);
  EXPECT_TRUE(fuse_into(made, combine({kOut}, {kTo}, 1)));
  EXPECT_EQ(made.destinations.size(), 2U);
  EXPECT_EQ(made.number, 1U);

  made = combine({kIn}, {kOut}, 0);
  EXPECT_FALSE(fuse_into(made, combine({kScratch}, {kTo}, 1))) << "another slice";
  EXPECT_FALSE(fuse_into(made, combine({kOut, kScratch}, {kTo}, 1))) << "folds";
  EXPECT_FALSE(fuse_into(made, combine({kOut}, {kScratch}, 1))) << "stays local";
  Step waits = combine({kOut}, {kTo}, 1);
  waits.after.push_back({1, 0});
  EXPECT_FALSE(fuse_into(made, waits)) << "waits for another lane";
  Step signal;
  signal.kind = StepKind::signal;
  EXPECT_FALSE(fuse_into(made, signal));
  EXPECT_FALSE(fuse_into(signal, combine({kOut}, {kTo}, 1)));
  EXPECT_EQ(made, combine({kIn}, {kOut}, 0)) << "what is not joined stays as it was";
}

TEST(Fuse, DropsWhatIsGivenUp) {
  Step made = combine({kIn}, {kOut}, 0);
  Step away = combine({kOut}, {kTo}, 1);
  away.gives_up_source = true;
  EXPECT_TRUE(fuse_into(made, away));
  EXPECT_EQ(made.destinations, std::vector<Endpoint>{kTo});
  EXPECT_FALSE(made.gives_up_source);
}

}  // namespace
}  // namespace tutti
