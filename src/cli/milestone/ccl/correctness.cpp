// SPDX-License-Identifier: Apache-2.0
// Whether every all-reduce of the catalogue is right on the accelerator's topologies and on its default fabric as it is
// (row C3). What a simulation carries are fingerprints of the contributions, so each row is a check of the data.
// The column `through` says what did the operation; a program that calls the public API is the part `api`.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "cli/interrupt.hpp"
#include "cli/machine/simulate_cells.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kThroughSimulator = "simulator";
constexpr std::string_view kRight = "right";
constexpr std::string_view kCannot = "cannot";

struct CheckedFabric {
  std::string_view name;
  std::string_view elements;  // of 2 bytes: bytes of these, in a list
  bool is_whole;              // every algorithm; else those of the default form
};
// One element, less than one for each rank, no multiple of anything, and the longest of the sweep.
constexpr std::string_view kCheckedBytes = "2,16,12014,98304";
constexpr std::array<CheckedFabric, 4> kCheckedFabrics = {{{"ring_1d:6", kCheckedBytes, true},
                                                           {"torus_2d:2x3", kCheckedBytes, true},
                                                           {"mesh_2d_no_wrap:2x3", kCheckedBytes, true},
                                                           {"accelerator_torus", "16,98304", false}}};
// On 768 ranks: those of the short form, and those in which every rank deals with every other, which take minutes and
// gigabytes there and are left out of the full form too.
constexpr std::array<std::string_view, 4> kOfLargeFabric = {"hierarchical", "ring", "recursive_doubling",
                                                            "rabenseifner"};
constexpr std::array<std::string_view, 4> kTooLong = {"one_shot", "two_shot", "two_shot_few", "two_shot_pull"};

// Whether an algorithm is checked on that fabric.
bool is_checked(const CheckedFabric& checked, std::string_view algorithm, bool is_full) {
  const auto is_in = [&](const auto& names) { return std::find(names.begin(), names.end(), algorithm) != names.end(); };
  return checked.is_whole || (is_full ? !is_in(kTooLong) : is_in(kOfLargeFabric));
}

PartRow row_of_check(const CheckedFabric& checked, const fabric::Fabric& fabric, const SimulatedCell& cell) {
  const Result<simulate::Answer> answer = simulate::simulate(cell.schedule, fabric,
                                                             {.count = cell.count,
                                                              .element_size = kElementBytes,
                                                              .staged = cell.staged,
                                                              .is_interrupted = Interrupt::has_come});
  const std::string_view result = !answer.ok()      ? (answer.status().code() == Code::unsupported ? kCannot : "wrong")
                                  : answer->checked ? kRight
                                                    : "not checked";
  return {std::string(checked.name),
          whole_cell(fabric.num_ranks()),
          cell.way.algorithm,
          whole_cell(cell.bytes / kElementBytes),
          whole_cell(cell.bytes),
          std::string(kThroughSimulator),
          std::string(result),
          answer.ok() ? Cell(answer->time / 1000) : Cell(),
          answer.ok() ? Cell() : Cell(answer.status().to_string())};
}

// The catalogue's all-reduces of all sizes on that fabric.
Result<std::vector<SimulatedCell>> cells_on(const CheckedFabric& checked, const fabric::Fabric& fabric) {
  CellOptions options;
  options.choice = {.algorithm = "", .collective = "all_reduce"};
  options.bytes = checked.elements;
  options.type = "f16";
  std::set<std::string> skipped;
  return cells_of(options, fabric, skipped);
}

Result<std::vector<PartCase>> correctness_cases(const PartWorld& world) {
  std::vector<PartCase> cases;
  for (const CheckedFabric& checked : kCheckedFabrics) {
    TUTTI_TRY_ASSIGN(fabric::Fabric loaded, fabric::load_fabric(checked.name));
    const auto fabric = std::make_shared<const fabric::Fabric>(std::move(loaded));
    TUTTI_TRY_ASSIGN(std::vector<SimulatedCell> all, cells_on(checked, *fabric));
    std::map<std::string, std::vector<SimulatedCell>> by_algorithm;
    for (SimulatedCell& cell : all) by_algorithm[cell.way.algorithm].push_back(std::move(cell));
    for (auto& [algorithm, of_it] : by_algorithm) {
      if (!is_checked(checked, algorithm, world.is_full)) continue;
      cases.push_back({.name = fmt::format("{}, {}", checked.name, algorithm),
                       .seconds = checked.is_whole ? 0.01 : 1,
                       .make = [&checked, fabric, cells = of_it]() -> Result<std::vector<PartRow>> {
                         std::vector<PartRow> rows;
                         for (const SimulatedCell& cell : cells) rows.push_back(row_of_check(checked, *fabric, cell));
                         if (Interrupt::has_come()) return Status(Code::aborted, "interrupted");
                         return rows;
                       }});
    }
  }
  return cases;
}

// How many rows came out how, by fabric.
PartTable table_of_results(const PartRows& rows) {
  Table table({{"fabric"}, {"ranks"}, {"algorithms"}, {"checks"}, {"right"}, {"wrong_or_unchecked"}, {"cannot"}});
  for (const std::string& fabric : rows.texts("fabric")) {
    std::set<std::string> algorithms;
    std::uint64_t checks = 0;
    std::uint64_t right = 0;
    std::uint64_t cannot = 0;
    Cell ranks;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (rows.text(row, "fabric") != fabric) continue;
      ++checks;
      ranks = rows.cell(row, "ranks");
      algorithms.insert(rows.text(row, "algorithm"));
      right += rows.text(row, "result") == kRight ? 1 : 0;
      cannot += rows.text(row, "result") == kCannot ? 1 : 0;
    }
    table.add_row({fabric, ranks, whole_cell(algorithms.size()), whole_cell(checks), whole_cell(right),
                   whole_cell(checks - right - cannot), whole_cell(cannot)});
  }
  return {.file = "correctness_summary", .table = {.title = "Checked all-reduces", .table = std::move(table)}};
}

Result<PartShown> show_correctness(const PartRows& rows) {
  PartShown shown;
  std::size_t right = 0;
  std::size_t cannot = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string result = rows.text(row, "result");
    right += result == kRight ? 1 : 0;
    cannot += result == kCannot ? 1 : 0;
    if (result == kRight || result == kCannot) continue;
    shown.cautions.push_back({fmt::format("{} of {} elements on {} is {}: {}", rows.text(row, "algorithm"),
                                          rows.number(row, "elements").value_or(0), rows.text(row, "fabric"), result,
                                          rows.text(row, "note")),
                              true});
  }
  shown.is_right = shown.cautions.empty();
  shown.answer = {fmt::format("{} of {} are right: every contribution is in every rank's result exactly once.", right,
                              counted(rows.size(), "all-reduce"))};
  if (cannot > 0)
    shown.answer.push_back(
        fmt::format("{} cannot be done on their fabric, for example for lack of queue slots; the "
                    "rows say why.",
                    cannot));
  shown.tables.push_back(table_of_results(rows));
  return shown;
}

}  // namespace

Part correctness_part() {
  return {.name = "correctness",
          .title = "Correctness of all-reduce",
          .about = "every all-reduce of the catalogue, with its data checked",
          .columns = {{"fabric"},
                      {"ranks"},
                      {"algorithm"},
                      {"elements"},
                      {"bytes"},
                      {"through"},
                      {"result"},
                      time_column("time_us"),
                      {"note"}},
          .cases = correctness_cases,
          .show = show_correctness};
}

}  // namespace tutti::cli
