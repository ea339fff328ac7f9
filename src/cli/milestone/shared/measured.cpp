// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/shared/measured.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/units.hpp"
#include "bench/results/cells.hpp"
#include "bench/results/comparison.hpp"
#include "bench/views/comparison_words.hpp"
#include "bench/views/views.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/shared/cautions.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "cli/report/answer.hpp"
#include "cli/report/report_page.hpp"

namespace tutti::cli {

namespace {

using harness::Comparison;
using harness::Row;

constexpr std::string_view kBytes = "bytes";
constexpr std::uint64_t kLeastRounds = 10;
constexpr double kNanosOfAMicrosecond = 1000;

std::optional<std::uint64_t> bytes_of(const harness::Point& point) {
  const harness::Value* const value = point.find(kBytes);
  if (value == nullptr) return std::nullopt;
  const Result<Bytes> bytes = parse_bytes(value->text());
  return bytes.ok() ? std::optional(bytes->value()) : std::nullopt;
}

std::size_t baseline_in(const std::vector<std::string>& competitors, const std::vector<std::string>& baselines) {
  for (const std::string& beginning : baselines)
    for (std::size_t each = 0; each < competitors.size(); ++each)
      if (competitors[each].starts_with(beginning)) return each;
  return 0;
}

// Null where there is none.
Cell figure_if(bool is_there, double value) { return is_there ? harness::figure(value) : Cell(); }

// Median, interval, and the slowest of a hundred.
std::vector<Cell> cells_of_times(const harness::Summary& summary) {
  const auto& interval = summary.interval;
  return {harness::micros(summary.median), interval ? harness::micros(interval->low) : Cell(),
          interval ? harness::micros(interval->high) : Cell(), summary.p99 ? harness::micros(*summary.p99) : Cell()};
}

// Null for a single rank.
Cell bus_bandwidth_of(const Row& row, double median) {
  const auto factor = row.message ? harness::bus_factor(row.message->traffic, row.num_ranks) : std::nullopt;
  return factor && median > 0 ? harness::figure(row.message->bytes * *factor / median) : Cell();
}

// What one competitor gave.
PartRow row_of_competitor(const Row& row) {
  PartRow cells = {whole_cell(static_cast<std::uint64_t>(row.num_ranks))};
  if (row.outcome == harness::Outcome::ok && !row.samples.empty()) {
    const harness::Summary summary = summarize(row);
    for (const Cell& each : cells_of_times(summary)) cells.push_back(each);
    cells.push_back(bus_bandwidth_of(row, summary.median));
  } else {
    cells.resize(cells.size() + 5);
  }
  cells.push_back(whole_cell(row.samples.size()));
  cells.emplace_back(std::string(name_of(row.outcome)));
  cells.emplace_back(row.is_checked);
  cells.push_back(harness::text_or_null(row.ran));
  cells.push_back(harness::text_or_null(row.version));
  cells.push_back(harness::text_or_null(row.outcome == harness::Outcome::ok ? warnings(row) : row.note));
  return cells;
}

}  // namespace

std::vector<Column> measured_columns() {
  using harness::measured;
  return {{"bytes"},
          {"competitor"},
          {"type"},
          {"ranks"},
          measured("time_us"),
          measured("low_us"),
          measured("high_us"),
          measured("p99_us"),
          measured("busbw_gbs"),
          {"samples"},
          {"outcome"},
          {"checked"},
          {"ran"},
          {"version"},
          {"note"},
          {"is_best"},
          {"is_tied"},
          {"baseline"},
          measured("speedup"),
          measured("speedup_low"),
          measured("speedup_high")};
}

std::vector<PartRow> rows_of_competitors(std::span<const Row> rows, bool by_algorithm,
                                         const std::vector<std::string>& baselines, const CompetitorName& name) {
  const Comparison comparison = Comparison::of_peers({rows.begin(), rows.end()}, true, by_algorithm);
  const std::size_t baseline = baseline_in(comparison.competitors, baselines);
  const std::vector<harness::Standing> standings = standings_of(comparison);
  std::vector<PartRow> made;
  for (std::size_t number = 0; number < comparison.cases.size(); ++number) {
    const harness::ComparedCase& one = comparison.cases[number];
    const harness::Standing& standing = standings[number];
    for (std::size_t each = 0; each < one.rows.size(); ++each) {
      if (!one.rows[each]) continue;
      const std::optional<std::uint64_t> bytes = bytes_of(one.rows[each]->point);
      const harness::Value* const type = one.rows[each]->point.find("type");
      PartRow row = {bytes ? whole_cell(*bytes) : Cell(), name(comparison.competitors[each]),
                     type == nullptr ? Cell() : Cell(type->text())};
      for (Cell& cell : row_of_competitor(*one.rows[each])) row.push_back(std::move(cell));
      const bool is_tied = std::find(standing.ties.begin(), standing.ties.end(), each) != standing.ties.end();
      const auto found =
          each == baseline ? std::nullopt : comparison.compare_by_rounds(standing.scored, each, baseline);
      const harness::Ratio ratio = found.value_or(harness::Ratio());
      const harness::Interval interval = ratio.interval.value_or(harness::Interval());
      row.emplace_back(standing.best == each);
      row.emplace_back(is_tied);
      row.emplace_back(name(comparison.competitors[baseline]));
      row.push_back(figure_if(found.has_value(), ratio.ratio));
      row.push_back(figure_if(ratio.interval.has_value(), interval.low));
      row.push_back(figure_if(ratio.interval.has_value(), interval.high));
      made.push_back(std::move(row));
    }
  }
  return made;
}

bool is_peer_here(const BenchWorld& bench, std::string_view name) {
  return std::any_of(bench.peers.begin(), bench.peers.end(),
                     [&](const PeerSummary& peer) { return peer.name == name && bench.look_for(peer.name).ok(); });
}

Result<SweepPlan> measured_plan(SweepOptions options, const PartWorld& world) {
  if (options.launches.empty()) options.launches = "1";
  return make_plan(options, world.bench, world.context.environment);
}

std::string identity_of(const SweepPlan& plan) {
  std::uint64_t identity = kDigestOfNothing;
  for (const harness::Group& each : plan.groups) identity = digest(harness::to_string(each), identity);
  return fmt::format("sweep {:08x}", identity & UINT32_MAX);
}

double seconds_of(const SweepPlan& plan) {
  // Intervals of all rows are rarely so narrow that a row ends before its budget.
  double seconds = plan.expected_seconds();
  for (const harness::Group& each : plan.groups)
    seconds += plan.runner.measure.budget.seconds *
               static_cast<double>(std::count_if(each.cases.begin(), each.cases.end(),
                                                 [](const harness::Case& one) { return one.skipped.empty(); }));
  return seconds;
}

Status measure_sizes(SweepPlan plan, const std::set<std::uint64_t>& sizes, const PartWorld& world,
                     const OnSize& on_size) {
  for (harness::Group& group : plan.groups)
    std::erase_if(group.cases, [&](const harness::Case& each) {
      const std::optional<std::uint64_t> bytes = bytes_of(each.point);
      return !bytes || !sizes.contains(*bytes);
    });
  std::erase_if(plan.groups, [](const harness::Group& group) { return group.cases.empty(); });
  plan.runner.measure.is_interrupted = Interrupt::has_come;
  plan.runner.measure.budget.least_rounds = kLeastRounds;
  harness::Runner runner(plan.runner, plan.programs, world.context.environment.block());
  return runner.compare(plan.sweep.bench, plan.groups, {}, [&](std::span<const Row> rows) -> Status {
    // What an interrupt left is not whole.
    if (rows.empty() || Interrupt::has_come()) return {};
    const std::optional<std::uint64_t> bytes = bytes_of(rows.front().point);
    return bytes ? on_size(*bytes, rows) : Status();
  });
}

std::string name_of_size(std::uint64_t bytes, const std::string& budget) {
  return fmt::format("{}, at most {}", to_text(Bytes(bytes)), budget);
}

std::set<std::uint64_t> sizes_of(std::span<const PartCase> pending, std::span<const std::uint64_t> sizes,
                                 const std::string& budget) {
  std::set<std::uint64_t> left;
  for (const std::uint64_t bytes : sizes)
    if (std::any_of(pending.begin(), pending.end(),
                    [&](const PartCase& each) { return each.name == name_of_size(bytes, budget); }))
      left.insert(bytes);
  return left;
}

std::vector<PartCase> cases_of_sizes(const SweepPlan& plan, const std::vector<std::uint64_t>& sizes,
                                     const std::string& budget) {
  std::vector<PartCase> cases;
  for (const std::uint64_t bytes : sizes)
    cases.push_back({.name = name_of_size(bytes, budget),
                     .seconds = seconds_of(plan) / static_cast<double>(std::max<std::size_t>(sizes.size(), 1))});
  return cases;
}

std::string size_in_words(double bytes) { return size_words(to_text(Bytes(static_cast<std::uint64_t>(bytes)))); }

std::string standing_in_words(const PartRows& rows, std::string_view competitor, const SizeFilter& is_meant) {
  std::size_t count = 0;
  double logarithms = 0;
  double least = 0;
  double greatest = 0;
  std::string baseline;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::optional<double> speedup = rows.number(row, "speedup");
    if (rows.text(row, "competitor") != competitor || !speedup || *speedup <= 0) continue;
    if (is_meant && !is_meant(rows.number(row, "bytes").value_or(0))) continue;
    baseline = rows.text(row, "baseline");
    least = count == 0 ? *speedup : std::min(least, *speedup);
    greatest = std::max(greatest, *speedup);
    logarithms += std::log(*speedup);
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("{:.2f} times as fast as {} (geometric mean of {}; {:.2f} to {:.2f})",
                     std::exp(logarithms / static_cast<double>(count)), baseline, counted(count, "size"), least,
                     greatest);
}

bool are_right(const PartRows& rows, std::vector<report::Caution>& cautions) {
  bool right = true;
  GroupedCautions grouped;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string outcome = rows.text(row, "outcome");
    if (outcome == name_of(harness::Outcome::ok)) continue;
    const bool is_skipped = outcome == name_of(harness::Outcome::skipped);
    right = right && is_skipped;
    grouped.add(rows.text(row, "competitor"), size_in_words(rows.number(row, "bytes").value_or(0)),
                fmt::format("{}: {}", outcome, rows.text(row, "note")), !is_skipped);
  }
  grouped.move_to(cautions);
  return right;
}

namespace {

// Those whose lines have color, the most important first, and who they are in words.
struct Colored {
  std::vector<std::string> names;
  std::string words;
};
Colored colored_of(const PartRows& rows) {
  struct Counts {
    std::size_t best = 0;
    std::size_t level = 0;  // or the best
  };
  std::map<std::string, Counts> counts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows.number(row, "time_us")) continue;
    Counts& of_name = counts[rows.text(row, "competitor")];
    const bool is_best = rows.is_true(row, "is_best");
    of_name.best += is_best ? 1 : 0;
    of_name.level += is_best || rows.is_true(row, "is_tied") ? 1 : 0;
  }
  const std::vector<std::string> baselines = rows.texts("baseline");
  const bool has_baseline = !baselines.empty() && counts.contains(baselines.front());
  const std::size_t places = report::kMostColored - (has_baseline ? 1 : 0);
  std::vector<std::string> names;
  for (const std::string& each : rows.texts("competitor"))
    if (counts[each].level > 0 && !(has_baseline && each == baselines.front())) names.push_back(each);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(counts[a].best, counts[a].level) > std::pair(counts[b].best, counts[b].level);
  });
  const auto num_best = static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [&](const std::string& each) { return counts[each].best > 0; }));
  Colored colored{.names = {}, .words = has_baseline ? "the baseline, " : ""};
  if (names.size() <= places)
    colored.words += "all that are the fastest, or level with it, at some size";
  else if (num_best > places)
    colored.words += fmt::format("{} of those that are the fastest at the most sizes", places);
  else if (num_best == places)
    colored.words += "the fastest of each size";
  else
    colored.words +=
        fmt::format("the fastest of each size, and {} of those level with it at the most sizes", places - num_best);
  names.resize(std::min(names.size(), places));
  if (has_baseline) colored.names.push_back(baselines.front());
  colored.names.insert(colored.names.end(), names.begin(), names.end());
  return colored;
}

}  // namespace

report::LineChart chart_of_competitors(const PartRows& rows, std::string title) {
  report::LineChart chart{
      .title = std::move(title),
      .remark = fmt::format(
          "{}; a time is the median of all samples; its whisker, or its band in a live chart, is the 95 % interval of "
          "the medians of rounds and need not hold it; a broad pale line lies below another line",
          machine_in_figures(rows.origin().machine)),
      .x_name = std::string(kBytes),
      .panels = {}};
  const std::string ranks =
      rows.size() > 0 ? fmt::format("{} ranks", rows.number(0, "ranks").value_or(0)) : std::string("ranks");
  report::LinePanel panel{.title = ranks, .y_name = "time, us", .lines = {}};
  for (const std::string& competitor : rows.texts("competitor")) {
    report::Line line{.name = competitor, .points = {}, .made_by = rows.origin().command};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::optional<double> time = rows.number(row, "time_us");
      const std::optional<double> bytes = rows.number(row, "bytes");
      if (rows.text(row, "competitor") != competitor || !time || !bytes) continue;
      report::Point point{*bytes, *time};
      const std::optional<double> low = rows.number(row, "low_us");
      const std::optional<double> high = rows.number(row, "high_us");
      if (low && high) point.range = report::Range{*low, *high};
      line.points.push_back(point);
    }
    if (!line.points.empty()) panel.lines.push_back(std::move(line));
  }
  Colored colored = colored_of(rows);
  if (panel.lines.size() > report::kMostColored)
    chart.remark += fmt::format("; in color, of {}: {}", counted(panel.lines.size(), "line"), colored.words);
  panel.first = std::move(colored.names);
  if (!panel.lines.empty()) chart.panels.push_back(std::move(panel));
  return chart;
}

namespace {

// The rows of each size, in ascending order of sizes.
std::map<double, std::vector<std::size_t>> rows_by_size(const PartRows& rows) {
  std::map<double, std::vector<std::size_t>> sizes;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (const std::optional<double> bytes = rows.number(row, "bytes")) sizes[*bytes].push_back(row);
  return sizes;
}

}  // namespace

Table table_of_sizes(const PartRows& rows, const SizeFilter& is_compared) {
  using harness::measured;
  const std::vector<std::string> competitors = rows.texts("competitor");
  // There may be many competitors: the answer stands in front of them.
  std::vector<Column> columns = {{"bytes"},
                                 {"best"},
                                 measured("best_us"),
                                 {"baseline"},
                                 measured("speedup"),
                                 measured("speedup_low"),
                                 measured("speedup_high")};
  for (const std::string& each : competitors) columns.push_back(measured(each + "_us"));
  columns.push_back({"ties"});
  Table table(std::move(columns));
  for (const auto& [bytes, of_size] : rows_by_size(rows)) {
    std::vector<Cell> cells = {static_cast<std::int64_t>(bytes)};
    const bool is_left_out = is_compared && !is_compared(bytes);
    const auto best =
        std::find_if(of_size.begin(), of_size.end(), [&](std::size_t row) { return rows.is_true(row, "is_best"); });
    for (const char* name : {"competitor", "time_us", "baseline", "speedup", "speedup_low", "speedup_high"})
      cells.push_back(best == of_size.end() || is_left_out ? Cell() : rows.cell(*best, name));
    std::string ties;
    for (const std::string& competitor : competitors) {
      Cell time;
      for (const std::size_t row : of_size) {
        if (rows.text(row, "competitor") != competitor) continue;
        time = rows.cell(row, "time_us");
        if (rows.is_true(row, "is_tied")) ties += (ties.empty() ? "" : ", ") + competitor;
      }
      cells.push_back(time);
    }
    cells.push_back(is_left_out ? Cell() : harness::text_or_null(ties));
    table.add_row(std::move(cells));
  }
  return table;
}

namespace {

// "a, b and 3 more".
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.size() == 1) return names.front();
  const bool has_more = names.size() > kMost + 1;
  const std::size_t count = has_more ? kMost : names.size() - 1;
  return fmt::format("{} and {}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), ", "),
                     has_more ? fmt::format("{} more", names.size() - count) : names.back());
}

// ", 1.21 times as fast as openmpi default"; empty where the interval has no difference, or there is none.
std::string lead_in_words(const PartRows& rows, std::size_t row) {
  const std::optional<double> speedup = rows.number(row, "speedup");
  const std::optional<double> low = rows.number(row, "speedup_low");
  if (!speedup || !low || *low <= 1) return "";
  return fmt::format(", {:.2f} times as fast as {}", *speedup, rows.text(row, "baseline"));
}

std::string best_in_words(const PartRows& rows, double bytes, std::size_t best, std::vector<std::size_t> ties) {
  const std::string time = harness::time_text(rows.number(best, "time_us").value_or(0) * kNanosOfAMicrosecond);
  const std::string name = rows.text(best, "competitor");
  const std::string lead = lead_in_words(rows, best);
  if (ties.empty()) return fmt::format("At {} the fastest is {} with {}{}.", size_in_words(bytes), name, time, lead);
  std::stable_sort(ties.begin(), ties.end(), [&](std::size_t a, std::size_t b) {
    return rows.number(a, "time_us").value_or(0) < rows.number(b, "time_us").value_or(0);
  });
  std::vector<std::string> names;
  for (const std::size_t each : ties) names.push_back(rows.text(each, "competitor"));
  return fmt::format("At {} none is the fastest alone: {} takes {}, level with {}{}.", size_in_words(bytes), name, time,
                     first_of(names), lead);
}

}  // namespace

std::vector<std::string> bests_in_words(const PartRows& rows, const SizeFilter& is_meant) {
  std::vector<std::string> sentences;
  for (const auto& [bytes, of_size] : rows_by_size(rows)) {
    if (is_meant && !is_meant(bytes)) continue;
    std::optional<std::size_t> best;
    std::vector<std::size_t> ties;
    for (const std::size_t row : of_size) {
      if (rows.is_true(row, "is_best")) best = row;
      if (rows.is_true(row, "is_tied")) ties.push_back(row);
    }
    if (best) sentences.push_back(best_in_words(rows, bytes, *best, ties));
  }
  return sentences;
}

std::string remark_of_sizes() {
  return "Ties cannot be told from the best within the interval over rounds. The best is chosen by half of the rounds "
         "and compared by the other half, so that another one may have a smaller time in the table. Ratios are taken "
         "round by round and differ from the ratio of the two medians. A time is the median of all samples; its "
         "interval in the rows is that of the medians of rounds, and need not hold the time.";
}

}  // namespace tutti::cli
