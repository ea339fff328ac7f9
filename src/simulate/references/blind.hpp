// SPDX-License-Identifier: Apache-2.0
// A blind test of the simulator: published times are left out, its parameters are fitted to the rest, and it predicts
// what was left out; beside it what those predict who only look at the nearest known times. Pure; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/references.hpp"

namespace tutti::simulate {

enum class LeftOut : std::uint8_t {
  ranks,  // all times of a number of ranks, one after another
  sizes,  // of each series one size in two: first these, then the others
};

enum class Predictor : std::uint8_t { simulated, corrected, nearest, linear, log_log };
inline constexpr std::size_t kNumPredictors = 5;
inline constexpr std::array<std::string_view, kNumPredictors> kPredictorNames = {
    "simulator", "simulator, corrected", "nearest time", "linear interpolation", "log-log interpolation"};

// A published time that was left out.
struct BlindTime {
  const Series* series = nullptr;  // of the references
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
  double published = 0;
  std::string left_out;                           // with what: "h100, 6 ranks"
  std::array<double, kNumPredictors> times = {};  // predicted, in the file's unit
  double deviation = 0;                           // of the logarithm of published / corrected, as expected
  std::optional<double> beyond = {};              // what a whole correction would say, beyond the numbers of ranks seen
  double factor = 1;  // the corrected time may be that many times as long or as short, in 90 % of cases
};

// Series of times that a fit of the file is about. Where numbers of ranks are left out, the remaining ones are left out
// in turn as well: from that each fold learns how much of a correction to believe. `progress` is told of each fit
// before it is made.
[[nodiscard]] Result<std::vector<BlindTime>> predict_left_out(const References& references, LeftOut what,
                                                              const std::function<void(const std::string&)>& progress);

struct BlindScore {
  double median_error = 0;  // of the predicted times, relative
  std::size_t contests = 0;
  std::size_t winners = 0;  // chosen right, or within kSameTime of the best
  double mean_regret = 0;   // by how much more time the chosen ones take than the best
  double within = 0;        // the share of times within the interval of the corrected prediction
};
[[nodiscard]] BlindScore score_of(std::span<const BlindTime> times, Predictor predictor);

// The share of a correction that holds beyond the numbers of ranks seen, by all of these.
[[nodiscard]] double beyond_ranks_of(std::span<const BlindTime> times);

// How many of their deviations corrected predictions are wrong by, in 90 % of cases.
[[nodiscard]] double deviations_of(std::span<const BlindTime> times,
                                   const std::function<bool(const BlindTime&)>& counts);

}  // namespace tutti::simulate
