// SPDX-License-Identifier: Apache-2.0
// The same all-reduce with its buffers in each memory of the accelerator, on a torus 3x2 (row C5).
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"

namespace tutti::cli {

namespace {

constexpr std::array<std::string_view, 3> kMemories = {"tcm", "sram", "hbm"};
constexpr std::string_view kBufferMachine = "accelerator_torus:3x2";
constexpr double kBufferBytes = 65536;  // of the published times

Result<std::vector<PartRow>> rows_of_buffer(std::string_view memory, int elements) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * kElementBytes;
  const SimulatedWay way = hierarchical(with_memory(kBufferMachine, memory), false);
  TUTTI_TRY_ASSIGN(const simulate::Answer answer, simulate_all_reduce(way, bytes));
  return std::vector<PartRow>{{std::string(memory), way.fabric, whole_cell(static_cast<std::uint64_t>(elements)),
                               whole_cell(bytes), answer.time / 1000, answer.checked}};
}

Result<std::vector<PartCase>> buffer_cases(const PartWorld&) {
  std::vector<PartCase> cases;
  for (const std::string_view memory : kMemories)
    for (const int elements : kSweptElements)
      cases.push_back({.name = fmt::format("{}, {} elements", memory, elements),
                       .make = [memory, elements] { return rows_of_buffer(memory, elements); }});
  return cases;
}

std::vector<report::Point> points_of(const PartRows& rows, std::string_view memory) {
  std::vector<report::Point> points;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows.text(row, "memory") == memory)
      points.push_back({*rows.number(row, "bytes"), *rows.number(row, "time_us")});
  return points;
}

std::optional<double> published_of(const simulate::References& references, std::string_view memory) {
  return value_at(references, fmt::format("buffers-64KB-{}", memory), static_cast<std::uint64_t>(kBufferBytes));
}

PartFigure figure_over_sizes(const PartRows& rows, const simulate::References& references) {
  report::LineChart chart{.title = "All-reduce by memory of the buffers",
                          .remark = fmt::format("accelerator, torus 3x2 of packages of 4x4 cubes, one PE a cube; from "
                                                "the centre; simulated by Tutti; published: {}",
                                                cited(references)),
                          .x_name = "bytes a PE",
                          .full = "simulated",
                          .dashed = "published",
                          .panels = {}};
  report::LinePanel panel{.title = "torus_2d 3x2", .y_name = "latency, us", .lines = {}};
  for (const std::string_view memory : kMemories)
    panel.lines.push_back({.name = std::string(memory), .points = points_of(rows, memory)});
  for (const std::string_view memory : kMemories)
    if (const std::optional<double> value = published_of(references, memory))
      panel.lines.push_back({.name = std::string(memory), .points = {{kBufferBytes, *value}}, .is_dashed = true});
  chart.panels.push_back(std::move(panel));
  return {.file = "buffers", .title = chart.title, .lines = std::move(chart)};
}

std::optional<double> time_of_64_kb(const PartRows& rows, std::string_view memory) {
  for (const report::Point& point : points_of(rows, memory))
    if (point.x == kBufferBytes) return point.y;
  return std::nullopt;
}

PartFigure figure_of_64_kb(const PartRows& rows, const simulate::References& references) {
  report::BarChart chart{.title = "All-reduce with 64 KB a PE, by memory of the buffers",
                         .remark = fmt::format("published for a torus of 6 packages: {}; simulated by Tutti on a torus "
                                               "3x2; the figure \"comparison\" has the same on a torus 2x3, where "
                                               "packages have other neighbours and times differ a little",
                                               cited(references)),
                         .kinds = {"published", "simulated"},
                         .panels = {}};
  report::BarPanel panel{.title = "64 KB a PE", .y_name = "latency, us", .groups = {}};
  for (const std::string_view memory : kMemories) {
    report::BarGroup group{.name = std::string(memory), .bars = {}};
    if (const std::optional<double> value = published_of(references, memory))
      group.bars.push_back({.kind = 0, .value = *value});
    if (const std::optional<double> time = time_of_64_kb(rows, memory))
      group.bars.push_back({.kind = 1, .value = *time});
    panel.groups.push_back(std::move(group));
  }
  chart.panels.push_back(std::move(panel));
  return {.file = "buffers_64KB", .title = chart.title, .bars = std::move(chart)};
}

Result<PartShown> show_buffers(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::References references, published("accelerator"));
  PartShown shown;
  for (std::size_t row = 0; row < rows.size(); ++row) shown.is_right = shown.is_right && rows.is_true(row, "checked");
  const auto tcm = time_of_64_kb(rows, "tcm");
  const auto sram = time_of_64_kb(rows, "sram");
  const auto hbm = time_of_64_kb(rows, "hbm");
  if (tcm && sram && hbm) {
    const bool is_published_order = *tcm < *hbm && *hbm < *sram;
    shown.is_right = shown.is_right && is_published_order;
    shown.answer = {
        fmt::format("With 64 KB a PE, buffers in TCM take {:.1f} us, in HBM {:.1f} and in SRAM {:.1f}: the "
                    "published order{}.",
                    *tcm, *hbm, *sram, is_published_order ? "" : " does not hold")};
  }
  shown.figures = {figure_over_sizes(rows, references), figure_of_64_kb(rows, references)};
  return shown;
}

}  // namespace

Part buffers_part() {
  return {.name = "buffers",
          .title = "Memory of the buffers",
          .about = "all-reduce on a torus 3x2 with buffers in TCM, SRAM and HBM",
          .columns = {{"memory"}, {"fabric"}, {"elements"}, {"bytes"}, time_column("time_us"), {"checked"}},
          .numbers = {"bytes", "time_us"},
          .cases = buffer_cases,
          .show = show_buffers};
}

}  // namespace tutti::cli
