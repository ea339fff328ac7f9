// SPDX-License-Identifier: Apache-2.0
// Measured, simulated, theoretical and reference values of all-reduce in one figure (row C7). What has the same
// configuration stands side by side; what has another one is hatched and says so. The external 366 us are above a break
// of the axis.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/units.hpp"
#include "base/variables/conf.hpp"
#include "base/variables/variables.hpp"
#include "calibrate/fit.hpp"
#include "calibrate/measure.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "simulate/references/against.hpp"

namespace tutti::cli {

namespace {

constexpr std::array<std::uint64_t, 2> kComparedBytes = {65536, 98304};  // of the published figures
constexpr std::string_view kCompareBudget = "300ms";
constexpr std::string_view kHostAlgorithm =
    "ring";  // which calibration does not run; of what is measured and of what is simulated beside it
constexpr std::string_view kMachineFile = "machine.toml";
constexpr std::string_view kHostCase = "2 ranks on one host";
constexpr std::string_view kHostType = "f32";  // of which kernels are calibrated

enum ValueKind : std::size_t { reference_value, simulated_value, theory_value, measured_value };
constexpr std::array<std::string_view, 4> kValueKinds = {"reference", "simulated", "theory", "measured"};

// A row of the part.
struct ComparedValue {
  std::string group;        // the configuration, in short
  std::uint64_t bytes = 0;  // of a rank
  ValueKind kind = reference_value;
  double value_us = 0;
  Cell low = {};
  Cell high = {};
  bool is_alike = true;  // of the configuration of what is simulated beside it
  std::string configuration;
  std::string source;
  std::string date;
};

PartRow row_of_value(const ComparedValue& value) {
  return {value.group,
          whole_cell(value.bytes),
          std::string(kValueKinds[value.kind]),
          value.value_us,
          value.low,
          value.high,
          value.is_alike,
          value.configuration,
          value.source,
          value.date};
}

// How that algorithm is simulated for the figure: "centre from corner 1 on accelerator_torus 2x3".
std::string way_in_words(const simulate::Series& series, std::string_view algorithm) {
  const auto way = std::find_if(series.ways.begin(), series.ways.end(),
                                [&](const simulate::ReferenceWay& each) { return each.algorithm == algorithm; });
  if (way == series.ways.end()) return std::string(algorithm);
  return fmt::format("{}{} on {}", algorithm,
                     way->corner.value_or(0) > 0 ? fmt::format(" from corner {}", *way->corner) : "", way->fabric);
}

// A published figure, and what is simulated in its place.
Result<std::vector<PartRow>> rows_of_figure(const std::shared_ptr<const simulate::References>& references,
                                            const simulate::Series& series) {
  const std::array<const simulate::Series*, 1> only = {&series};
  TUTTI_TRY_ASSIGN(const std::vector<simulate::Compared> compared, simulate::compare(*references, only, nullptr));
  std::vector<PartRow> rows;
  for (const simulate::Compared& each : compared) {
    const bool is_theory = series.kind == simulate::FigureKind::theory;
    ComparedValue value{
        .group = series.bytes.size() > 1 ? fmt::format("{}, {}", series.id, to_text(Bytes(each.bytes))) : series.id,
        .bytes = each.bytes,
        .kind = is_theory ? theory_value : reference_value,
        .value_us = each.published,
        .is_alike = each.simulated.has_value(),
        .configuration = series.configuration,
        .source = references->source,
        .date = references->date};
    rows.push_back(row_of_value(value));
    if (!each.simulated) continue;
    value.kind = simulated_value;
    value.value_us = *each.simulated;
    value.source = fmt::format("simulated by Tutti, {}", way_in_words(series, each.best));
    value.date = "";
    rows.push_back(row_of_value(value));
  }
  return rows;
}

std::string name_of_host(std::uint64_t bytes) { return fmt::format("{}, {}", kHostCase, to_text(Bytes(bytes))); }

Result<SweepPlan> host_plan(const PartWorld& world) {
  SweepOptions options;
  options.bench = "all_reduce";
  options.peers = "tutti";
  options.budget = kCompareBudget;
  options.axes = {"bytes=64K,96K", fmt::format("type={}", kHostType), "num_ranks=2",
                  fmt::format("algorithm={}", kHostAlgorithm)};
  return measured_plan(std::move(options), world);
}

Result<std::vector<PartCase>> comparison_cases(const PartWorld& world) {
  TUTTI_TRY_ASSIGN(simulate::References read, published("accelerator"));
  const auto references = std::make_shared<const simulate::References>(std::move(read));
  std::vector<PartCase> cases;
  for (const simulate::Series& series : references->series)
    cases.push_back({.name = series.id, .make = [references, &series] { return rows_of_figure(references, series); }});
  // Where Tutti's worker is not here, nothing is measured.
  if (!is_peer_here(world.bench, "tutti")) return cases;
  cases.push_back({.name = std::string(kHostCase), .seconds = 8});
  return cases;
}

Result<double> simulated_host_us(const std::string& fabric, std::uint64_t bytes) {
  TUTTI_TRY_ASSIGN(
      const simulate::Answer answer,
      simulate_all_reduce({.fabric = fabric, .algorithm = std::string(kHostAlgorithm), .type = std::string(kHostType)},
                          bytes));
  return answer.time / 1000;
}

// A calibrated fabric of this machine, as a file in the folder. Nothing where it cannot be measured.
Result<std::optional<std::string>> calibrated_fabric(const PartWorld& world) {
  if (!calibrate::can_measure().ok()) return std::optional<std::string>();
  TUTTI_TRY_ASSIGN(const Variables variables,
                   Variables::load(world.context.environment, ConfPaths::standard(world.context.environment)));
  TUTTI_TRY_ASSIGN(const calibrate::Measurements measured, calibrate::measure(variables));
  std::string path = std::filesystem::absolute(fmt::format("{}/{}", world.folder, kMachineFile)).string();
  TUTTI_TRY(replace_file(path, calibrate::file_of(measured, 2)));
  return std::optional(std::move(path));
}

// This machine's time, and what the calibrated fabric says in its place.
std::vector<PartRow> rows_of_host(std::uint64_t bytes, const harness::Row& row, std::optional<double> simulated_us) {
  const harness::Summary summary = summarize(row);
  const Cell unknown;
  ComparedValue value{
      .group = name_of_host(bytes),
      .bytes = bytes,
      .kind = measured_value,
      .value_us = summary.median / 1000,
      .low = summary.interval ? Cell(summary.interval->low / 1000) : unknown,
      .high = summary.interval ? Cell(summary.interval->high / 1000) : unknown,
      .is_alike = simulated_us.has_value(),
      .configuration = fmt::format("2 ranks on this machine, {} of {} over shared memory", kHostAlgorithm, kHostType),
      .source = fmt::format("measured: {}", row.ran.empty() ? "tutti" : row.ran),
      .date = ""};
  std::vector<PartRow> rows;
  if (simulated_us) {
    const ComparedValue simulated{.group = value.group,
                                  .bytes = bytes,
                                  .kind = simulated_value,
                                  .value_us = *simulated_us,
                                  .configuration = value.configuration,
                                  .source = fmt::format("simulated by Tutti on {}, calibrated here", kMachineFile),
                                  .date = ""};
    rows.push_back(row_of_value(simulated));
  }
  rows.push_back(row_of_value(value));
  return rows;
}

// The sizes are one case, since they are simulated on one calibration.
Status make_comparison(std::span<const PartCase> /*pending*/, const PartWorld& world, const PartSink& sink) {
  TUTTI_TRY_ASSIGN(SweepPlan plan, host_plan(world));
  TUTTI_TRY_ASSIGN(const std::optional<std::string> fabric, calibrated_fabric(world));
  if (Interrupt::has_come()) return {};
  const std::set<std::uint64_t> sizes(kComparedBytes.begin(), kComparedBytes.end());
  std::size_t num_sizes = 0;
  CaseRows made{.name = std::string(kHostCase)};
  TUTTI_TRY(measure_sizes(std::move(plan), sizes, world,
                          [&](std::uint64_t bytes, std::span<const harness::Row> rows) -> Status {
                            ++num_sizes;
                            const harness::Row& row = rows.front();
                            if (row.outcome != harness::Outcome::ok || row.samples.empty()) {
                              made.error = fmt::format("{}: {}", name_of(row.outcome), row.note);
                              return {};
                            }
                            std::optional<double> simulated_us;
                            if (fabric) {
                              TUTTI_TRY_ASSIGN(simulated_us, simulated_host_us(*fabric, bytes));
                            }
                            for (PartRow& each : rows_of_host(bytes, row, simulated_us))
                              made.rows.push_back(std::move(each));
                            return {};
                          }));
  // After an interrupt some are missing.
  return num_sizes == sizes.size() ? sink(made) : Status();
}

ValueKind kind_of(const PartRows& rows, std::size_t row) {
  const auto found = std::find(kValueKinds.begin(), kValueKinds.end(), rows.text(row, "kind"));
  return static_cast<ValueKind>(std::min<std::ptrdiff_t>(found - kValueKinds.begin(), measured_value));
}

// " Reference and theory: SOURCE (DATE). Simulated: …"
std::string sources_in_words(const PartRows& rows) {
  std::vector<std::string> sources;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const ValueKind kind = kind_of(rows, row);
    if (kind != reference_value && kind != theory_value) continue;
    std::string source = cited(rows.text(row, "source"), rows.text(row, "date"));
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(std::move(source));
  }
  if (sources.empty()) return "";
  return fmt::format(
      " Reference and theory: {}. Simulated: by Tutti; beside references, on the accelerator as a torus of 2x3 "
      "packages. "
      "The figures of buffers have a torus of 3x2, where packages have other neighbours and times differ a little.",
      fmt::join(sources, "; "));
}

PartFigure figure_of_values(const PartRows& rows) {
  report::BarChart chart{.title = "All-reduce: measured, simulated, theoretical and reference values",
                         .remark = fmt::format("Bars side by side are of one configuration.{}", sources_in_words(rows)),
                         .kinds = {kValueKinds.begin(), kValueKinds.end()},
                         .hatched = "of another configuration than anything beside it",
                         .panels = {}};
  report::BarPanel panel{.title = "", .y_name = "time, us", .groups = {}};
  for (const std::string& group : rows.texts("group")) {
    report::BarGroup bars{.name = group, .bars = {}};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (rows.text(row, "group") != group) continue;
      const auto low = rows.number(row, "low_us");
      const auto high = rows.number(row, "high_us");
      bars.bars.push_back({.kind = kind_of(rows, row),
                           .value = *rows.number(row, "value_us"),
                           .range = low && high ? std::optional(report::Range{*low, *high}) : std::nullopt,
                           .is_hatched = !rows.is_true(row, "is_alike"),
                           .remark = rows.text(row, "configuration"),
                           .made_by = rows.origin().command});
    }
    panel.groups.push_back(std::move(bars));
  }
  chart.panels.push_back(std::move(panel));
  // As a picture: charts of pages have no broken axis.
  return {.file = "comparison", .title = chart.title, .svg = to_svg(chart)};
}

// How wrong what is simulated is, beside a value of the same configuration.
struct ValueError {
  std::string group;
  double error = 0;  // a share
};
std::vector<ValueError> errors_of(const PartRows& rows, ValueKind beside) {
  std::vector<ValueError> errors;
  for (const std::string& group : rows.texts("group")) {
    std::optional<double> value;
    std::optional<double> simulated;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (rows.text(row, "group") != group) continue;
      if (kind_of(rows, row) == beside) value = rows.number(row, "value_us");
      if (kind_of(rows, row) == simulated_value) simulated = rows.number(row, "value_us");
    }
    if (value && simulated) errors.push_back({group, std::abs(*simulated / *value - 1)});
  }
  return errors;
}

double greatest_of(const std::vector<ValueError>& errors) {
  double greatest = 0;
  for (const ValueError& each : errors) greatest = std::max(greatest, each.error);
  return greatest;
}

Result<PartShown> show_comparison(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::References references, published("accelerator"));
  PartShown shown;
  const std::vector<ValueError> published_errors = errors_of(rows, reference_value);
  for (const ValueError& each : published_errors)
    for (const simulate::Series& series : references.series)
      if (series.id == each.group && series.bar >= 0) shown.is_right = shown.is_right && each.error <= series.bar;
  if (!published_errors.empty())
    shown.answer.push_back(fmt::format("{} {} simulated in the same configuration; the greatest error is {:.1f} %.",
                                       counted(published_errors.size(), "reference value"),
                                       are(published_errors.size()), greatest_of(published_errors) * 100));
  // Calibration does not run this algorithm, so this error is a prediction's; it is no bar.
  if (const std::vector<ValueError> measured = errors_of(rows, measured_value); !measured.empty())
    shown.answer.push_back(
        fmt::format("On this machine, calibrated without it, {} of {} is simulated with "
                    "an error of up to {:.1f} %.",
                    kHostAlgorithm, kHostType, greatest_of(measured) * 100));
  shown.answer.emplace_back(
      "Hatched values are of other configurations: they say how large times are, and nothing about errors.");
  shown.figures.push_back(figure_of_values(rows));
  shown.tables.push_back({.file = "comparison", .table = {.title = "Values and their sources", .table = rows.table()}});
  return shown;
}

}  // namespace

Part comparison_part() {
  return {.name = "comparison",
          .title = "Measured, simulated, theoretical and reference values",
          .about = "all values of all-reduce in one figure, like configurations side by side",
          .columns = {{"group"},
                      {"bytes"},
                      {"kind"},
                      time_column("value_us"),
                      time_column("low_us"),
                      time_column("high_us"),
                      {"is_alike"},
                      {"configuration"},
                      {"source"},
                      {"date"}},
          .numbers = {"value_us"},
          .cases = comparison_cases,
          .make_together = make_comparison,
          .keeps = {std::string(kMachineFile)},
          .show = show_comparison};
}

}  // namespace tutti::cli
