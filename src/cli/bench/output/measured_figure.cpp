// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/measured_figure.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/chart.hpp"

namespace tutti::cli {

namespace {

std::string remark_of(const MeasuredCharts& charts, const harness::StoredRun& run) {
  std::string remark =
      charts.is_reckoned
          ? "simulated, in virtual time"
          : "medians of all samples; whiskers: 95 % intervals over launches, or over rounds of one launch";
  if (!charts.conditions.empty()) remark += "; " + charts.conditions;
  remark += run.id > 0 ? fmt::format("\nrun {}, {}{}: {}", run.id, run.begun, run.is_complete ? "" : ", not complete",
                                     run.command)
                       : fmt::format("\n{}: {}", run.begun, run.command);
  remark += "\n" + run.machine;
  if (!charts.left_out.empty()) remark += fmt::format("\nleft out: {}", fmt::join(charts.left_out, ", "));
  return remark;
}

}  // namespace

std::string measured_to_svg(const std::vector<harness::Row>& rows, const harness::StoredRun& run, Quantity quantity) {
  const MeasuredRows measured{.rows = rows};
  MeasuredCharts charts = measured_charts(std::span(&measured, 1), quantity);
  const std::string_view what = quantity == Quantity::time ? "time" : "bus bandwidth";
  charts.lines.title = charts.is_empty
                           ? "nothing to draw"
                           : fmt::format("{}: {}{}", charts.bench, what, charts.has_sizes ? " over bytes" : "");
  charts.lines.remark = remark_of(charts, run);
  return to_svg(charts.lines, charts.bars);
}

Status check_figure(const std::string& path, const OutputOptions& output) {
  if (path.empty()) return {};
  const OutputOptions figure{.path = path, .option = "--figure"};
  TUTTI_TRY(check_output(figure));
  if (!output.path.empty() && are_one_file(figure, output))
    return wrong_argument(fmt::format("--figure and -o are both {}; give two files", in_quotes(path)));
  return {};
}

Status write_figure(const std::string& path, const std::vector<harness::Row>& rows, const harness::StoredRun& run,
                    Quantity quantity, const Context& context) {
  if (path.empty()) return {};
  return write_output(measured_to_svg(rows, run, quantity), {.path = path, .option = "--figure"}, context);
}

}  // namespace tutti::cli
