// SPDX-License-Identifier: Apache-2.0
// Mutants: that they are made as seeds say, that those which prove accepts do no harm, and that harm is seen at all.
#include "schedule/oracle/mutate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/listed.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {
namespace {

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const Algorithm* algorithm : {&all_reduce::ring, &all_reduce::one_shot, &all_reduce::two_shot}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      all.push_back({"all_reduce", std::string(algorithm->name), ranks,
                     [=](std::uint64_t) { return algorithm->make({.num_ranks = ranks}); }});
    }
  }
  for (const std::uint32_t ranks : {2U, 3U}) {
    all.push_back({"all_to_all", "direct", ranks, [=](std::uint64_t) {
                     return all_to_all::direct.make({.collective = Collective::all_to_all, .num_ranks = ranks});
                   }});
  }
  for (int family = 0; family < kNumFamilies; ++family) {
    all.push_back({"all_reduce", std::string(name_of(static_cast<Family>(family))), 3,
                   [=](std::uint64_t seed) { return random_schedule(seed, static_cast<Family>(family), 3); }});
  }
  return all;
}

// Everything is right, and may be run in any way.
Verdict believed(const Schedule& schedule) {
  return {.accepted = true,
          .reason = "",
          .claims = {.order = schedule.order,
                     .depth = 8,
                     .depth_fused = 8,
                     .slots = 8,
                     .name_safe_out_of_place = false,
                     .name_safe_in_place = false}};
}

bool same_steps(const Schedule& a, const Schedule& b) {
  const std::vector<Program> left = programs_of(a);
  const std::vector<Program> right = programs_of(b);
  for (std::size_t rank = 0; rank < left.size(); ++rank)
    if (left[rank].lanes != right[rank].lanes) return false;
  return true;
}

TEST(Mutation, IsOfTheSeedAndChangesSomething) {
  std::set<Mutation> kinds;
  for (const Subject& subject : subjects()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Schedule original = subject.make(seed);
      const auto mutant = mutate(original, seed);
      ASSERT_TRUE(mutant);
      kinds.insert(mutant->mutation);
      EXPECT_FALSE(same_steps(original, mutant->schedule)) << mutant->what;
      EXPECT_TRUE(same_steps(mutant->schedule, mutate(original, seed)->schedule)) << mutant->what;
      EXPECT_NE(mutant->what.find(name_of(mutant->mutation)), std::string::npos) << mutant->what;
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(kNumMutations));
}

// Most mutants are wrong and some are not: where nearly all are rejected, or nearly none, what is right is refused or
// what is wrong believed. How many exactly moves with every change of a mutation or an algorithm.
TEST(Mutate, NoMutantThatProveAcceptsDoesHarm) {
  const MutateReport report =
      mutate_all(subjects(), judged_by_proof, {.count = 1500, .seed = 1, .interleavings = 20, .most_states = 300});
  const Tally total = report.total();
  EXPECT_EQ(total.mutants, 1500U);
  EXPECT_EQ(total.rejected + total.harmless, total.mutants);
  EXPECT_GT(total.rejected, total.mutants / 2);
  EXPECT_GT(total.harmless, total.mutants / 10);
  EXPECT_EQ(total.harmful, 0U);
  ASSERT_TRUE(report.harms.empty()) << report.harms[0].text;
  EXPECT_GE(report.runs, 25 * total.harmless);
  EXPECT_GT(report.ways_explored, 0U);
}

TEST(Mutate, OfEveryKindSomeDoHarmAndThatIsSeen) {
  const MutateReport report =
      mutate_all(subjects(), believed, {.count = 3000, .seed = 2, .threads = 2, .interleavings = 8});
  std::map<Mutation, std::uint64_t> harmful;
  for (const auto& [subject, mutations] : report.tallies)
    for (const auto& [mutation, tally] : mutations) harmful[mutation] += tally.harmful;
  for (int each = 0; each < kNumMutations; ++each)
    EXPECT_GT(harmful[static_cast<Mutation>(each)], 0U) << name_of(static_cast<Mutation>(each));
  ASSERT_FALSE(report.harms.empty());
  const auto written = std::find_if(report.harms.begin(), report.harms.end(), [](const NotedMutant& harm) {
    return harm.text.find("not even well formed") == std::string::npos;
  });
  ASSERT_NE(written, report.harms.end());
  const std::string& text = written->text;
  EXPECT_NE(text.find("of seed 2"), std::string::npos) << text;
  EXPECT_NE(text.find("changed: "), std::string::npos) << text;
  EXPECT_NE(text.find("harm: "), std::string::npos) << text;
  EXPECT_NE(text.find("\ntutti schedule "), std::string::npos) << "the whole schedule, so that it can be read again";
}

TEST(Mutate, TheFirstOfEachReasonAreWrittenOut) {
  const auto report = [](std::size_t most, unsigned threads) {
    return mutate_all(subjects(), judged_by_proof,
                      {.count = 400, .seed = 1, .threads = threads, .interleavings = 8, .most_strict = most});
  };
  const MutateReport all = report(400, 1);
  const std::map<std::string, std::uint64_t> counts = all.total().strict;
  ASSERT_FALSE(counts.empty());
  const MutateReport two = report(2, 4);
  for (const auto& [reason, count] : counts) {
    const std::vector<NotedMutant>& noted = all.strict.at(reason);
    EXPECT_EQ(noted.size(), count) << reason;
    for (std::size_t each = 0; each < std::min<std::size_t>(2, noted.size()); ++each) {
      const NotedMutant& mutant = two.strict.at(reason).at(each);
      EXPECT_EQ(mutant.mutant, noted[each].mutant);
      EXPECT_EQ(mutant.text, noted[each].text);
      EXPECT_NE(mutant.text.find("rejected: " + reason + ": "), std::string::npos) << mutant.text;
    }
    EXPECT_LE(two.strict.at(reason).size(), 2U);
  }
}

TEST(Mutate, IsTheSameWithAnyNumberOfThreads) {
  const auto counts = [](unsigned threads) {
    const MutateReport report =
        mutate_all(subjects(), believed, {.count = 200, .seed = 5, .threads = threads, .interleavings = 8});
    std::vector<std::uint64_t> all{report.runs, report.ways};
    for (const auto& [subject, mutations] : report.tallies)
      for (const auto& [mutation, tally] : mutations) all.insert(all.end(), {tally.mutants, tally.harmful});
    for (const NotedMutant& harm : report.harms) all.push_back(harm.mutant);
    return all;
  };
  EXPECT_EQ(counts(1), counts(4));
}

}  // namespace
}  // namespace tutti
