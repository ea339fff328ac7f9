// SPDX-License-Identifier: Apache-2.0
#include "cli/report/table_section.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/units.hpp"
#include "cli/report/answer.hpp"
#include "cli/tune/tune_report.hpp"

namespace tutti::cli {

namespace {

using report::Fact;
using report::Line;
using report::LineChart;
using report::LinePanel;
using report::Point;
using report::Section;

constexpr std::size_t kMostSections = 24;  // in words, and as charts
// Ways that differ by less do as well as each other (as in answers about runs).
constexpr double kAlikePercent = 3;  // percent
constexpr std::string_view kChosen = "the table's way";
constexpr std::string_view kRunnerUp = "the best other way";

std::string size_in_words(std::uint64_t bytes) { return size_words(to_text(Bytes(bytes))); }

double runner_up_us(const TableEvidence& evidence) { return evidence.us * (1 + evidence.margin_percent / 100); }

// --- in words

// "one_shot up to 2 KB, two_shot [round=64K] up to 1 MB, then the default"; of many ranges, how many: "12 ranges; the
// default runs at 22 of 31 measured sizes".
std::string ways_in_words(const TableSection& section) {
  constexpr std::size_t kMostListed = 4;
  if (section.ranges.size() > kMostListed) {
    std::size_t num_measured = 0;
    std::size_t num_default = 0;
    for (const TableRange& range : section.ranges) {
      num_measured += range.evidence.size();
      num_default += range.way == TableWay() ? range.evidence.size() : 0;
    }
    std::string text = counted(section.ranges.size(), "range");
    if (num_default > 0)
      text += fmt::format("; the default runs at {} of {}", num_default, counted(num_measured, "measured size"));
    return text;
  }
  std::vector<std::string> ways;
  for (const TableRange& range : section.ranges) {
    const std::string way = range.way.to_string();
    if (section.ranges.size() == 1)
      ways.push_back(fmt::format("{} at all sizes", way));
    else
      ways.push_back(range.most_bytes == kNoEnd ? fmt::format("then {}", way)
                                                : fmt::format("{} up to {}", way, size_in_words(range.most_bytes)));
  }
  return fmt::format("{}", fmt::join(ways, ", "));
}

// Where the choice matters most, and where it does not.
std::string margins_in_words(const TableSection& section) {
  const TableRange* range_of_greatest = nullptr;
  const TableEvidence* greatest = nullptr;
  std::size_t num_compared = 0;
  std::size_t num_alike = 0;
  for (const TableRange& range : section.ranges)
    for (const TableEvidence& evidence : range.evidence) {
      if (evidence.runner_up.empty()) continue;
      ++num_compared;
      num_alike += std::abs(evidence.margin_percent) < kAlikePercent ? 1 : 0;
      if (greatest != nullptr && evidence.margin_percent <= greatest->margin_percent) continue;
      greatest = &evidence;
      range_of_greatest = &range;
    }
  if (greatest == nullptr) return "";
  std::string text;
  if (greatest->margin_percent >= kAlikePercent)
    text = fmt::format("At {} the choice matters most: {}, the best other way, takes {:.3g} % longer than {}.",
                       size_in_words(greatest->bytes), greatest->runner_up, greatest->margin_percent,
                       range_of_greatest->way.to_string());
  if (num_alike > 0)
    text += fmt::format("{}At {} of {} the best other way is within {} %.", text.empty() ? "" : " ", num_alike,
                        counted(num_compared, "measured size"), kAlikePercent);
  return text;
}

std::vector<std::string> answer_of_table(const DecisionTable& table) {
  std::vector<std::string> answer;
  for (const TableSection& section : table.sections) {
    if (answer.size() == kMostSections) {
      answer.push_back(
          fmt::format("The ranges of {} more are below.", counted(table.sections.size() - kMostSections, "section")));
      break;
    }
    const std::string margins = margins_in_words(section);
    answer.push_back(fmt::format("{}: {}.{}{}", title_of_section(section), ways_in_words(section),
                                 margins.empty() ? "" : " ", margins));
  }
  if (!table.numbers.entries.empty()) answer.emplace_back("The table also changes numbers of the machine profile.");
  return answer;
}

// What its user does with it.
std::string use_of(const DecisionTable& table) {
  const std::string& path = table.title();
  if (table.on_devices) return fmt::format("TUTTI_DEVICE_TABLE={}", path);
  if (table.is_of_fabric()) return fmt::format("TUTTI_FABRIC={} TUTTI_TABLE={}", table.peer, path);
  if (table.peer == kOwnPeer) return fmt::format("TUTTI_TABLE={}", path);
  return fmt::format("tutti export --to {} {}", table.peer, path);
}

std::vector<Fact> facts_of_table(const DecisionTable& table) {
  std::vector<Fact> facts;
  const auto add = [&](std::string name, std::string value) {
    if (!value.empty()) facts.push_back({std::move(name), std::move(value)});
  };
  add("File", table.place);
  add("Measured", table.version);
  add("Peer", table.measured_peer() == kOwnPeer ? "" : std::string(table.measured_peer()));
  add(table.is_of_fabric() ? "Fabric" : "Machine", table.machine);
  add("Fingerprint", table.fingerprint);
  add("Made", table.made);
  add("How", table.about);
  add("Machine profile beneath", table.profile);
  add("Run of the store", table.run);
  add("To use it", use_of(table));
  return facts;
}

// --- charts and rows

LinePanel panel_of_evidence(const TableSection& section) {
  LinePanel panel{.title = title_of_section(section), .y_name = "time, us", .lines = {}};
  Line chosen{.name = std::string(kChosen), .points = {}};
  Line other{.name = std::string(kRunnerUp), .points = {}, .is_dashed = true};
  for (const TableRange& range : section.ranges)
    for (const TableEvidence& evidence : range.evidence) {
      if (evidence.bytes == 0 || evidence.us <= 0) continue;
      const auto bytes = static_cast<double>(evidence.bytes);
      Point& point = chosen.points.emplace_back(Point{.x = bytes, .y = evidence.us});
      if (evidence.high_us > 0) point.range = report::Range{evidence.low_us, evidence.high_us};
      if (!evidence.runner_up.empty()) other.points.push_back({.x = bytes, .y = runner_up_us(evidence)});
    }
  for (Line* const line : {&chosen, &other})
    if (!line->points.empty()) panel.lines.push_back(std::move(*line));
  return panel;
}

LineChart chart_of_evidence(const DecisionTable& table) {
  LineChart chart{.title = "What was measured",
                  .remark = "Bands are the intervals of the medians.",
                  .x_name = "bytes",
                  .panels = {}};
  std::size_t num_left_out = 0;
  for (const TableSection& section : table.sections) {
    LinePanel panel = panel_of_evidence(section);
    if (panel.lines.empty()) continue;
    if (chart.panels.size() < kMostSections)
      chart.panels.push_back(std::move(panel));
    else
      ++num_left_out;
  }
  if (num_left_out > 0) chart.remark += fmt::format(" Left out of charts: {}.", counted(num_left_out, "section"));
  return chart;
}

Table rows_of_evidence(const DecisionTable& table) {
  Table rows({{"collective"},
              {"ranks"},
              {"hosts"},
              {"memory"},
              {"types"},
              {"bytes"},
              {"way"},
              {"time_us"},
              {"low_us"},
              {"high_us"},
              {"samples"},
              {"best_other_way"},
              {"margin_percent"}});
  for (const TableSection& section : table.sections)
    for (const TableRange& range : section.ranges)
      for (const TableEvidence& evidence : range.evidence) {
        const bool has_interval = evidence.high_us > 0;
        const bool has_other = !evidence.runner_up.empty();
        rows.add_row({std::string(name_of(section.collective)), std::int64_t{section.ranks},
                      std::int64_t{section.hosts}, std::string(name_of(section.memory)),
                      std::string(name_of(section.types)), static_cast<std::int64_t>(evidence.bytes),
                      range.way.to_string(), evidence.us, has_interval ? Cell(evidence.low_us) : Cell(),
                      has_interval ? Cell(evidence.high_us) : Cell(), static_cast<std::int64_t>(evidence.samples),
                      has_other ? Cell(evidence.runner_up) : Cell(),
                      has_other ? Cell(evidence.margin_percent) : Cell()});
      }
  return rows;
}

}  // namespace

Section section_of_table(const DecisionTable& table) {
  const std::string& title = table.title();
  Section section{.title = fmt::format("Decision table {}", title.substr(title.rfind('/') + 1)),
                  .answer = answer_of_table(table),
                  .cautions = {},
                  .summaries = {},
                  .facts = facts_of_table(table),
                  .lines = {},
                  .bars = {},
                  .tables = {}};
  section.summaries.push_back({.title = "Ranges", .table = table_of_ranges(table)});
  Table rows = rows_of_evidence(table);
  if (rows.rows().empty()) {
    section.cautions.push_back({"The table has no evidence: it does not say what was measured."});
    return section;
  }
  if (LineChart chart = chart_of_evidence(table); !chart.panels.empty()) section.lines.push_back(std::move(chart));
  section.tables.push_back({.title = "Evidence",
                            .table = std::move(rows),
                            .remark = "A margin below 0 is of another way that was faster, but not by enough to change "
                                      "ways. Without a best other way nothing else was measured there."});
  return section;
}

}  // namespace tutti::cli
