// SPDX-License-Identifier: Apache-2.0
// Milestones: benches that drive many configurations of their own and write one folder of rows, tables and figures. A
// milestone is a list of parts. A part says which cases it has, makes the rows of each, and draws from rows alone, so
// that everything can be drawn again without a run. Values; main thread only, except as noted.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/views/table.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"
#include "cli/milestone/part_rows.hpp"
#include "report/chart.hpp"
#include "report/html/page.hpp"

namespace tutti::cli {

// The surroundings in which cases are made.
struct PartWorld {
  const BenchWorld& bench;
  const Context& context;
  bool is_full = false;  // else the short form
  std::string folder;    // for files that a part keeps beside its rows
};

struct PartCase {
  std::string name;       // of the part, no two alike: its rows are found by it
  double seconds = 0.02;  // about; for the time left
  // In virtual time: any threads call it, several cases at a time. Null: the part makes its cases together.
  std::function<Result<std::vector<PartRow>>()> make = nullptr;
};

// Takes the rows of a case as it finishes. An error means that they cannot be written, and ends everything.
using PartSink = std::function<Status(const CaseRows& rows)>;

struct PartFigure {
  std::string file;  // without its ending
  std::string title;
  // One of the three. A figure that is only an SVG has no live chart on the page.
  std::string svg = {};
  std::optional<report::LineChart> lines = {};
  std::optional<report::BarChart> bars = {};
};

struct PartTable {
  std::string file;  // NAME.md is written, and NAME.csv as well where `is_data`
  report::NamedTable table;
  bool is_data = false;
};

// What a part shows from its rows.
struct PartShown {
  bool is_right = true;             // all is as it should be
  std::vector<std::string> answer;  // sentences; the first stands out
  std::vector<report::Caution> cautions = {};
  std::vector<PartFigure> figures = {};
  std::vector<PartTable> tables = {};
};

struct Part {
  std::string_view name;   // of its files too: letters, digits and underscores
  std::string_view title;  // of its section
  std::string_view about;  // one line, for people
  std::vector<Column> columns;
  std::vector<std::string_view> numbers = {};  // the columns in which every row has a number
  // Code::unsupported if this machine cannot do it: the part is left out, with that reason.
  std::function<Result<std::vector<PartCase>>(const PartWorld& world)> cases;
  // For cases that have no `make`. Stops early after an interrupt.
  std::function<Status(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink)> make_together =
      nullptr;
  std::vector<std::string> keeps = {};  // files that it writes beside its rows
  // Pure.
  std::function<Result<PartShown>(const PartRows& rows)> show;
};

struct Milestone {
  std::string_view name;
  std::string_view title;
  std::string_view about;
  std::vector<Part> parts;
};

// All milestones, as the world of the commands knows them.
[[nodiscard]] std::vector<MilestoneBench> milestone_benches();

// Makes what is missing, draws everything, and says how it came out.
[[nodiscard]] Exit run_milestone(const Milestone& milestone, const MilestoneRequest& request, const BenchWorld& world,
                                 const Context& context);

}  // namespace tutti::cli
