// SPDX-License-Identifier: Apache-2.0
// The latency of an all-reduce on three topologies of the accelerator, over the elements that a PE has (row C4). The
// latency is the critical path: until the last rank is done.
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"

namespace tutti::cli {

namespace {

using report::Line;
using report::LineChart;
using report::LinePanel;

constexpr std::string_view kPublishedTopology = "torus_2d 2x3";
constexpr std::uint64_t kPublishedBytes = 98304;  // 96 KB a PE

struct Root {
  std::string_view name;
  std::string_view series;  // what is published of it
  bool is_corner;
};
constexpr std::array<Root, 2> kRoots = {
    {{"centre", "torus6-96KB-centre", false}, {"corner", "torus6-96KB-corner", true}}};

Result<std::vector<PartRow>> rows_of_latency(const Topology& topology, int elements) {
  std::vector<PartRow> rows;
  const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * kElementBytes;
  for (const Root& root : kRoots) {
    const SimulatedWay way = hierarchical(with_memory(topology.machine, "tcm"), root.is_corner);
    TUTTI_TRY_ASSIGN(const simulate::Answer answer, simulate_all_reduce(way, bytes));
    rows.push_back({std::string(topology.name), way.fabric, std::string(root.name),
                    whole_cell(answer.rank_times.size()), whole_cell(static_cast<std::uint64_t>(elements)),
                    whole_cell(bytes), answer.time / 1000, whole_cell(answer.slowest), answer.checked});
  }
  return rows;
}

Result<std::vector<PartCase>> latency_cases(const PartWorld&) {
  std::vector<PartCase> cases;
  for (const Topology& topology : kTopologies)
    for (const int elements : kSweptElements)
      cases.push_back({.name = fmt::format("{}, {} elements", topology.name, elements),
                       .make = [&topology, elements] { return rows_of_latency(topology, elements); }});
  return cases;
}

Line line_of_root(const PartRows& rows, std::string_view topology, std::string_view root, std::string name) {
  Line line{.name = std::move(name), .points = {}};
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows.text(row, "topology") == topology && rows.text(row, "root") == root)
      line.points.push_back({*rows.number(row, "bytes"), *rows.number(row, "time_us")});
  return line;
}

// `more` stands behind what is the same in all.
LineChart chart_of(std::string title, const std::string& more) {
  return {.title = std::move(title),
          .remark =
              "6 packages of 4x4 cubes, one PE a cube: 96 ranks with buffers in TCM; simulated by Tutti, critical "
              "path" +
              more,
          .x_name = "bytes a PE",
          .full = "simulated",
          .dashed = "the authors' analytic model",
          .panels = {}};
}

// What is there to compare with.
void add_published_times(LinePanel& panel, const simulate::References& references) {
  for (const Root& root : kRoots)
    if (const std::optional<double> value = value_at(references, root.series, kPublishedBytes))
      panel.lines.push_back({.name = fmt::format("from the {}", root.name),
                             .points = {{static_cast<double>(kPublishedBytes), *value}},
                             .is_dashed = true});
}

Line analytic_line() {
  Line line{.name = "analytic model", .points = {}, .is_dashed = true};
  for (const int elements : kSweptElements) {
    const double bytes = static_cast<double>(elements) * kElementBytes;
    line.points.push_back({bytes, analytic_us(bytes)});
  }
  return line;
}

PartFigure figure_of(const PartRows& rows, const Topology& topology, const simulate::References& references) {
  const bool has_points = topology.name == kPublishedTopology;
  LineChart chart = chart_of(fmt::format("All-reduce on {}", topology.name),
                             fmt::format(" on {}; {}analytic model ({}, on no topology): {}", topology.machine,
                                         has_points ? "published times and " : "", kAnalyticModel, cited(references)));
  LinePanel panel{.title = std::string(topology.name), .y_name = "latency, us", .lines = {}};
  for (const Root& root : kRoots)
    panel.lines.push_back(line_of_root(rows, topology.name, root.name, fmt::format("from the {}", root.name)));
  if (has_points) {
    add_published_times(panel, references);
    chart.dashed = "published (a point), or the authors' analytic model";
  }
  panel.lines.push_back(analytic_line());
  chart.panels.push_back(std::move(panel));
  return {.file = fmt::format("latency_{}", topology.file), .title = chart.title, .lines = std::move(chart)};
}

PartFigure figure_of_all(const PartRows& rows) {
  LineChart chart = chart_of("All-reduce on three topologies", "");
  chart.dashed.clear();
  chart.full.clear();
  LinePanel panel{.title = "from the centre of each package", .y_name = "latency, us", .lines = {}};
  for (const Topology& topology : kTopologies)
    panel.lines.push_back(line_of_root(rows, topology.name, "centre", std::string(topology.name)));
  chart.panels.push_back(std::move(panel));
  return {.file = "latency_topologies", .title = chart.title, .lines = std::move(chart)};
}

// A line for each number of elements, with the times of all topologies.
PartTable summary_table(const PartRows& rows) {
  std::vector<Column> columns = {{"elements"}, {"bytes"}};
  for (const Topology& topology : kTopologies)
    for (const Root& root : kRoots) columns.push_back(time_column(fmt::format("{}_{}_us", topology.file, root.name)));
  columns.push_back(time_column("analytic_us"));
  Table table(std::move(columns));
  for (const int elements : kSweptElements) {
    const double bytes = static_cast<double>(elements) * kElementBytes;
    std::vector<Cell> cells = {whole_cell(static_cast<std::uint64_t>(elements)),
                               whole_cell(static_cast<std::uint64_t>(bytes))};
    for (const Topology& topology : kTopologies)
      for (const Root& root : kRoots) {
        Cell time;
        for (const report::Point& point : line_of_root(rows, topology.name, root.name, "").points)
          if (point.x == bytes) time = point.y;
        cells.push_back(time);
      }
    cells.emplace_back(analytic_us(bytes));
    table.add_row(std::move(cells));
  }
  return {.file = "summary",
          .table = {.title = "Latency of an all-reduce by topology, in microseconds", .table = std::move(table)},
          .is_data = true};
}

std::optional<double> time_at(const PartRows& rows, std::string_view topology, std::string_view root,
                              std::uint64_t bytes) {
  for (const report::Point& point : line_of_root(rows, topology, root, "").points)
    if (point.x == static_cast<double>(bytes)) return point.y;
  return std::nullopt;
}

std::vector<std::string> answer_of_latency(const PartRows& rows, const simulate::References& references) {
  const auto centre = time_at(rows, kPublishedTopology, "centre", kPublishedBytes);
  const auto corner = time_at(rows, kPublishedTopology, "corner", kPublishedBytes);
  if (!centre || !corner) return {};
  return {fmt::format("On {} with 96 KB a PE, an all-reduce takes {:.1f} us from the centre of each package and {:.1f} "
                      "us from its corner; published are {:.1f} and {:.1f} us.",
                      kPublishedTopology, *centre, *corner,
                      value_at(references, kRoots[0].series, kPublishedBytes).value_or(0),
                      value_at(references, kRoots[1].series, kPublishedBytes).value_or(0)),
          fmt::format("The analytic model is the authors' own: {}, on no topology.", kAnalyticModel)};
}

Result<PartShown> show_latency(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::References references, published("accelerator"));
  PartShown shown{.answer = answer_of_latency(rows, references)};
  for (std::size_t row = 0; row < rows.size(); ++row) shown.is_right = shown.is_right && rows.is_true(row, "checked");
  for (const Topology& topology : kTopologies) shown.figures.push_back(figure_of(rows, topology, references));
  shown.figures.push_back(figure_of_all(rows));
  shown.tables.push_back(summary_table(rows));
  return shown;
}

}  // namespace

Part latency_part() {
  return {.name = "latency",
          .title = "Latency over elements",
          .about = "all-reduce on three topologies of the accelerator, over the elements of a PE",
          .columns = {{"topology"},
                      {"fabric"},
                      {"root"},
                      {"ranks"},
                      {"elements"},
                      {"bytes"},
                      time_column("time_us"),
                      {"slowest_rank"},
                      {"checked"}},
          .numbers = {"bytes", "time_us"},
          .cases = latency_cases,
          .show = show_latency};
}

}  // namespace tutti::cli
