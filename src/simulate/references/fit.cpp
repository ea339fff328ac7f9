// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/generators/request.hpp"
#include "simulate/references/against.hpp"

namespace tutti::simulate {

namespace {

constexpr double kFirstStep = 1.6;
constexpr double kLastStep = 1.01;
// What the losses of unlike figures weigh against each other: a relative error, points of gain, doublings of a size,
// and the relative loss of who follows a wrong winner.
constexpr double kPoint = 0.02;
constexpr double kDoubling = 2;
constexpr double kRegret = 0.5;

// A parameter as a number, to be moved.
struct Knob {
  FitParameter parameter;
  double value = 0;
  bool is_rate = false;

  [[nodiscard]] FitParameter at(double value_now) const {
    return {parameter.name, is_rate ? fmt::format("{:.4g}GB/s", value_now) : fmt::format("{:.4g}ns", value_now)};
  }
};

Result<Knob> knob_of(const FitParameter& parameter) {
  const Result<double> time = fabric::parse_time(parameter.start);
  if (time.ok()) return Knob{parameter, *time, false};
  const Result<double> rate = fabric::parse_rate(parameter.start);
  if (!rate.ok()) return rate.status().with_context(parameter.name);
  return Knob{parameter, *rate, true};
}

// What is published is no more exact than it says.
double distance(const Compared& each) {
  if (each.series->metric != Metric::time) return std::max(0.0, std::abs(each.error()) - each.series->uncertainty);
  const double nearest =
      std::clamp(*each.simulated, each.published - each.series->uncertainty, each.published + each.series->uncertainty);
  // The middle is a little better than the edge.
  return std::abs(std::log(*each.simulated / nearest)) + 0.1 * std::abs(std::log(*each.simulated / each.published));
}

double regret(const std::vector<Compared>& all) {
  std::map<std::pair<std::string_view, std::uint64_t>, std::vector<const Compared*>> contests;
  for (const Compared& each : all)
    if (!each.is_left_out && each.simulated && !each.series->group.empty())
      contests[{each.series->group, each.bytes}].push_back(&each);
  double sum = 0;
  for (const auto& [key, contest] : contests) {
    const Compared* chosen = contest.front();
    double best = chosen->published;
    for (const Compared* each : contest) {
      if (*each->simulated < *chosen->simulated) chosen = each;
      best = std::min(best, each->published);
    }
    sum += std::log(chosen->published / best);
  }
  return sum;
}

double loss_of(const std::vector<Compared>& all) {
  double sum = kRegret * regret(all);
  for (const Compared& each : all) {
    if (each.is_left_out || !each.simulated) continue;
    switch (each.series->metric) {
      case Metric::time: sum += distance(each); break;
      case Metric::gain: sum += kPoint * distance(each); break;
      case Metric::crossover: sum += kDoubling * std::abs(each.error()); break;
    }
  }
  return sum;
}

class Search {
 public:
  Search(const References& references, const Fit& what) : references_(references) {
    for (const Series& series : references.series) {
      const bool is_asked = what.series.empty() ||
                            std::any_of(what.series.begin(), what.series.end(),
                                        [&](const std::string& beginning) { return series.id.starts_with(beginning); });
      const bool is_on_it = !series.ways.empty() && is_of(series.ways.front().fabric, what.fabric);
      if (is_asked && is_on_it) series_.push_back(&series);
    }
  }

  [[nodiscard]] bool has_series() const { return !series_.empty(); }
  [[nodiscard]] std::size_t cells() const { return cells_; }
  [[nodiscard]] std::size_t tries() const { return tries_; }

  Result<double> loss(const std::vector<FitParameter>& parameters) {
    ++tries_;
    const Result<std::vector<Compared>> compared =
        compare(references_, series_, [&](const std::string& fabric) { return with_parameters(fabric, parameters); });
    if (!compared.ok()) return compared.status();
    cells_ = 0;
    for (const Compared& each : *compared)
      if (!each.is_left_out) ++cells_;
    return loss_of(*compared);
  }

 private:
  const References& references_;
  std::vector<const Series*> series_;
  std::size_t cells_ = 0;
  std::size_t tries_ = 0;
};

}  // namespace

std::string with_parameters(std::string fabric, const std::vector<FitParameter>& parameters) {
  const std::size_t outer_end = std::min(fabric.find(",inner="), fabric.size());
  const std::string outer = fabric.substr(0, outer_end);
  const auto words = split(outer, ',');
  std::map<std::string, std::string> for_all;
  std::map<std::string, std::string> for_some;
  for (const auto& [full_name, value] : parameters) {
    const std::size_t colon = full_name.find(':');
    const std::string name = colon == std::string::npos ? full_name : full_name.substr(colon + 1);
    const std::string of = colon == std::string::npos ? "" : full_name.substr(0, colon);
    if (of.empty()) {
      for_all[name] = value;
    } else if (of == fabric::kInner) {
      if (outer_end < fabric.size()) fabric += fmt::format(",{}={}", name, value);
    } else if (std::any_of(words.begin(), words.end(),
                           [&](std::string_view word) { return word.ends_with("=" + of); })) {
      for_some[name] = value;
    }
  }
  for_some.merge(for_all);  // which keeps what is there already
  for (const auto& [name, value] : for_some) fabric.insert(outer_end, fmt::format(",{}={}", name, value));
  return fabric;
}

Result<Fitted> fit(const References& references, const Fit& what, const std::function<void(const Fitted&)>& progress) {
  Search search(references, what);
  if (!search.has_series())
    return Status(Code::invalid_argument, fmt::format("{}: no figures are on {}", what.name, what.fabric));
  std::vector<Knob> knobs;
  Fitted fitted;
  for (const FitParameter& parameter : what.parameters) {
    const Result<Knob> knob = knob_of(parameter);
    if (!knob.ok()) return knob.status();
    knobs.push_back(*knob);
    fitted.parameters.push_back(knob->at(knob->value));
  }
  const Result<double> before = search.loss(fitted.parameters);
  if (!before.ok()) return before.status();
  fitted.loss = fitted.loss_before = *before;
  for (double step = kFirstStep; step >= kLastStep;) {
    bool is_better = false;
    for (std::size_t number = 0; number < knobs.size(); ++number) {
      Knob& knob = knobs[number];
      for (const double factor : {step, 1 / step}) {
        std::vector<FitParameter> tried = fitted.parameters;
        tried[number] = knob.at(knob.value * factor);
        const Result<double> loss = search.loss(tried);
        if (!loss.ok()) return loss.status();
        if (*loss >= fitted.loss * (1 - 1e-6)) continue;
        knob.value *= factor;
        fitted.parameters = std::move(tried);
        fitted.loss = *loss;
        is_better = true;
        break;
      }
    }
    fitted.tries = search.tries();
    fitted.cells = search.cells();
    progress(fitted);
    if (!is_better) step = std::sqrt(step);
  }
  return fitted;
}

}  // namespace tutti::simulate
