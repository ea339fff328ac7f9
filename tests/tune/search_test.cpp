// SPDX-License-Identifier: Apache-2.0
// The search, on made-up machines whose true times are known.
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tune/make_sections.hpp"

namespace tutti::tune {
namespace {

// Ten ways with a latency and a rate each, and a value (the round) that is best at its own place for each.
class MadeUpTrack final : public Track {
 public:
  MadeUpTrack(std::uint64_t seed, double noise) : random_(seed), noise_(noise) {
    std::uniform_real_distribution<double> latency(0.2, 5);
    std::uniform_real_distribution<double> rate(1e3, 2e4);
    for (int way = 0; way < 10; ++way)
      machines_["way" + std::to_string(way)] = {latency(random_), rate(random_),
                                                std::uint64_t{1} << (13 + random_() % 6)};
    machines_[""] = {2, 5e3, 64 << 10};
  }

  [[nodiscard]] double true_time(const TableWay& way, std::uint64_t bytes) const {
    const Machine& machine = machines_.at(way.algorithm);
    const double off =
        way.tuning.round
            ? std::abs(std::log2(static_cast<double>(*way.tuning.round) / static_cast<double>(machine.round)))
            : 3;
    return machine.latency_us + static_cast<double>(bytes) / machine.bytes_a_us * (1 + 0.05 * off);
  }

  std::vector<WayTime> race(const CaseKey&, std::uint64_t bytes, std::span<const TableWay> ways,
                            double seconds) override {
    std::vector<WayTime> times;
    std::normal_distribution<double> noise(1, noise_);
    now_ += std::max(std::min(seconds, 0.01 * static_cast<double>(ways.size())),
                     starting_seconds * static_cast<double>(ways.size()));
    raced += ways.size();
    for (const TableWay& way : ways) {
      const double us = true_time(way, bytes) * noise(random_);
      times.push_back({.way = way, .us = us, .low_us = us * (1 - 2 * noise_), .high_us = us * (1 + 2 * noise_)});
    }
    return times;
  }
  void relaunch() override { ++launches; }
  [[nodiscard]] double now() const override { return now_; }
  [[nodiscard]] bool is_interrupted() const override { return raced >= interrupted_after; }

  std::size_t raced = 0;
  std::size_t launches = 0;
  double starting_seconds = 0;  // that each way of a race takes, whatever the race is given
  std::size_t interrupted_after = ~std::size_t{0};

 private:
  struct Machine {
    double latency_us;
    double bytes_a_us;
    std::uint64_t round;
  };
  std::mt19937_64 random_;
  double noise_;
  double now_ = 0;
  std::map<std::string, Machine> machines_;
};

std::vector<TableWay> rounds_of(const TableWay& way, std::uint64_t bytes) {
  std::vector<TableWay> ways;
  for (std::uint64_t round = 8 << 10; round <= (512 << 10) && bytes >= (16 << 10); round *= 2)
    ways.push_back({.algorithm = way.algorithm, .tuning = {.round = round}, .settings = {}});
  return way.algorithm.empty() ? std::vector<TableWay>() : ways;
}

Candidates made_up_candidates() {
  Candidates candidates{.first = {TableWay()}, .neighbours = rounds_of};
  for (int way = 0; way < 10; ++way)
    candidates.first.push_back({.algorithm = "way" + std::to_string(way), .tuning = {}, .settings = {}});
  return candidates;
}

std::vector<std::uint64_t> powers_of_two() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = 8; bytes <= (64 << 20); bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

// Of the table that comes of the cells, over the truth.
struct Regret {
  double mean = 0;
  double most = 0;
};
Regret regret_of(const SearchResult& result, const MadeUpTrack& track) {
  const std::vector<TableSection> sections = make_sections(result.cells, {});
  const Candidates candidates = made_up_candidates();
  Regret regret;
  const std::vector<std::uint64_t> sizes = powers_of_two();
  for (const std::uint64_t bytes : sizes) {
    double best = 1e300;
    for (const TableWay& way : candidates.first) {
      best = std::min(best, track.true_time(way, bytes));
      for (const TableWay& other : candidates.neighbours(way, bytes))
        best = std::min(best, track.true_time(other, bytes));
    }
    const double mine = track.true_time(sections.at(0).range_of(bytes).way, bytes) / best - 1;
    regret.mean += mine / static_cast<double>(sizes.size());
    regret.most = std::max(regret.most, mine);
  }
  return regret;
}

class SearchOfSeed : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SearchOfSeed, FindsWaysNearTheBestByFewRaces) {
  MadeUpTrack track(GetParam(), 0.01);
  const SearchResult result =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 1e6}, track, nullptr);
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(track.launches, 2U);
  const Regret regret = regret_of(result, track);
  EXPECT_LT(regret.mean, 0.02);
  EXPECT_LT(regret.most, 0.10);
  MadeUpTrack all(GetParam(), 0.01);
  const SearchResult reference =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 1e6, .exhaustive = true}, all, nullptr);
  EXPECT_EQ(reference.cells.size(), powers_of_two().size());
  EXPECT_LT(static_cast<double>(track.raced), 0.5 * static_cast<double>(all.raced));
}

// Small sizes do not use up what large ones need.
TEST_P(SearchOfSeed, InLittleTimeValuesAreTriedAtAllSizes) {
  MadeUpTrack track(GetParam(), 0.01);
  track.starting_seconds = 0.02;
  const SearchResult result =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 5}, track, nullptr);
  EXPECT_FALSE(result.is_complete);
  // All ways have raced at these.
  for (const std::uint64_t kibibytes : {32, 256, 2048, 16384}) {
    const auto cell = std::find_if(result.cells.begin(), result.cells.end(),
                                   [&](const Cell& each) { return each.bytes == kibibytes << 10; });
    ASSERT_NE(cell, result.cells.end()) << kibibytes;
    EXPECT_GE(std::count_if(cell->times.begin(), cell->times.end(),
                            [](const WayTime& time) { return time.way.tuning.round.has_value(); }),
              3)
        << kibibytes;
  }
}

// Without noise, what is spared is known to lose.
TEST_P(SearchOfSeed, ExactTimesLoseNothingByWhatTheySpare) {
  MadeUpTrack spared(GetParam(), 0);
  MadeUpTrack all(GetParam(), 0);
  SearchOptions options{.sizes = powers_of_two(), .seconds = 1e6, .exhaustive = true};
  const SearchResult reference = search({}, made_up_candidates(), options, all, nullptr);
  options.is_exact = true;
  const SearchResult result = search({}, made_up_candidates(), options, spared, nullptr);
  ASSERT_EQ(result.cells.size(), reference.cells.size());
  for (std::size_t each = 0; each < result.cells.size(); ++each)
    EXPECT_EQ(result.cells[each].best()->us, reference.cells[each].best()->us) << result.cells[each].bytes;
  EXPECT_LT(spared.raced, all.raced);
}
INSTANTIATE_TEST_SUITE_P(Each, SearchOfSeed, ::testing::Range<std::uint64_t>(1, 13));

TEST(Search, ShortTimeGivesLessButNeverNothing) {
  MadeUpTrack track(1, 0.01);
  const SearchResult result =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 0.3}, track, nullptr);
  EXPECT_FALSE(result.is_complete);
  EXPECT_FALSE(result.cells.empty());
}

TEST(Search, AnInterruptKeepsWhatIsKnown) {
  MadeUpTrack track(1, 0.01);
  track.interrupted_after = 40;
  const SearchResult result =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 1e6}, track, nullptr);
  EXPECT_FALSE(result.is_complete);
  EXPECT_FALSE(result.cells.empty());
  EXPECT_LT(track.raced, 60U);
}

TEST(Search, OneSizeIsEnough) {
  MadeUpTrack track(2, 0);
  const SearchResult result = search({}, made_up_candidates(), {.sizes = {1 << 20}, .seconds = 1e6}, track, nullptr);
  ASSERT_EQ(result.cells.size(), 1U);
  EXPECT_TRUE(result.cells[0].best()->way.tuning.round.has_value());
}

TEST(Search, CountsWhatItSparedAndChecks) {
  MadeUpTrack track(3, 0);
  const SearchResult result =
      search({}, made_up_candidates(), {.sizes = powers_of_two(), .seconds = 1e6}, track, nullptr);
  EXPECT_GT(result.counts.ways_spared, 0U);
  EXPECT_GT(result.counts.pruning_checks, 0U);
  EXPECT_EQ(result.counts.ways_raced, track.raced);
}

}  // namespace
}  // namespace tutti::tune
