// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/measured_charts.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/views/views.hpp"

namespace tutti::cli {

namespace {

using harness::Row;
using report::BarChart;
using report::LineChart;
using report::LinePanel;

constexpr std::size_t kMostKinds = 8;  // of bars: so many colors can be told apart
constexpr std::string_view kSizeAxes[] = {"bytes", "size"};

bool has_times(const Row& row) { return row.outcome == harness::Outcome::ok && !row.samples.empty(); }

// What is drawn of a row.
struct Measured {
  std::string competitor;
  std::string command;
  std::string panel;  // what tells it from others, but the competitor and the size
  std::optional<double> size;
  double value = 0;
  std::optional<report::Range> range;
};

// --- what tells rows apart

using Names = std::vector<std::pair<std::string, std::string>>;  // "num_ranks", "4"

// All but the size and who competes.
Names conditions_of(const Row& row, std::string_view size_axis) {
  Names names = {{"bench", row.bench}};
  if (row.num_ranks > 0) names.emplace_back("num_ranks", std::to_string(row.num_ranks));
  for (const auto& [name, value] : row.point.values)
    if (name != size_axis && !same_name(name, harness::kAlgorithmAxis)) names.emplace_back(name, value.text());
  return names;
}

// In words: those that are the same in all rows, or those that are not.
std::string words_of(const Names& names, const Names& same, bool is_same) {
  std::string words;
  for (const auto& name : names) {
    if ((std::find(same.begin(), same.end(), name) != same.end()) != is_same) continue;
    words += words.empty() ? "" : ", ";
    words += name.first == "bench" ? name.second : fmt::format("{}={}", name.first, name.second);
  }
  return words;
}

Names same_in_all(const std::vector<Row>& rows, std::string_view size_axis) {
  Names same = rows.empty() ? Names() : conditions_of(rows.front(), size_axis);
  for (const Row& row : rows) {
    const Names names = conditions_of(row, size_axis);
    std::erase_if(same, [&](const auto& each) { return std::find(names.begin(), names.end(), each) == names.end(); });
  }
  return same;
}

harness::Competitor competitor_of(const Row& row) {
  const harness::Value* algorithm = row.point.find(harness::kAlgorithmAxis);
  return {row.peer, algorithm == nullptr ? "" : algorithm->text(), row.settings};
}

// The axis of sizes that the rows have, with more than one value; empty where they have none.
std::string_view size_axis_of(const std::vector<Row>& rows) {
  for (const std::string_view name : kSizeAxes) {
    std::set<std::int64_t> sizes;
    for (const Row& row : rows)
      if (const harness::Value* value = row.point.find(name); value != nullptr && value->is_integer())
        sizes.insert(value->integer());
    if (sizes.size() > 1) return name;
  }
  return "";
}

// --- values

// Of a time in nanoseconds; none where there is no bandwidth.
std::optional<double> value_of(const Row& row, double time, Quantity quantity) {
  if (quantity == Quantity::time) return time / 1e3;
  const auto factor = row.message ? harness::bus_factor(row.message->traffic, row.num_ranks) : std::nullopt;
  if (!factor || time <= 0) return std::nullopt;
  return row.message->bytes * *factor / time;
}

class Selection {
 public:
  Selection(std::span<const MeasuredRows> measured, Quantity quantity) {
    std::vector<Row> drawn;
    std::vector<std::string> commands;
    for (const MeasuredRows& each : measured)
      for (Row& row : harness::join_launches({each.rows.begin(), each.rows.end()})) {
        const bool is_drawn = has_times(row) && value_of(row, summarize(row).median, quantity);
        num_without_ += is_drawn ? 0 : 1;
        if (!is_drawn) continue;
        if (!each.name.empty()) row.peer = fmt::format("{}: {}", each.name, row.peer);
        drawn.push_back(std::move(row));
        commands.push_back(each.command);
      }
    size_axis_ = size_axis_of(drawn);
    same_ = same_in_all(drawn, size_axis_);
    is_reckoned_ = !drawn.empty() && std::all_of(drawn.begin(), drawn.end(), harness::is_exact);
    label(drawn);
    for (std::size_t each = 0; each < drawn.size(); ++each) add(drawn[each], commands[each], quantity);
  }

  [[nodiscard]] const std::vector<Measured>& all() const { return all_; }
  [[nodiscard]] std::size_t num_without() const { return num_without_; }
  [[nodiscard]] bool has_sizes() const { return !size_axis_.empty(); }
  [[nodiscard]] bool is_reckoned() const { return is_reckoned_; }
  // Of all rows: the bench, then whatever they share.
  [[nodiscard]] std::string title() const {
    return same_.empty() || same_.front().first != "bench" ? "several benches" : same_.front().second;
  }
  [[nodiscard]] std::string conditions() const {
    Names names = same_;
    std::erase_if(names, [](const auto& each) { return each.first == "bench"; });
    return words_of(names, same_, true);
  }

 private:
  // What each competitor is called.
  void label(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      if (const harness::Competitor one = competitor_of(row); number_of(one) == competitors_.size())
        competitors_.push_back(one);
    labels_ = harness::labels_of(competitors_);
  }
  [[nodiscard]] std::size_t number_of(const harness::Competitor& one) const {
    return static_cast<std::size_t>(std::find(competitors_.begin(), competitors_.end(), one) - competitors_.begin());
  }

  void add(const Row& row, const std::string& command, Quantity quantity) {
    const harness::Summary summary = summarize(row);
    const harness::Value* size = size_axis_.empty() ? nullptr : row.point.find(size_axis_);
    Measured one{.competitor = labels_[number_of(competitor_of(row))],
                 .command = command,
                 .panel = words_of(conditions_of(row, size_axis_), same_, false),
                 .size = size != nullptr && size->is_integer() ? std::optional(size->number()) : std::nullopt,
                 .value = *value_of(row, summary.median, quantity),
                 .range = {}};
    if (summary.interval && summary.interval->low < summary.interval->high) {
      const std::optional<double> a = value_of(row, summary.interval->low, quantity);
      const std::optional<double> b = value_of(row, summary.interval->high, quantity);
      if (a && b) one.range = report::Range{std::min(*a, *b), std::max(*a, *b)};
    }
    all_.push_back(std::move(one));
  }

  std::string size_axis_;
  Names same_;
  std::vector<harness::Competitor> competitors_;
  std::vector<std::string> labels_;
  std::vector<Measured> all_;
  std::size_t num_without_ = 0;
  bool is_reckoned_ = false;
};

// --- charts

std::string y_name(Quantity quantity) { return quantity == Quantity::time ? "time, us" : "bus bandwidth, GB/s"; }

// In the order in which it was found.
using LeftOut = std::vector<std::string>;

LineChart lines_of(const Selection& selection, Quantity quantity, const MostDrawn& most, LeftOut& left_out) {
  LineChart chart{.title = "", .remark = "", .x_name = "bytes", .panels = {}};
  std::set<std::string> other_panels;
  std::set<std::pair<std::string, std::string>> other_lines;
  std::size_t num_without_size = 0;
  for (const Measured& one : selection.all()) {
    if (!one.size || *one.size <= 0) {
      ++num_without_size;
      continue;
    }
    auto panel = std::find_if(chart.panels.begin(), chart.panels.end(),
                              [&](const LinePanel& each) { return each.title == one.panel; });
    if (panel == chart.panels.end()) {
      if (chart.panels.size() == most.panels) {
        other_panels.insert(one.panel);
        continue;
      }
      const auto better = quantity == Quantity::time ? report::Better::lower : report::Better::higher;
      chart.panels.push_back({.title = one.panel, .y_name = y_name(quantity), .better = better, .lines = {}});
      panel = chart.panels.end() - 1;
    }
    auto line = std::find_if(panel->lines.begin(), panel->lines.end(),
                             [&](const report::Line& each) { return each.name == one.competitor; });
    if (line == panel->lines.end()) {
      if (panel->lines.size() == most.lines) {
        other_lines.emplace(one.panel, one.competitor);
        continue;
      }
      panel->lines.push_back({.name = one.competitor, .points = {}, .made_by = one.command});
      line = panel->lines.end() - 1;
    }
    line->points.push_back({.x = *one.size, .y = one.value, .range = one.range});
  }
  // Rows may be in any order.
  for (LinePanel& panel : chart.panels)
    for (report::Line& line : panel.lines)
      std::stable_sort(line.points.begin(), line.points.end(),
                       [](const report::Point& a, const report::Point& b) { return a.x < b.x; });
  if (!other_panels.empty()) left_out.push_back(counted(other_panels.size(), "panel"));
  if (!other_lines.empty()) left_out.push_back(counted(other_lines.size(), "line"));
  if (num_without_size > 0) left_out.push_back(counted(num_without_size, "row") + " without a size");
  return chart;
}

BarChart bars_of(const Selection& selection, Quantity quantity, const MostDrawn& most, LeftOut& left_out) {
  BarChart chart{
      .title = "", .remark = "", .kinds = {}, .panels = {{.title = "", .y_name = y_name(quantity), .groups = {}}}};
  std::set<std::string> competitors;
  for (const Measured& one : selection.all()) competitors.insert(one.competitor);
  std::set<std::string> cases;
  for (const Measured& one : selection.all()) cases.insert(one.panel);
  // Each competitor has a color where that is of use; else a bar has both in its name.
  const bool has_kinds = cases.size() > 1 && competitors.size() > 1 && competitors.size() <= kMostKinds;
  if (has_kinds)
    chart.kinds.assign(competitors.begin(), competitors.end());
  else
    chart.kinds = {quantity == Quantity::time ? "time" : "bus bandwidth"};
  std::vector<report::BarGroup>& groups = chart.panels.front().groups;
  std::size_t num_bars = 0;
  for (const Measured& one : selection.all()) {
    if (num_bars++ >= most.bars) continue;
    const std::string both = one.panel.empty() ? one.competitor : fmt::format("{}, {}", one.competitor, one.panel);
    const std::string name = has_kinds ? one.panel : competitors.size() == 1 && !one.panel.empty() ? one.panel : both;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.name == name; });
    if (group == groups.end() || !has_kinds) group = groups.insert(groups.end(), {.name = name, .bars = {}});
    const auto kind = has_kinds ? std::distance(competitors.begin(), competitors.find(one.competitor)) : 0;
    group->bars.push_back(
        {.kind = static_cast<std::size_t>(kind), .value = one.value, .range = one.range, .made_by = one.command});
  }
  if (num_bars > most.bars) left_out.push_back(counted(num_bars - most.bars, "bar"));
  return chart;
}

}  // namespace

MeasuredCharts measured_charts(std::span<const MeasuredRows> measured, Quantity quantity, const MostDrawn& most) {
  const Selection selection(measured, quantity);
  MeasuredCharts charts{.lines = {.title = "", .remark = "", .x_name = "", .panels = {}},
                        .bars = {.title = "", .remark = "", .kinds = {}, .panels = {}},
                        .bench = selection.title(),
                        .conditions = selection.conditions(),
                        .is_empty = selection.all().empty(),
                        .has_sizes = selection.has_sizes(),
                        .is_reckoned = selection.is_reckoned(),
                        .left_out = {}};
  if (charts.has_sizes)
    charts.lines = lines_of(selection, quantity, most, charts.left_out);
  else if (!charts.is_empty)
    charts.bars = bars_of(selection, quantity, most, charts.left_out);
  if (selection.num_without() > 0)
    charts.left_out.push_back(fmt::format("{} without {}", counted(selection.num_without(), "row"),
                                          quantity == Quantity::time ? "times" : "a bandwidth"));
  return charts;
}

}  // namespace tutti::cli
