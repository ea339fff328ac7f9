// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_traces.hpp"

#include <cstdint>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "simulate/explain/timeline.hpp"
#include "simulate/explain/transcript.hpp"
#include "simulate/trace/simulate_trace.hpp"

namespace tutti::cli {

namespace {

Table table_of_traces(bool has_fabrics) {
  std::vector<Column> columns{{.name = "fabric", .is_aside = !has_fabrics, .stands_once = true}, {.name = "file"}};
  columns.push_back({.name = "ranks"});
  columns.push_back({.name = "operations", .yields = 3});
  columns.push_back({.name = "messages"});
  columns.push_back({.name = "bytes", .yields = 2});
  columns.push_back({.name = "costs"});
  columns.push_back({.name = "time_us", .digits = kTimeDigits});
  columns.push_back({.name = "slowest_rank"});
  for (int share = 0; share < simulate::kNumShares; ++share) {
    const auto which = static_cast<simulate::Share>(share);
    const bool computes = which == simulate::Share::reducing;
    columns.push_back({.name = fmt::format("{}_percent", computes ? "compute" : simulate::name_of(which)),
                       .wrap_at = 10,
                       .digits = kShareDigits,
                       .yields = computes ? 0 : 1});
  }
  return Table(std::move(columns));
}

void add_trace(Table& table, const std::string& fabric, const simulate::PreparedTrace& trace,
               const simulate::Answer& answer) {
  std::vector<Cell> row{fabric,
                        trace.trace().file,
                        std::int64_t{trace.trace().num_ranks()},
                        static_cast<std::int64_t>(trace.trace().num_operations()),
                        static_cast<std::int64_t>(answer.messages),
                        static_cast<std::int64_t>(trace.bytes()),
                        answer.costs.empty() ? Cell() : Cell(answer.costs),
                        answer.time / 1e3,
                        std::int64_t{answer.slowest}};
  for (int share = 0; share < simulate::kNumShares; ++share) {
    const double part = answer.shares.of(static_cast<simulate::Share>(share));
    if (answer.time > 0) {
      row.emplace_back(part / answer.time * 100);
    } else {
      row.emplace_back();
    }
  }
  table.add_row(std::move(row));
}

Status check_traces(const TracesArguments& arguments) {
  const std::string_view of_one = arguments.transcript          ? "--transcript"
                                  : !arguments.timeline.empty() ? "--timeline"
                                                                : "";
  if (!of_one.empty() && arguments.traces.size() * arguments.fabrics.size() != 1)
    return wrong_argument(fmt::format("{}: it is of one trace on one fabric", of_one));
  for (const simulate::Trace& trace : arguments.traces)
    for (const fabric::Fabric& fabric : arguments.fabrics)
      if (trace.num_ranks() > fabric.num_ranks())
        return wrong_argument(fmt::format("--file: {} is of {}, and {} has {}", trace.file,
                                          counted(trace.num_ranks(), "rank"), fabric.name, fabric.num_ranks()));
  return {};
}

}  // namespace

Result<Exit> simulate_traces(TracesArguments arguments, const Context& context) {
  TUTTI_TRY(check_traces(arguments));
  Table table = table_of_traces(arguments.fabrics.size() > 1);
  std::string transcript;
  std::string timeline;
  bool all_done = true;
  for (simulate::Trace& each : arguments.traces) {
    TUTTI_TRY_ASSIGN(const simulate::PreparedTrace trace, simulate::PreparedTrace::prepare(std::move(each)));
    const auto words = [&trace](std::uint32_t rank, std::uint32_t lane, const Step& step) {
      return trace.in_words(rank, lane, step);
    };
    for (std::size_t on = 0; on < arguments.fabrics.size(); ++on) {
      simulate::Transcript in_words(arguments.fabrics[on], words);
      simulate::Timeline drawn(words);
      simulate::Recorder* const recorder = arguments.transcript         ? static_cast<simulate::Recorder*>(&in_words)
                                           : arguments.timeline.empty() ? nullptr
                                                                        : &drawn;
      const Result<simulate::Answer> answer =
          simulate::simulate_trace(trace, arguments.fabrics[on], {.recorder = recorder});
      if (!answer.ok()) {
        context.error << "tutti simulate: " << answer.status().to_string() << "\n";
        all_done = false;
        continue;
      }
      add_trace(table, arguments.asked[on], trace, *answer);
      if (arguments.transcript) transcript = in_words.text();
      if (!arguments.timeline.empty()) timeline = drawn.to_json();
    }
  }
  if (table.rows().empty()) return Exit::misused;
  if (!arguments.timeline.empty())
    TUTTI_TRY(write_output(timeline, {.path = arguments.timeline, .option = "--timeline"}, context));
  TUTTI_TRY(write_output(arguments.transcript ? transcript : narrowed(table, arguments.output, context),
                         arguments.output, context));
  return all_done ? Exit::done : Exit::found_wrong;
}

}  // namespace tutti::cli
