// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_figure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/units.hpp"
#include "report/chart.hpp"

namespace tutti::cli {

namespace {

using report::Bar;
using report::BarChart;
using report::BarGroup;
using report::BarPanel;
using report::Line;
using report::LineChart;
using report::LinePanel;
using simulate::Compared;
using simulate::Metric;
using simulate::Series;

constexpr std::string_view kSizes = "bytes, as nccl-tests counts them";
// A group with more sizes is drawn as lines.
constexpr std::size_t kMostBarsOfSeries = 2;

// The panel of that title; the line of that name.
template <typename Panel>
Panel& panel_of(std::vector<Panel>& panels, const std::string& title) {
  const auto found = std::find_if(panels.begin(), panels.end(), [&](const Panel& each) { return each.title == title; });
  if (found != panels.end()) return *found;
  Panel& added = panels.emplace_back();
  added.title = title;
  return added;
}

Line& line_of(LinePanel& panel, const std::string& name, bool is_dashed) {
  const auto found = std::find_if(panel.lines.begin(), panel.lines.end(),
                                  [&](const Line& line) { return line.name == name && line.is_dashed == is_dashed; });
  if (found != panel.lines.end()) return *found;
  panel.lines.push_back({.name = name, .points = {}, .is_dashed = is_dashed});
  return panel.lines.back();
}

std::string group_of(const Series& series) { return series.group.empty() ? series.id : series.group; }

bool is_crossover(const Compared& each) { return each.series->metric == Metric::crossover; }

// Groups in which more sizes occur than bars could show; they are lines.
std::set<std::string> groups_of_lines(const std::vector<Compared>& all) {
  std::map<std::string, std::set<std::uint64_t>> sizes;
  for (const Compared& each : all)
    if (!is_crossover(each)) sizes[group_of(*each.series)].insert(each.bytes);
  std::set<std::string> groups;
  for (const auto& [group, of_group] : sizes)
    if (of_group.size() > kMostBarsOfSeries) groups.insert(group);
  return groups;
}

std::string y_name_of(Metric metric, const simulate::References& references) {
  return metric == Metric::gain ? "gain, percent" : fmt::format("time, {}", references.unit);
}

// Without the group, which is the panel's title.
std::string name_in_group(const Series& series) {
  const std::string group = group_of(series);
  const bool has_more = series.id.size() > group.size() + 1 && series.id.starts_with(group);
  return has_more ? series.id.substr(group.size() + 1) : series.id;
}

// A value of a gain may be anything within its uncertainty: it is published as a range, and drawn as one.
void add_published(LinePanel& panel, const Compared& each, const std::string& name) {
  const Series& series = *each.series;
  Line& line = line_of(panel, name, true);
  line.is_range = series.metric == Metric::gain && series.uncertainty > 0;
  report::Point point{static_cast<double>(each.bytes), each.published};
  if (series.uncertainty > 0) point.range = {each.published - series.uncertainty, each.published + series.uncertainty};
  line.points.push_back(point);
}

void add_crossover(LineChart& chart, const Compared& each) {
  if (chart.sizes.empty()) chart.sizes.push_back({.title = "crossovers: up to which size it is faster", .rows = {}});
  const Series& series = *each.series;
  report::SizeRow row{.name = series.configuration.empty() ? series.id : series.configuration,
                      .dashed = each.published,
                      .full = each.simulated};
  // In doublings.
  if (const double doublings = series.uncertainty; doublings > 0)
    row.range = {each.published / std::exp2(doublings), each.published * std::exp2(doublings)};
  chart.sizes.front().rows.push_back(std::move(row));
}

LineChart lines_of(const std::vector<Compared>& all, const simulate::References& references) {
  LineChart chart{.title = references.about,
                  .remark = fmt::format("{} ({})", references.source, references.date),
                  .x_name = std::string(kSizes),
                  .full = "simulated",
                  .dashed = "published",
                  .ranges = "range that is published",
                  .panels = {}};
  const std::set<std::string> groups = groups_of_lines(all);
  for (const Compared& each : all) {
    if (is_crossover(each)) add_crossover(chart, each);
    if (is_crossover(each) || !groups.contains(group_of(*each.series))) continue;
    const bool is_gain = each.series->metric == Metric::gain;
    LinePanel& panel = panel_of(chart.panels, group_of(*each.series));
    panel.y_name = y_name_of(each.series->metric, references);
    panel.y_scale = is_gain ? report::Scale::linear : report::Scale::logarithmic;
    panel.better = is_gain ? report::Better::higher : report::Better::lower;
    const std::string name = name_in_group(*each.series);
    add_published(panel, each, name);
    if (each.simulated)
      line_of(panel, name, false).points.push_back({static_cast<double>(each.bytes), *each.simulated});
  }
  if (chart.panels.empty() && chart.sizes.empty()) chart.full = chart.dashed = chart.ranges = "";
  return chart;
}

// Kinds of bars.
enum Kind : std::size_t { published_kind, measured_kind, theory_kind, simulated_kind };

BarChart bars_of(const std::vector<Compared>& all, const simulate::References& references) {
  BarChart chart{.title = "",
                 .remark = "",
                 .kinds = {"published", "measured", "theory", "simulated"},
                 .hatched = "of another configuration, which is not simulated",
                 .columns = 1,
                 .panels = {}};
  const std::set<std::string> groups = groups_of_lines(all);
  for (const Compared& each : all) {
    if (is_crossover(each) || groups.contains(group_of(*each.series))) continue;
    const bool is_gain = each.series->metric == Metric::gain;
    BarPanel& panel = panel_of(chart.panels, is_gain ? "gains" : "times");
    panel.y_name = y_name_of(each.series->metric, references);
    const bool has_sizes = each.series->bytes.size() > 1 || is_gain;
    BarGroup group{
        .name = has_sizes ? fmt::format("{}, {}", each.series->id, to_text(Bytes(each.bytes))) : each.series->id,
        .bars = {}};
    const Kind kind = each.series->kind == simulate::FigureKind::measured ? measured_kind
                      : each.series->kind == simulate::FigureKind::theory ? theory_kind
                                                                          : published_kind;
    group.bars.push_back({.kind = kind,
                          .value = std::max(each.published, 0.0),
                          .range = report::range_around(each.published, each.series->uncertainty),
                          .is_hatched = each.series->ways.empty() && kind != theory_kind,
                          .remark = each.series->configuration});
    if (each.simulated)
      group.bars.push_back(
          {.kind = simulated_kind, .value = std::max(*each.simulated, 0.0), .remark = std::string(each.best)});
    panel.groups.push_back(std::move(group));
  }
  return chart;
}

}  // namespace

std::string times_to_svg(const std::vector<SimulatedTime>& times) {
  std::set<std::string> fabrics;
  std::set<std::string> algorithms;
  for (const SimulatedTime& time : times) {
    fabrics.insert(time.fabric);
    algorithms.insert(time.algorithm);
  }
  const bool is_one = fabrics.size() == 1;
  LineChart chart{.title = is_one ? *fabrics.begin() : fmt::format("{} fabrics", fabrics.size()),
                  .remark = "simulated",
                  .x_name = std::string(kSizes),
                  .panels = {}};
  if (algorithms.size() == 1) chart.remark = fmt::format("{}, simulated", *algorithms.begin());
  if (std::any_of(times.begin(), times.end(), [](const SimulatedTime& time) { return time.range.has_value(); }))
    chart.remark += "; whiskers: intervals of 90 %, where published times are near";
  BarChart without_size{.title = "", .remark = "", .kinds = {"time"}, .panels = {}};
  for (const SimulatedTime& time : times) {
    const std::string name = is_one                   ? time.algorithm
                             : algorithms.size() == 1 ? time.fabric
                                                      : fmt::format("{}, {}", time.algorithm, time.fabric);
    if (time.bytes == 0) {
      BarPanel& panel = panel_of(without_size.panels, time.collective);
      panel.y_name = "time, us";
      panel.groups.push_back({.name = name, .bars = {{.value = time.microseconds, .range = time.range}}});
      continue;
    }
    LinePanel& panel = panel_of(chart.panels, time.collective);
    panel.y_name = "time, us";
    line_of(panel, name, false).points.push_back({static_cast<double>(time.bytes), time.microseconds, time.range});
  }
  return to_svg(chart, without_size);
}

std::string comparison_to_svg(const std::vector<Compared>& all, const simulate::References& references) {
  return to_svg(lines_of(all, references), bars_of(all, references));
}

}  // namespace tutti::cli
