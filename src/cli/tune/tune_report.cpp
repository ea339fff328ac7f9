// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tune_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::cli {

namespace {

constexpr int kDigitsOfTime = 4;

std::string size_text(std::uint64_t bytes) { return bytes == kNoEnd ? "any" : to_text(Bytes(bytes)); }

// Of all sizes in a section, the one with evidence that is nearest.
const TableEvidence* nearest_evidence(const TableRange& range, std::uint64_t bytes) {
  const TableEvidence* nearest = nullptr;
  const auto distance = [&](const TableEvidence& evidence) {
    return std::abs(std::log2(static_cast<double>(std::max<std::uint64_t>(bytes, 1)) /
                              static_cast<double>(std::max<std::uint64_t>(evidence.bytes, 1))));
  };
  for (const TableEvidence& evidence : range.evidence)
    if (nearest == nullptr || distance(evidence) < distance(*nearest)) nearest = &evidence;
  return nearest;
}

}  // namespace

std::string title_of_section(const TableSection& section) {
  return fmt::format("{}, {}{}, {} memory{}", name_of(section.collective), counted(section.ranks, "rank"),
                     section.hosts == 1 ? "" : fmt::format(" on {} hosts", section.hosts), name_of(section.memory),
                     section.types == TypeClass::any ? "" : fmt::format(", {} types", name_of(section.types)));
}

Table table_of_scores(std::span<const Scored> scored) {
  Table rows({{.name = "collective", .stands_once = true},
              {.name = "ranks", .stands_once = true},
              {.name = "hosts", .stands_once = true},
              {.name = "memory", .stands_once = true},
              {.name = "types", .stands_once = true},
              {"bytes"},
              {.name = "before_us", .digits = kDigitsOfTime},
              {.name = "after_us", .digits = kDigitsOfTime},
              {.name = "speedup", .digits = 3},
              {.name = "speedup_low", .digits = 3, .yields = 2},
              {.name = "speedup_high", .digits = 3, .yields = 2},
              {"verdict"},
              {.name = "before", .wrap_at = 30, .yields = 1},
              {.name = "way", .wrap_at = 40},
              {.name = "ran", .wrap_at = 30, .yields = 3}});
  for (const Scored& each : scored) {
    rows.add_row({std::string(name_of(each.key.collective)), std::int64_t{each.key.ranks}, std::int64_t{each.key.hosts},
                  std::string(name_of(each.key.memory)), std::string(name_of(each.key.types)),
                  static_cast<std::int64_t>(each.bytes), each.before_us, each.after_us, each.ratio.ratio,
                  each.ratio.interval ? Cell(each.ratio.interval->low) : Cell(),
                  each.ratio.interval ? Cell(each.ratio.interval->high) : Cell(),
                  std::string(name_of(each.ratio.verdict)), each.before_ran,
                  each.is_undone ? each.way.to_string() + "; undone" : each.way.to_string(), each.after_ran});
  }
  return rows;
}

std::string summary_of(std::span<const Scored> scored) {
  std::array<std::size_t, 4> counts = {};
  std::size_t undone = 0;
  std::size_t unsure = 0;
  std::vector<Scored> kept;
  for (const Scored& each : scored) {
    if (each.is_undone) {
      const bool is_loss = each.ratio.verdict == harness::Verdict::slower || !each.fault.empty();
      ++(is_loss ? undone : unsure);
      continue;
    }
    ++counts[static_cast<std::size_t>(each.ratio.verdict)];
    kept.push_back(each);
  }
  const auto of = [&](harness::Verdict verdict) { return counts[static_cast<std::size_t>(verdict)]; };
  std::string text = fmt::format("{}: {} faster, {} slower, {} the same, {} undecided", counted(scored.size(), "size"),
                                 of(harness::Verdict::faster), of(harness::Verdict::slower), of(harness::Verdict::same),
                                 of(harness::Verdict::undecided));
  if (undone > 0) text += fmt::format(", {} slower and undone", undone);
  if (unsure > 0) text += fmt::format(", {} not surely faster and undone", unsure);
  return text + fmt::format("; geometric mean {:.3g} times as fast", geometric_mean(kept));
}

Table table_of_ranges(const DecisionTable& table) {
  Table rows({{.name = "collective", .stands_once = true},
              {.name = "ranks", .stands_once = true},
              {.name = "hosts", .stands_once = true},
              {.name = "memory", .stands_once = true},
              {.name = "types", .stands_once = true},
              {"up_to"},
              {.name = "way", .wrap_at = 60},
              {"measured_sizes"}});
  for (const TableSection& section : table.sections)
    for (const TableRange& range : section.ranges)
      rows.add_row({std::string(name_of(section.collective)), std::int64_t{section.ranks}, std::int64_t{section.hosts},
                    std::string(name_of(section.memory)), std::string(name_of(section.types)),
                    size_text(range.most_bytes), range.way.to_string(),
                    static_cast<std::int64_t>(range.evidence.size())});
  return rows;
}

std::string explained(const DecisionTable& table, std::uint64_t bytes) {
  std::string text =
      fmt::format("{}, made {} on {} with {}\n", table.title(), table.made, table.machine, table.version);
  for (const TableSection& section : table.sections) {
    const TableRange& range = section.range_of(bytes);
    const std::uint64_t begin = &range == section.ranges.data() ? 0 : (&range - 1)->most_bytes + 1;
    text += fmt::format("\n{}: {} B go by {}{}\n", title_of_section(section), size_text(bytes), range.way.to_string(),
                        range.line == 0 ? "" : fmt::format(" ({}:{})", table.title(), range.line));
    text += fmt::format("  the range: {} to {} B\n", size_text(begin), size_text(range.most_bytes));
    const TableEvidence* const nearest = nearest_evidence(range, bytes);
    for (const TableEvidence& evidence : range.evidence) {
      text +=
          fmt::format("  {} {} B: {:.4g} us", &evidence == nearest ? ">" : " ", size_text(evidence.bytes), evidence.us);
      if (evidence.high_us > 0) text += fmt::format(" [{:.4g}, {:.4g}]", evidence.low_us, evidence.high_us);
      if (evidence.samples > 0) text += fmt::format(", {}", counted(evidence.samples, "sample"));
      if (evidence.runner_up.empty())
        text += "; nothing else was measured\n";
      else if (evidence.margin_percent >= 0)
        text += fmt::format("; next is {}, {} % slower\n", evidence.runner_up, evidence.margin_percent);
      else
        text += fmt::format("; {} is {} % faster, and not worth a change of ways\n", evidence.runner_up,
                            -evidence.margin_percent);
    }
    if (nearest != nullptr && nearest->bytes != bytes)
      text += fmt::format("  {} B were not measured; {} B are nearest\n", size_text(bytes), size_text(nearest->bytes));
  }
  return text;
}

}  // namespace tutti::cli
