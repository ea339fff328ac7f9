// SPDX-License-Identifier: Apache-2.0
// Published figures, and how near the simulator has to come to them.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/system/file.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/blind.hpp"
#include "simulate/references/losses.hpp"
#include "simulate/references/sensitivity.hpp"

namespace tutti::simulate {
namespace {

class Published : public testing::Test {
 protected:
  void compare_with(const std::string& name) {
    const std::string path = std::string(TUTTI_SOURCE_DIR) + "/data/references/" + name + ".toml";
    const Result<std::string> text = read_file(path, std::uint64_t{1} << 22U);
    ASSERT_TRUE(text.ok()) << text.status().to_string();
    const Result<References> read = read_references(*text, path);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    references_ = *read;
    const Result<std::vector<Compared>> compared = compare(references_, {}, nullptr);
    ASSERT_TRUE(compared.ok()) << compared.status().to_string();
    compared_ = *compared;
  }

  References references_;
  std::vector<Compared> compared_;
};

TEST_F(Published, AllReducesOfVllmWithinSixPercent) {
  ASSERT_NO_FATAL_FAILURE(compare_with("vllm_all_reduce"));
  for (const char* gpu : {"h100", "b200"}) {
    for (const bool left_out : {false, true}) {
      SCOPED_TRACE(std::string(gpu) + (left_out ? ", left out of the fit" : ", fitted"));
      const Score found = score(compared_, Metric::time, [&](const Compared& each) {
        return each.series->id.starts_with(gpu) && each.is_left_out == left_out;
      });
      EXPECT_EQ(found.cells, left_out ? 30U : 70U);
      EXPECT_LT(found.median_error, 0.06);
    }
  }
  for (const bool left_out : {false, true}) {
    const Score found =
        score(compared_, Metric::time, [&](const Compared& each) { return each.is_left_out == left_out; });
    EXPECT_GE(static_cast<double>(found.winners), 0.85 * static_cast<double>(found.contests));
  }
}

constexpr std::array kAll = {"vllm_all_reduce", "bidirectional_all_gather", "accelerator", "nccl_tests"};

TEST_F(Published, EverySeriesIsHeldToItsBar) {
  for (const char* name : kAll) {
    ASSERT_NO_FATAL_FAILURE(compare_with(name));
    for (const Series& series : references_.series) {
      if (series.ways.empty()) continue;
      EXPECT_GE(series.bar, 0) << series.id << " has none";
      EXPECT_LE(error_of_series(series, compared_), series.bar + 1e-9) << series.id;
    }
  }
}

// Files of references say again what shipped fabrics have, for a fit to begin with and for --uncertainty.
TEST_F(Published, TheFittedValuesAreThoseOfTheFabrics) {
  for (const char* name : kAll) {
    ASSERT_NO_FATAL_FAILURE(compare_with(name));
    for (const Fit& fit : references_.fits) {
      const Result<std::vector<Compared>> with_values = Losses(references_, fit).compared(values_of(fit));
      ASSERT_TRUE(with_values.ok()) << with_values.status().to_string();
      for (const Compared& each : *with_values) {
        const auto same = std::find_if(compared_.begin(), compared_.end(), [&](const Compared& other) {
          return other.series == each.series && other.bytes == each.bytes;
        });
        ASSERT_NE(same, compared_.end());
        EXPECT_NEAR(*each.simulated, *same->simulated, 1e-6 * std::abs(*same->simulated)) << each.series->id;
      }
    }
  }
}

// Figures hold their parameters: one that is moved by a fifth without missing a bar is not fitted but assumed.
TEST_F(Published, AFittedParameterCannotBeMovedUnnoticed) {
  std::size_t misses = 0;
  std::size_t changes = 0;
  for (const char* name : kAll) {
    ASSERT_NO_FATAL_FAILURE(compare_with(name));
    for (const Fit& fit : references_.fits) {
      const Result<std::vector<Sensitivity>> all = sensitivities_of(references_, fit, false);
      ASSERT_TRUE(all.ok()) << all.status().to_string();
      for (const Sensitivity& each : *all) {
        if (each.parameter->assumed) {
          EXPECT_FALSE(each.is_determined()) << fit.name << ": " << each.parameter->name << " is fitted";
          continue;
        }
        changes += 2;
        misses += (each.missed_below.empty() ? 0U : 1U) + (each.missed_above.empty() ? 0U : 1U);
        EXPECT_FALSE(each.missed_below.empty() && each.missed_above.empty()) << each.parameter->name << " is assumed";
      }
    }
  }
  EXPECT_GE(changes, 44U);
  EXPECT_GE(misses * 44, changes * 40);
}

// Of what fits have not seen. The bars lie a little above what docs/design/simulate.md says.
class Blind : public Published, public testing::WithParamInterface<LeftOut> {};

TEST_P(Blind, WhatIsLeftOutIsPredictedBetterThanByItsNeighbours) {
  ASSERT_NO_FATAL_FAILURE(compare_with("vllm_all_reduce"));
  const LeftOut what = GetParam();
  const bool by_ranks = what == LeftOut::ranks;
  const Result<std::vector<BlindTime>> blind = predict_left_out(references_, what, [](const std::string&) {});
  ASSERT_TRUE(blind.ok()) << blind.status().to_string();
  ASSERT_EQ(blind->size(), 200U);
  const BlindScore bare = score_of(*blind, Predictor::simulated);
  const BlindScore corrected = score_of(*blind, Predictor::corrected);
  EXPECT_LT(bare.median_error, by_ranks ? 0.06 : 0.045);
  EXPECT_LT(corrected.median_error, by_ranks ? 0.06 : 0.025);
  EXPECT_GE(bare.winners, by_ranks ? 36U : 37U);
  EXPECT_GE(corrected.winners, by_ranks ? 36U : 38U);
  EXPECT_LT(bare.mean_regret, by_ranks ? 0.012 : 0.006);
  EXPECT_LT(corrected.mean_regret, by_ranks ? 0.012 : 0.003);
  for (const Predictor naive : {Predictor::nearest, Predictor::linear, Predictor::log_log}) {
    EXPECT_LT(corrected.median_error, score_of(*blind, naive).median_error);
    EXPECT_LT(corrected.mean_regret, score_of(*blind, naive).mean_regret);
  }
  // The interval of 90 % is one.
  EXPECT_GE(corrected.within, 0.85);
  EXPECT_LE(corrected.within, 0.95);
  // So are those that users see, whose width and correction the file says.
  const auto num_within = std::count_if(blind->begin(), blind->end(), [&](const BlindTime& time) {
    const double corrected_time = time.times[static_cast<std::size_t>(Predictor::corrected)];
    return std::abs(std::log(corrected_time / time.published)) <= references_.deviations * time.deviation;
  });
  EXPECT_GE(num_within, 170);
  EXPECT_LE(num_within, 190);
  if (by_ranks) {
    EXPECT_NEAR(beyond_ranks_of(*blind), references_.beyond_ranks, 0.02);
  }
}

// Of NCCL's gigabytes the other numbers of GPUs say by how much the model is wrong, also beyond them. Nothing is
// fitted.
TEST_F(Published, CorrectionsHoldBeyondTheNumbersOfRanksWhereErrorsAreAlike) {
  ASSERT_NO_FATAL_FAILURE(compare_with("nccl_tests"));
  const Result<std::vector<BlindTime>> blind = predict_left_out(references_, LeftOut::ranks, [](const std::string&) {});
  ASSERT_TRUE(blind.ok()) << blind.status().to_string();
  ASSERT_EQ(blind->size(), 7U);
  EXPECT_GT(score_of(*blind, Predictor::simulated).median_error, 0.02);
  EXPECT_LT(score_of(*blind, Predictor::corrected).median_error, 0.008);
  EXPECT_GT(beyond_ranks_of(*blind), 0.9);
  const Result<std::vector<BlindTime>> of_sizes =
      predict_left_out(references_, LeftOut::sizes, [](const std::string&) {});
  ASSERT_TRUE(of_sizes.ok()) << of_sizes.status().to_string();
  EXPECT_TRUE(of_sizes->empty());
}

INSTANTIATE_TEST_SUITE_P(LeftOut, Blind, testing::Values(LeftOut::ranks, LeftOut::sizes), [](const auto& left_out) {
  return std::string(left_out.param == LeftOut::ranks ? "ranks" : "sizes");
});

TEST_F(Published, TheRingWithABidirectionalAllGatherIsFasterUpToTheSizesThatWereMeasured) {
  ASSERT_NO_FATAL_FAILURE(compare_with("bidirectional_all_gather"));
  const auto is_h100 = [](const Compared& each) { return each.series->id.starts_with("h100"); };
  const Score crossovers = score(compared_, Metric::crossover, is_h100);
  EXPECT_EQ(crossovers.cells, 4U);
  EXPECT_EQ(crossovers.greatest_error, 0);  // in doublings
  const Score gains = score(compared_, Metric::gain, is_h100);
  EXPECT_EQ(gains.cells, 4U);
  EXPECT_LT(gains.greatest_error, 5);
  // On GB200 the range is met up to 1.5 points, and what becomes of it from 128 MB on is not.
  for (const Compared& each : compared_)
    EXPECT_LT(std::abs(each.error()), each.series->uncertainty + (is_h100(each) ? 5 : 1.5)) << each.series->id;
}

// Nothing is fitted to these.
TEST_F(Published, NvlsOfGigabytesWithinTenPercent) {
  ASSERT_NO_FATAL_FAILURE(compare_with("nccl_tests"));
  const auto is_nvls = [](const Compared& each) { return each.series->id.ends_with("-nvls"); };
  const Score found = score(compared_, Metric::time, is_nvls);
  EXPECT_EQ(found.cells, 5U);
  EXPECT_LT(found.greatest_error, 0.1);
}

TEST_F(Published, TheAcceleratorWithinTenPercentAndInOrder) {
  ASSERT_NO_FATAL_FAILURE(compare_with("accelerator"));
  const Score found = score(compared_, Metric::time, [](const Compared&) { return true; });
  EXPECT_EQ(found.cells, 5U);
  EXPECT_LT(found.greatest_error, 0.10);
  EXPECT_EQ(found.contests, 2U);  // corner and centre; the three kinds of memory
  EXPECT_EQ(found.orders, 2U);
}

}  // namespace
}  // namespace tutti::simulate
