#include "cli/simulate_figure.hpp"

#include <algorithm>
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
// A series of more sizes is a line.
constexpr std::size_t kMostBarsOfSeries = 2;

template <typename Items, typename Name>
std::size_t number_of(Items& items, const Name& name) {
  const auto found = std::find(items.begin(), items.end(), name);
  if (found != items.end()) return static_cast<std::size_t>(found - items.begin());
  items.push_back(name);
  return items.size() - 1;
}

// The panel of that title; the line of that name.
template <typename Panel>
Panel& panel_of(std::vector<Panel>& panels, const std::string& title) {
  const auto found = std::find_if(panels.begin(), panels.end(), [&](const Panel& each) { return each.title == title; });
  if (found != panels.end()) return *found;
  Panel& added = panels.emplace_back();
  added.title = title;
  return added;
}

Line& line_of(LinePanel& panel, const std::string& name, std::size_t color) {
  const auto found =
      std::find_if(panel.lines.begin(), panel.lines.end(), [&](const Line& line) { return line.name == name; });
  if (found != panel.lines.end()) return *found;
  panel.lines.push_back({.name = name, .points = {}, .color = color});
  return panel.lines.back();
}

std::string group_of(const Series& series) { return series.group.empty() ? series.id : series.group; }

// By their metrics, of which each has a unit of its own.
bool is_line(const Compared& each) {
  return each.series->metric != Metric::crossover && each.series->bytes.size() > kMostBarsOfSeries;
}

LineChart lines_of(const std::vector<Compared>& all, const simulate::References& references) {
  LineChart chart{.title = references.about,
                  .remark = fmt::format("dashed: {} ({}); full: simulated", references.source, references.date),
                  .x_name = std::string(kSizes),
                  .panels = {}};
  std::vector<std::vector<std::string>> names;  // of each panel's series: colors begin anew in each
  for (const Compared& each : all) {
    if (!is_line(each)) continue;
    const bool is_gain = each.series->metric == Metric::gain;
    LinePanel& panel = panel_of(chart.panels, group_of(*each.series));
    panel.y_name = is_gain ? "gain, percent" : fmt::format("time, {}", references.unit);
    panel.y_scale = is_gain ? report::Scale::linear : report::Scale::logarithmic;
    names.resize(chart.panels.size());
    const std::size_t color = number_of(names[static_cast<std::size_t>(&panel - chart.panels.data())], each.series->id);
    const auto x = static_cast<double>(each.bytes);
    Line& published = line_of(panel, each.series->id, color);
    published.is_dashed = true;
    published.points.push_back({x, each.published});
    if (each.simulated) line_of(panel, each.series->id + ", simulated", color).points.push_back({x, *each.simulated});
  }
  return chart;
}

// Kinds of bars.
enum Kind : std::size_t { published_kind, measured_kind, theory_kind, simulated_kind };

BarChart bars_of(const std::vector<Compared>& all, const simulate::References& references) {
  BarChart chart{.title = references.about,
                 .remark = fmt::format("{} ({})", references.source, references.date),
                 .kinds = {"reference", "measured", "theory", "simulated"},
                 .hatched = "of another configuration, which is not simulated",
                 .columns = 1,
                 .panels = {}};
  for (const Compared& each : all) {
    if (is_line(each) || each.series->metric == Metric::crossover) continue;
    const bool is_gain = each.series->metric == Metric::gain;
    BarPanel& panel = panel_of(chart.panels, is_gain ? "gains" : "times");
    panel.y_name = is_gain ? "gain, percent" : fmt::format("time, {}", references.unit);
    const bool has_sizes = each.series->bytes.size() > 1;
    BarGroup group{
        .name = has_sizes ? fmt::format("{}, {}", each.series->id, to_text(Bytes(each.bytes))) : each.series->id,
        .bars = {}};
    const Kind kind = each.series->kind == simulate::FigureKind::measured ? measured_kind
                      : each.series->kind == simulate::FigureKind::theory ? theory_kind
                                                                          : published_kind;
    group.bars.push_back({.kind = kind,
                          .value = std::max(each.published, 0.0),
                          .uncertainty = each.series->uncertainty,
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
  std::vector<std::string> names;
  for (const SimulatedTime& time : times) {
    LinePanel& panel = panel_of(chart.panels, time.collective);
    panel.y_name = "time, us";
    const std::string name = is_one                   ? time.algorithm
                             : algorithms.size() == 1 ? time.fabric
                                                      : fmt::format("{}, {}", time.algorithm, time.fabric);
    line_of(panel, name, number_of(names, name)).points.push_back({static_cast<double>(time.bytes), time.microseconds});
  }
  return to_svg(chart);
}

std::string comparison_to_svg(const std::vector<Compared>& all, const simulate::References& references) {
  const bool has_lines = std::any_of(all.begin(), all.end(), is_line);
  return has_lines ? to_svg(lines_of(all, references)) : to_svg(bars_of(all, references));
}

}  // namespace tutti::cli
