// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/regret/regret_output.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::cli {

namespace {

using tune::Lack;
using tune::MachineCell;
using tune::RegretSummary;
using tune::Taken;

constexpr int kRegretDigits = 3;
constexpr int kRegretTimeDigits = 4;

std::string note_of(const Taken& taken) {
  switch (taken.lack) {
    case Lack::machine: return "no table for this machine";
    case Lack::section: return "no section for this case";
    case Lack::time: return "this way has no time here";
    case Lack::none: break;
  }
  return taken.is_exact ? "" : "by another number of ranks";
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(printable(text)); }

}  // namespace

std::string place_of(const MachineCell& cell) {
  std::string place = cell.machine.empty() ? "" : printable(cell.machine) + ", ";
  if (cell.cell.key.collective != Collective::all_reduce)
    place += fmt::format("{}, ", name_of(cell.cell.key.collective));
  place += fmt::format("{}, {}", counted(cell.cell.key.ranks, "rank"), to_text(Bytes(cell.cell.bytes)));
  if (cell.cell.key.memory != TableMemory::ordinary) place += fmt::format(", {}", name_of(cell.cell.key.memory));
  return place;
}

Table table_of_regrets(std::span<const MachineCell> cells, std::span<const Contestant> contestants,
                       std::span<const std::string> left_out) {
  Table table({{.name = "rule", .stands_once = true},
               {.name = "collective", .stands_once = true},
               {.name = "machine"},
               {.name = "ranks"},
               {.name = "memory", .stands_once = true},
               {.name = "types", .stands_once = true},
               {.name = "bytes"},
               {.name = "left_out", .yields = 1},
               {.name = "takes"},
               {.name = "time_us", .digits = kRegretTimeDigits},
               {.name = "best"},
               {.name = "best_us", .digits = kRegretTimeDigits},
               {.name = "regret_percent", .digits = kRegretDigits},
               {.name = "note", .is_note = true}});
  for (const Contestant& contestant : contestants)
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const tune::Cell& cell = cells[i].cell;
      const Taken& taken = contestant.taken[i];
      const tune::WayTime& best = *cell.best();
      const bool is_judged = taken.lack == Lack::none;
      table.add_row({contestant.name, std::string(name_of(cell.key.collective)), text_cell(cells[i].machine),
                     std::int64_t{cell.key.ranks}, std::string(name_of(cell.key.memory)),
                     std::string(name_of(cell.key.types)), static_cast<std::int64_t>(cell.bytes),
                     left_out.empty() ? Cell() : Cell(left_out[i]),
                     taken.way ? Cell(printable(taken.way->to_string())) : Cell(), is_judged ? Cell(taken.us) : Cell(),
                     printable(best.way.to_string()), best.us, is_judged ? Cell(taken.regret * 100) : Cell(),
                     text_cell(note_of(taken))});
    }
  return table;
}

Table summary_of_regrets(std::span<const MachineCell> cells, std::span<const Contestant> contestants) {
  Table table({{.name = "rule"},
               {.name = "cells"},
               {.name = "not_judged"},
               {.name = "best_in"},
               {.name = "mean_percent", .digits = kRegretDigits},
               {.name = "greatest_percent", .digits = kRegretDigits},
               {.name = "where"},
               {.name = "takes", .yields = 1},
               {.name = "best", .yields = 2}});
  for (const Contestant& contestant : contestants) {
    const RegretSummary summary = tune::summarize(contestant.taken);
    const bool is_judged = summary.judged > 0;
    std::vector<Cell> row = {contestant.name,
                             static_cast<std::int64_t>(summary.judged),
                             summary.lacking() > 0 ? Cell(static_cast<std::int64_t>(summary.lacking())) : Cell(),
                             static_cast<std::int64_t>(summary.best),
                             is_judged ? Cell(summary.mean * 100) : Cell(),
                             is_judged ? Cell(summary.greatest * 100) : Cell()};
    if (summary.where) {
      const MachineCell& cell = cells[*summary.where];
      row.emplace_back(place_of(cell));
      row.emplace_back(printable(contestant.taken[*summary.where].way->to_string()));
      row.emplace_back(printable(cell.cell.best()->way.to_string()));
    } else {
      row.resize(table.columns().size());
    }
    table.add_row(std::move(row));
  }
  return table;
}

std::string lacks_of(const Contestant& contestant) {
  const RegretSummary summary = tune::summarize(contestant.taken);
  if (summary.lacking() == 0) return "";
  std::vector<std::string> reasons;
  if (summary.machine > 0) reasons.push_back(fmt::format("{} of a machine without a table", summary.machine));
  if (summary.section > 0) reasons.push_back(fmt::format("{} of a case without a section", summary.section));
  if (summary.time > 0) {
    std::set<std::string> ways;
    for (const Taken& taken : contestant.taken)
      if (taken.lack == Lack::time) ways.insert(printable(taken.way->to_string()));
    reasons.push_back(
        fmt::format("{} where it takes a way that has no time there ({})", summary.time, fmt::join(ways, ", ")));
  }
  return fmt::format("{}: {} of {} not judged: {}", contestant.name, summary.lacking(),
                     counted(contestant.taken.size(), "cell"), fmt::join(reasons, "; "));
}

}  // namespace tutti::cli
