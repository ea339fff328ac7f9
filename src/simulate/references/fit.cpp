// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "simulate/references/losses.hpp"

namespace tutti::simulate {

namespace {

constexpr double kFirstStep = 1.6;
constexpr double kLastStep = 1.01;

// Coordinate descent in the logarithms of the parameters.
class Descent {
 public:
  Descent(Losses& losses, std::vector<Knob> knobs) : losses_(losses), knobs_(std::move(knobs)) {
    for (const Knob& knob : knobs_) fitted_.parameters.push_back(knob.at(knob.value));
  }

  Status begin() {
    TUTTI_TRY_ASSIGN(fitted_.loss, losses_.loss(fitted_.parameters));
    fitted_.loss_before = fitted_.loss;
    return {};
  }

  // One parameter after another, up or down; whether any move was for the better.
  Result<bool> move_each(double step) {
    bool is_better = false;
    for (std::size_t number = 0; number < knobs_.size(); ++number) {
      TUTTI_TRY_ASSIGN(bool moved, try_move(number, step));
      if (!moved) {
        TUTTI_TRY_ASSIGN(moved, try_move(number, 1 / step));
      }
      is_better = is_better || moved;
    }
    return is_better;
  }

  [[nodiscard]] Fitted fitted() const {
    Fitted fitted = fitted_;
    fitted.tries = losses_.tries();
    fitted.cells = losses_.cells();
    return fitted;
  }

 private:
  Result<bool> try_move(std::size_t number, double factor) {
    std::vector<ParameterValue> tried = fitted_.parameters;
    tried[number] = knobs_[number].at(knobs_[number].value * factor);
    TUTTI_TRY_ASSIGN(const double loss, losses_.loss(tried));
    if (loss >= fitted_.loss * (1 - 1e-6)) return false;
    knobs_[number].value *= factor;
    fitted_.parameters = std::move(tried);
    fitted_.loss = loss;
    return true;
  }

  Losses& losses_;
  std::vector<Knob> knobs_;
  Fitted fitted_;
};

}  // namespace

Result<Fitted> fit(const References& references, const Fit& what, const std::function<void(const Fitted&)>& progress) {
  Losses losses(references, what);
  if (!losses.has_series())
    return Status(Code::invalid_argument, fmt::format("{}: no figures are on its fabrics", what.name));
  std::vector<Knob> knobs;
  for (const FitParameter& parameter : what.parameters) {
    TUTTI_TRY_ASSIGN(const Knob knob, knob_of({parameter.name, parameter.start}));
    knobs.push_back(knob);
  }
  Descent descent(losses, std::move(knobs));
  TUTTI_TRY(descent.begin());
  for (double step = kFirstStep; step >= kLastStep;) {
    TUTTI_TRY_ASSIGN(const bool is_better, descent.move_each(step));
    progress(descent.fitted());
    if (!is_better) step = std::sqrt(step);
  }
  return descent.fitted();
}

}  // namespace tutti::simulate
