// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/losses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/generators/request.hpp"

namespace tutti::simulate {

namespace {

// What the losses of unlike figures weigh against each other: a relative error, points of gain, doublings of a size,
// and the relative loss of who follows a wrong winner.
constexpr double kPoint = 0.02;
constexpr double kDoubling = 2;
constexpr double kRegret = 0.5;

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

std::string fabrics_of(const Series& series, const std::vector<ParameterValue>& parameters) {
  std::string fabrics;
  for (const auto* ways : {&series.ways, &series.baselines})
    for (const ReferenceWay& way : *ways) fabrics += with_parameters(way.fabric, parameters) + ' ';
  return fabrics;
}

}  // namespace

ParameterValue Knob::at(double value_now) const {
  switch (kind) {
    case Kind::time: return {name, fmt::format("{:.4g}ns", value_now)};
    case Kind::rate: return {name, fmt::format("{:.4g}GB/s", value_now)};
    case Kind::size: return {name, fmt::format("{:.0f}", value_now)};
  }
  return {name, ""};
}

Result<Knob> knob_of(const ParameterValue& parameter) {
  const Result<double> time = fabric::parse_time(parameter.value);
  if (time.ok()) return Knob{parameter.name, *time, Knob::Kind::time};
  if (const Result<Bytes> size = parse_bytes(parameter.value); size.ok())
    return Knob{parameter.name, static_cast<double>(size->value()), Knob::Kind::size};
  const Result<double> rate = fabric::parse_rate(parameter.value);
  if (!rate.ok()) return rate.status().with_context(parameter.name);
  return Knob{parameter.name, *rate, Knob::Kind::rate};
}

Losses::Losses(const References& references, const Fit& what) : references_(references) {
  for (const Series& series : references.series) {
    const bool is_asked = what.series.empty() ||
                          std::any_of(what.series.begin(), what.series.end(),
                                      [&](const std::string& beginning) { return series.id.starts_with(beginning); });
    if (is_asked && is_about(what, series)) series_.push_back(&series);
  }
}

Result<double> Losses::loss(const std::vector<ParameterValue>& parameters) {
  ++tries_;
  TUTTI_TRY_ASSIGN(const std::vector<Compared> all, compared(parameters));
  cells_ = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Compared& each) { return !each.is_left_out; }));
  return loss_of(all);
}

Result<std::vector<Compared>> Losses::compared(const std::vector<ParameterValue>& parameters) {
  std::vector<Compared> all;
  for (const Series* series : series_) {
    TUTTI_TRY_ASSIGN(const std::vector<Compared>* const compared, compared_on(*series, parameters));
    all.insert(all.end(), compared->begin(), compared->end());
  }
  return all;
}

Result<const std::vector<Compared>*> Losses::compared_on(const Series& series,
                                                         const std::vector<ParameterValue>& parameters) {
  std::string fabrics = fabrics_of(series, parameters);
  Known& known = known_[&series];
  if (known.fabrics != fabrics) {
    const Series* const only = &series;
    TUTTI_TRY_ASSIGN(known.compared, compare(references_, {&only, 1}, [&](const std::string& fabric) {
                       return with_parameters(fabric, parameters);
                     }));
    known.fabrics = std::move(fabrics);
  }
  return &known.compared;
}

std::string with_parameters(std::string fabric, const std::vector<ParameterValue>& parameters) {
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

}  // namespace tutti::simulate
