// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "simulate/references/losses.hpp"

namespace tutti::simulate {

namespace {

constexpr auto kFactors = std::to_array<double>({1.05, 1.1, 1.2, 1.4, 2, kFar});
constexpr int kHalvings = 4;
// Sums are not exact.
constexpr double kRoundingOfBars = 1e-9;

class Moves {
 public:
  Moves(const References& references, const Fit& fit)
      : references_(references), losses_(references, fit), values_(values_of(fit)) {}

  Result<Sensitivity> of(const FitParameter& parameter, std::size_t number, bool with_interval) {
    TUTTI_TRY_ASSIGN(const Knob knob, knob_of(values_[number]));
    const auto moved = [&](double factor) {
      std::vector<ParameterValue> values = values_;
      values[number] = knob.at(knob.value * factor);
      return values;
    };
    TUTTI_TRY_ASSIGN(const double least, losses_.loss(values_));
    // Up to which factor the loss is within its limits: wide steps, and the last of them halved some times.
    const auto reach = [&](double direction) -> Result<double> {
      double within = 0;
      double beyond = 0;
      for (const double factor : kFactors) {
        beyond = std::log(factor);
        TUTTI_TRY_ASSIGN(const double loss, losses_.loss(moved(std::exp(direction * beyond))));
        if (loss > least * kLossWithin) break;
        within = beyond;
      }
      if (within == beyond) return direction > 0 ? kFar : 1 / kFar;
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = (within + beyond) / 2;
        TUTTI_TRY_ASSIGN(const double loss, losses_.loss(moved(std::exp(direction * middle))));
        (loss > least * kLossWithin ? beyond : within) = middle;
      }
      return std::exp(direction * within);
    };
    Sensitivity found{.parameter = &parameter, .low = 1, .high = 1, .missed_below = {}, .missed_above = {}};
    if (with_interval) {
      TUTTI_TRY_ASSIGN(found.low, reach(-1));
      TUTTI_TRY_ASSIGN(found.high, reach(1));
    }
    TUTTI_TRY_ASSIGN(found.missed_below, missed_with(moved(1 / kMoved)));
    TUTTI_TRY_ASSIGN(found.missed_above, missed_with(moved(kMoved)));
    return found;
  }

 private:
  Result<std::vector<std::string_view>> missed_with(const std::vector<ParameterValue>& values) {
    TUTTI_TRY_ASSIGN(const std::vector<Compared> all, losses_.compared(values));
    std::vector<std::string_view> missed;
    for (const Series& series : references_.series)
      if (series.bar >= 0 && error_of_series(series, all) > series.bar + kRoundingOfBars) missed.push_back(series.id);
    return missed;
  }

  const References& references_;
  Losses losses_;
  std::vector<ParameterValue> values_;
};

}  // namespace

std::vector<ParameterValue> values_of(const Fit& fit) {
  std::vector<ParameterValue> values;
  for (const FitParameter& parameter : fit.parameters) values.push_back({parameter.name, parameter.value});
  return values;
}

double error_of_series(const Series& series, const std::vector<Compared>& all) {
  double squares = 0;
  double greatest = 0;
  std::size_t count = 0;
  for (const Compared& each : all) {
    if (each.series != &series || !each.simulated) continue;
    squares += each.error() * each.error();
    greatest = std::max(greatest, std::abs(each.error()));
    ++count;
  }
  if (series.metric != Metric::time || count == 0) return greatest;
  return std::sqrt(squares / static_cast<double>(count));
}

Result<std::vector<Sensitivity>> sensitivities_of(const References& references, const Fit& fit, bool with_intervals) {
  Moves moves(references, fit);
  std::vector<Sensitivity> all;
  for (std::size_t number = 0; number < fit.parameters.size(); ++number) {
    TUTTI_TRY_ASSIGN(Sensitivity found, moves.of(fit.parameters[number], number, with_intervals));
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace tutti::simulate
