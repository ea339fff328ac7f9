// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report_page.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/views/views.hpp"
#include "cli/bench/output/measured_charts.hpp"
#include "cli/report/answer.hpp"
#include "cli/report/table_section.hpp"

namespace tutti::cli {

namespace {

using harness::Row;
using report::Fact;
using report::Page;
using report::Section;

// Of a page that has more of them than fit, so many are shown.
struct MostShown {
  std::size_t rows = 8000;  // of a table
  MostDrawn drawn = {.panels = 24, .lines = 60, .bars = 120};

  [[nodiscard]] MostShown halved() const {
    return {.rows = rows / 2,
            .drawn = {.panels = std::max<std::size_t>(drawn.panels / 2, 1),
                      .lines = std::max<std::size_t>(drawn.lines / 2, 8),
                      .bars = std::max<std::size_t>(drawn.bars / 2, 8)}};
  }
};

// --- facts

void add_fact(std::vector<Fact>& facts, std::string name, std::string value) {
  if (!value.empty()) facts.push_back({std::move(name), std::move(value)});
}

// "24683620 kB" as "23.5 GB"; anything else as it is.
std::string memory_words(std::string_view text) {
  constexpr std::string_view kUnit = " kB";
  if (!text.ends_with(kUnit)) return std::string(text);
  const Result<std::int64_t> kilobytes = parse_integer(text.substr(0, text.size() - kUnit.size()));
  return kilobytes.ok() ? fmt::format("{:.1f} GB", static_cast<double>(*kilobytes) / (1024.0 * 1024.0))
                        : std::string(text);
}

// The fingerprint of a machine has four parts.
void add_machine(std::vector<Fact>& facts, const std::string& machine) {
  const std::vector<std::string_view> parts = split(machine, ';');
  constexpr std::string_view kNames[] = {"Processor", "Cores", "Memory", "System"};
  if (parts.size() != std::size(kNames)) return add_fact(facts, "Machine", machine);
  for (std::size_t each = 0; each < parts.size(); ++each)
    add_fact(facts, std::string(kNames[each]), memory_words(trim(parts[each])));
}

std::string versions_in(const std::vector<Row>& rows) {
  std::string text;
  std::set<std::string> seen;
  for (const Row& row : rows)
    if (!row.version.empty() && seen.insert(row.version).second) text += (text.empty() ? "" : ", ") + row.version;
  return text;
}

// How sure the times are, and what disturbed them.
void add_quiet(std::vector<Fact>& facts, const std::vector<Row>& joined) {
  std::uint64_t late = 0;
  std::uint64_t samples = 0;
  std::size_t num_warned = 0;
  std::size_t num_measured = 0;
  std::vector<double> half_widths;
  for (const Row& row : joined) {
    if (row.samples.empty() || row.outcome != harness::Outcome::ok || harness::is_exact(row)) continue;
    ++num_measured;
    late += row.invalid;
    samples += row.samples.size();
    const harness::Summary summary = summarize(row);
    if (summary.interval && summary.median > 0)
      half_widths.push_back(50 * (summary.interval->high - summary.interval->low) / summary.median);
    num_warned += harness::warnings_of(row).empty() ? 0 : 1;
  }
  if (num_measured == 0) return;
  std::string text;
  if (!half_widths.empty()) {
    std::sort(half_widths.begin(), half_widths.end());
    text = fmt::format("95 % intervals are ±{:.2g} % in the middle, ±{:.2g} % at worst; ",
                       half_widths[half_widths.size() / 2], half_widths.back());
  }
  text +=
      fmt::format("{:.2g} % of iterations began late and are left out; {} of {} rows have a warning",
                  100.0 * static_cast<double>(late) / static_cast<double>(late + samples), num_warned, num_measured);
  add_fact(facts, "How quiet it was", text);
  add_fact(facts, "Measured", fmt::format("{} in {}", counted(samples, "sample"), counted(num_measured, "row")));
}

std::vector<Fact> facts_of(const RunWithRows& one, const std::vector<Row>& joined, const std::string& conditions) {
  const harness::StoredRun& run = one.run;
  std::vector<Fact> facts;
  add_machine(facts, run.machine);
  add_fact(facts, "Begun", run.begun);
  add_fact(facts, "Tutti", run.tutti);
  add_fact(facts, "Versions", versions_in(joined));
  add_fact(facts, "The same in all charts", conditions);
  add_quiet(facts, joined);
  add_fact(facts, "Run", run.name.empty() ? std::to_string(run.id) : fmt::format("{} ({})", run.id, run.name));
  add_fact(facts, "Note", run.note);
  add_fact(facts, "Command", run.command);
  return facts;
}

// --- charts and tables

constexpr std::string_view kBands =
    "Bands and whiskers are 95 % intervals over launches, or over rounds of one launch.";

// Both quantities, where there are any. Returns what all charts share.
std::string add_charts(Section& section, std::span<const MeasuredRows> measured, const MostDrawn& most) {
  std::string conditions;
  for (const Quantity quantity : {Quantity::time, Quantity::bus_bandwidth}) {
    MeasuredCharts charts = measured_charts(measured, quantity, most);
    if (charts.is_empty) continue;
    const bool is_time = quantity == Quantity::time;
    const std::string title = fmt::format("{}: {}", charts.bench, is_time ? "time" : "bus bandwidth");
    if (is_time) {
      conditions = charts.conditions;
      std::string remark = charts.is_reckoned ? "Simulated, in virtual time." : std::string(kBands);
      if (!charts.left_out.empty()) remark += fmt::format(" Left out of charts: {}.", fmt::join(charts.left_out, ", "));
      charts.lines.remark = std::move(remark);
    }
    charts.lines.title = title;
    charts.bars.title = title;
    section.lines.push_back(std::move(charts.lines));
    section.bars.push_back(std::move(charts.bars));
  }
  return conditions;
}

// No text of a cell is so long that a page cannot have thousands of them.
Cell shortened(const Cell& cell) {
  constexpr std::size_t kMostText = 400;
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr || text->size() <= kMostText) return cell;
  return printable(text->substr(0, kMostText)) + "…";
}

report::NamedTable shown_table(std::string title, const Table& table, std::size_t most, std::string_view where_all_is) {
  Table shown(table.columns());
  const std::size_t count = std::min(table.rows().size(), most);
  for (std::size_t each = 0; each < count; ++each) {
    std::vector<Cell> cells;
    for (const Cell& cell : table.rows()[each]) cells.push_back(shortened(cell));
    shown.add_row(std::move(cells));
  }
  std::string remark;
  if (count < table.rows().size())
    remark =
        fmt::format("The table has the first {} of {} rows; {} has all.", count, table.rows().size(), where_all_is);
  return {.title = std::move(title), .table = std::move(shown), .remark = std::move(remark)};
}

std::string title_of(const RunWithRows& one) {
  const std::string name = one.run.name.empty() ? fmt::format("Run {}", one.run.id) : one.run.name;
  return name == one.run.bench ? name : fmt::format("{}: {}", name, one.run.bench);
}

Section section_of(const RunWithRows& one, const BenchWorld& world, const MostShown& most) {
  Section section{.title = title_of(one),
                  .answer = {},
                  .cautions = {},
                  .summaries = {},
                  .facts = {},
                  .lines = {},
                  .bars = {},
                  .tables = {}};
  const std::vector<Row> joined = harness::join_launches(one.rows);
  Answer answer = answer_of(comparison_of(one, world));
  section.answer = std::move(answer.sentences);
  section.cautions = cautions_of(joined);
  if (!one.run.is_complete)
    section.cautions.insert(
        section.cautions.begin(),
        {fmt::format("The run is not complete: it has {}.", counted(one.rows.size(), "row")), true});
  section.cautions.insert(section.cautions.end(), answer.cautions.begin(), answer.cautions.end());
  section.summaries = std::move(answer.summaries);
  const MeasuredRows measured{.rows = one.rows, .name = {}, .command = one.run.command};
  const std::string conditions = add_charts(section, std::span(&measured, 1), most.drawn);
  section.facts = facts_of(one, joined, conditions);
  if (!one.rows.empty())
    section.tables.push_back(shown_table("All rows", harness::table_of(one.rows), most.rows,
                                         fmt::format("'tutti show {} --format csv'", one.run.id)));
  return section;
}

std::string title_of_page(std::size_t num_runs, std::size_t num_tables) {
  if (num_runs + num_tables == 1) return "Tutti report";
  const std::string runs = num_runs == 0 ? "" : counted(num_runs, "run");
  const std::string tables = num_tables == 0 ? "" : counted(num_tables, "table");
  return fmt::format("Tutti report of {}{}{}", runs, runs.empty() || tables.empty() ? "" : " and ", tables);
}

std::string where_made(std::span<const DecisionTable> tables) {
  const DecisionTable& first = tables.front();
  const bool is_one_machine = std::all_of(tables.begin(), tables.end(),
                                          [&](const DecisionTable& each) { return each.machine == first.machine; });
  std::string where = is_one_machine ? first.machine : "Several machines";
  if (!first.made.empty())
    where += fmt::format("{}{} made {}", where.empty() ? "" : "; ", tables.size() > 1 ? "the first table" : "table",
                         first.made);
  return where;
}

Page page_with(std::string title, std::span<const RunWithRows> runs) {
  const std::string made_by = fmt::format("Tutti {}", TUTTI_VERSION);
  if (runs.empty()) return {.title = std::move(title), .where = {}, .made_by = made_by, .sections = {}};
  const harness::StoredRun& first = runs.front().run;
  const bool is_one_machine =
      std::all_of(runs.begin(), runs.end(), [&](const RunWithRows& each) { return each.run.machine == first.machine; });
  return {.title = std::move(title),
          .where = fmt::format("{}; {} begun {}", is_one_machine ? first.machine : "Several machines",
                               runs.size() > 1 ? "the first run" : "run", first.begun),
          .made_by = made_by,
          .sections = {}};
}

// The largest page that is small enough.
std::string fitting(const report::Served* served, const std::function<Page(const MostShown&)>& make) {
  MostShown most;
  while (true) {
    const Page page = make(most);
    std::string html = served != nullptr ? to_html(page, *served) : to_html(page);
    if (html.size() < kMostPageBytes || most.rows == 0) return html;
    most = most.halved();
  }
}

Section section_of_change(const RunPair& pair, const std::vector<std::string>& differences, const MostShown& most) {
  const auto& [first, second] = pair;
  Section section{.title = fmt::format("From {} to {}", first.name(), second.name()),
                  .answer = {},
                  .cautions = {},
                  .summaries = {},
                  .facts = {},
                  .lines = {},
                  .bars = {},
                  .tables = {}};
  const harness::Comparison comparison = comparison_of(pair);
  Answer answer = answer_of_change(comparison);
  section.answer = std::move(answer.sentences);
  section.summaries = std::move(answer.summaries);
  const auto sentence = [](std::string words) {
    if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
      words.front() = static_cast<char>(words.front() - 'a' + 'A');
    return words + ".";
  };
  for (const std::string& each : remarks_on(pair)) section.cautions.push_back({sentence(each)});
  for (const std::string& each : differences) section.cautions.push_back({each + "."});
  section.cautions.insert(section.cautions.end(), answer.cautions.begin(), answer.cautions.end());
  const MeasuredRows measured[] = {{.rows = first.rows, .name = first.name(), .command = first.run.command},
                                   {.rows = second.rows, .name = second.name(), .command = second.run.command}};
  static_cast<void>(add_charts(section, measured, most.drawn));
  if (!comparison.cases.empty())
    section.tables.push_back(
        shown_table("All cases side by side", harness::table_of_pairs(comparison), most.rows,
                    fmt::format("'tutti compare {} {} --format csv'", first.run.id, second.run.id)));
  return section;
}

}  // namespace

std::string page_of_runs(const std::vector<RunWithRows>& runs, const BenchWorld& world, const report::Served* served) {
  return page_of_all(runs, {}, world, served);
}

std::string page_of_all(const std::vector<RunWithRows>& runs, const std::vector<DecisionTable>& tables,
                        const BenchWorld& world, const report::Served* served) {
  return fitting(served, [&](const MostShown& most) {
    Page page = page_with(title_of_page(runs.size(), tables.size()), runs);
    if (runs.empty()) page.where = where_made(tables);
    for (const RunWithRows& each : runs) page.sections.push_back(section_of(each, world, most));
    for (const DecisionTable& each : tables) {
      Section section = section_of_table(each);
      for (std::vector<report::NamedTable>* const tables_of_section : {&section.summaries, &section.tables})
        for (report::NamedTable& rows : *tables_of_section) {
          report::NamedTable shown = shown_table(rows.title, rows.table, most.rows, "the file");
          if (!rows.remark.empty()) shown.remark = rows.remark + (shown.remark.empty() ? "" : " ") + shown.remark;
          rows = std::move(shown);
        }
      page.sections.push_back(std::move(section));
    }
    return page;
  });
}

Result<std::string> page_of_change(const RunPair& pair, const std::string& ignored, const BenchWorld& world,
                                   const report::Served* served) {
  RunPair matched = pair;
  const Result<std::vector<std::string>> differences = match(matched, ignored);
  if (!differences.ok()) return differences.status();
  return fitting(served, [&](const MostShown& most) {
    Page page = page_with("Tutti report of two runs", pair);
    page.sections.push_back(section_of_change(matched, *differences, most));
    for (const RunWithRows& each : pair) page.sections.push_back(section_of(each, world, most));
    return page;
  });
}

std::string machine_in_figures(const std::string& machine) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(machine, ';')) parts.push_back(memory_words(trim(part)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace tutti::cli
