// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
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
  enum class Kind : std::uint8_t { time, rate, size } kind = Kind::time;

  [[nodiscard]] FitParameter at(double value_now) const {
    switch (kind) {
      case Kind::time: return {parameter.name, fmt::format("{:.4g}ns", value_now)};
      case Kind::rate: return {parameter.name, fmt::format("{:.4g}GB/s", value_now)};
      case Kind::size: return {parameter.name, fmt::format("{:.0f}", value_now)};
    }
    return parameter;
  }
};

Result<Knob> knob_of(const FitParameter& parameter) {
  const Result<double> time = fabric::parse_time(parameter.start);
  if (time.ok()) return Knob{parameter, *time, Knob::Kind::time};
  if (const Result<Bytes> size = parse_bytes(parameter.start); size.ok())
    return Knob{parameter, static_cast<double>(size->value()), Knob::Kind::size};
  const Result<double> rate = fabric::parse_rate(parameter.start);
  if (!rate.ok()) return rate.status().with_context(parameter.name);
  return Knob{parameter, *rate, Knob::Kind::rate};
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
      if (is_asked && is_about(what, series)) series_.push_back(&series);
    }
  }

  [[nodiscard]] bool has_series() const { return !series_.empty(); }
  [[nodiscard]] std::size_t cells() const { return cells_; }
  [[nodiscard]] std::size_t tries() const { return tries_; }

  Result<double> loss(const std::vector<FitParameter>& parameters) {
    ++tries_;
    std::vector<Compared> all;
    for (const Series* series : series_) {
      TUTTI_TRY_ASSIGN(const std::vector<Compared>* const compared, compared_on(*series, parameters));
      all.insert(all.end(), compared->begin(), compared->end());
    }
    cells_ = 0;
    for (const Compared& each : all)
      if (!each.is_left_out) ++cells_;
    return loss_of(all);
  }

 private:
  // Most parameters are of few series, and the others' times stay.
  struct Known {
    std::string fabrics;
    std::vector<Compared> compared;
  };

  static std::string fabrics_of(const Series& series, const std::vector<FitParameter>& parameters) {
    std::string fabrics;
    for (const auto* ways : {&series.ways, &series.baselines})
      for (const ReferenceWay& way : *ways) fabrics += with_parameters(way.fabric, parameters) + ' ';
    return fabrics;
  }

  Result<const std::vector<Compared>*> compared_on(const Series& series, const std::vector<FitParameter>& parameters) {
    const Rewrite rewrite = [&](const std::string& fabric) { return with_parameters(fabric, parameters); };
    std::string fabrics = fabrics_of(series, parameters);
    Known& known = known_[&series];
    if (known.fabrics != fabrics) {
      TUTTI_TRY_ASSIGN(known.compared, compare(references_, std::vector<const Series*>{&series}, rewrite));
      known.fabrics = std::move(fabrics);
    }
    return &known.compared;
  }

  const References& references_;
  std::vector<const Series*> series_;
  std::map<const Series*, Known> known_;
  std::size_t cells_ = 0;
  std::size_t tries_ = 0;
};

// Coordinate descent in the logarithms of the parameters.
class Descent {
 public:
  Descent(Search& search, std::vector<Knob> knobs) : search_(search), knobs_(std::move(knobs)) {
    for (const Knob& knob : knobs_) fitted_.parameters.push_back(knob.at(knob.value));
  }

  Status begin() {
    TUTTI_TRY_ASSIGN(fitted_.loss, search_.loss(fitted_.parameters));
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
    fitted.tries = search_.tries();
    fitted.cells = search_.cells();
    return fitted;
  }

 private:
  Result<bool> try_move(std::size_t number, double factor) {
    std::vector<FitParameter> tried = fitted_.parameters;
    tried[number] = knobs_[number].at(knobs_[number].value * factor);
    TUTTI_TRY_ASSIGN(const double loss, search_.loss(tried));
    if (loss >= fitted_.loss * (1 - 1e-6)) return false;
    knobs_[number].value *= factor;
    fitted_.parameters = std::move(tried);
    fitted_.loss = loss;
    return true;
  }

  Search& search_;
  std::vector<Knob> knobs_;
  Fitted fitted_;
};

}  // namespace

std::string with_parameters(std::string fabric, const std::vector<FitParameter>& parameters) {
  const std::size_t outer_end = std::min(fabric.find(",inner="), fabric.size());
  const std::string outer = fabric.substr(0, outer_end);
  const auto words = split(outer, ',');
  std::map<std::string, std::string> for_all;
  std::map<std::string, std::string> for_some;
  for (const auto& [full_name, value] : parameters) {
    const std::vector<std::string_view> parts = split(full_name, ':');
    const bool names_fabric = parts.size() > 2 || (parts.size() == 2 && is_of(fabric, parts.front()));
    if (names_fabric && !is_of(fabric, parts.front())) continue;
    const std::string name(parts.back());
    const std::string of(parts.size() - (names_fabric ? 1 : 0) > 1 ? parts[parts.size() - 2] : "");
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
    return Status(Code::invalid_argument, fmt::format("{}: no figures are on its fabrics", what.name));
  std::vector<Knob> knobs;
  for (const FitParameter& parameter : what.parameters) {
    TUTTI_TRY_ASSIGN(const Knob knob, knob_of(parameter));
    knobs.push_back(knob);
  }
  Descent descent(search, std::move(knobs));
  TUTTI_TRY(descent.begin());
  for (double step = kFirstStep; step >= kLastStep;) {
    TUTTI_TRY_ASSIGN(const bool is_better, descent.move_each(step));
    progress(descent.fitted());
    if (!is_better) step = std::sqrt(step);
  }
  return descent.fitted();
}

}  // namespace tutti::simulate
