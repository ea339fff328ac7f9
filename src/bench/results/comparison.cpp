// SPDX-License-Identifier: Apache-2.0
#include "bench/results/comparison.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/cells.hpp"

namespace tutti::harness {

namespace {

bool has_times(const std::optional<Row>& row) { return row && row->outcome == Outcome::ok && !row->samples.empty(); }

// The row with every other of its rounds only, from the first or the second on.
Row half_of(const Row& row, std::size_t from) {
  Row half = row;
  half.samples.clear();
  half.rounds.clear();
  half.launches.clear();
  std::size_t sample = 0;
  std::size_t round = 0;
  std::vector<std::uint32_t> launches = row.launches;
  if (launches.empty()) launches = {static_cast<std::uint32_t>(row.rounds.size())};
  for (const std::uint32_t rounds : launches) {
    std::uint32_t kept = 0;
    for (std::uint32_t each = 0; each < rounds; ++each, ++round) {
      const auto begin = row.samples.begin() + static_cast<std::ptrdiff_t>(sample);
      sample += row.rounds[round];
      if (each % 2 != from) continue;
      half.samples.insert(half.samples.end(), begin, begin + row.rounds[round]);
      half.rounds.push_back(row.rounds[round]);
      ++kept;
    }
    half.launches.push_back(kept);
  }
  return half;
}

std::string check_of(const ComparedCase& one) {
  bool any = false;
  bool all = true;
  for (const std::optional<Row>& row : one.rows) {
    if (!row || row->outcome == Outcome::skipped) continue;
    if (row->outcome != Outcome::ok) return std::string(name_of(row->outcome));
    any = true;
    all = all && row->is_checked;
  }
  if (!any) return std::string(name_of(Outcome::skipped));
  return all ? "ok" : "unchecked";
}

Cell time_of(const std::optional<Row>& row) {
  if (has_times(row)) return micros(summarize(*row).median);
  return row ? Cell(std::string(name_of(row->outcome))) : Cell();
}

// A time of 0 is compared, but times nothing.
Cell ratio_of(const std::optional<Ratio>& ratio) { return ratio && ratio->ratio > 0 ? figure(ratio->ratio) : Cell(); }

Cell interval_of(const std::optional<Ratio>& ratio) {
  if (!ratio || !ratio->interval) return {};
  return fmt::format("{:.3f}-{:.3f}", ratio->interval->low, ratio->interval->high);
}

Cell low_of(const std::optional<Ratio>& ratio) {
  return ratio && ratio->interval ? figure(ratio->interval->low) : Cell();
}
Cell high_of(const std::optional<Ratio>& ratio) {
  return ratio && ratio->interval ? figure(ratio->interval->high) : Cell();
}

// Of what was measured: the fewest that a competitor has. None where all that has times is exact.
std::optional<std::size_t> launches_of(const ComparedCase& one) {
  std::optional<std::size_t> fewest;
  for (const std::optional<Row>& row : one.rows) {
    if (!has_times(row) || is_exact(*row)) continue;
    const std::size_t launches = std::max<std::size_t>(row->launches.size(), 1);
    fewest = std::min(fewest.value_or(launches), launches);
  }
  return fewest;
}

// Names that are there twice get numbers, since columns are called by them: "run 3", "run 3 #2".
std::vector<std::string> told_apart(std::vector<std::string> names) {
  const auto is_taken = [&](std::size_t place, const std::string& name) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(place);
    return std::find(names.begin(), end, name) != end;
  };
  for (std::size_t each = 0; each < names.size(); ++each) {
    std::string name = names[each];
    for (int nth = 2; is_taken(each, name); ++nth) name = fmt::format("{} #{}", names[each], nth);
    names[each] = std::move(name);
  }
  return names;
}

// Cases by what tells them apart, in the order in which they came.
class Cases {
 public:
  Cases(Comparison& comparison, std::size_t width) : comparison_(comparison), width_(width) {}
  void put(const Row& row, const std::string& key, std::size_t competitor) {
    const auto [place, is_new] = places_.try_emplace(key, comparison_.cases.size());
    if (is_new) comparison_.cases.emplace_back().rows.resize(width_);
    comparison_.cases[place->second].rows[competitor] = row;
  }

 private:
  Comparison& comparison_;
  std::size_t width_;
  std::unordered_map<std::string, std::size_t> places_;
};

// Columns of the tables that are nobody's.
constexpr auto kOfPairs = std::to_array<std::string_view>({"launches", "check", "note"});
constexpr auto kOfBest =
    std::to_array<std::string_view>({"best", "best_us", "busbw_gbs", "speedup", "speedup_interval", "speedup_low",
                                     "speedup_high", "baseline", "ties", "check", "note"});

// What columns of a competitor begin with: its name, but where the table has such a column already, or has it of its
// own. A program may be called best.
std::string column_name(std::string name, std::span<const std::string_view> ends, const std::vector<Column>& columns,
                        std::span<const std::string_view> own) {
  const auto is_taken = [&](std::string_view end) {
    const std::string whole = fmt::format("{}{}", name, end);
    return std::find(own.begin(), own.end(), whole) != own.end() ||
           std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == whole; });
  };
  while (std::any_of(ends.begin(), ends.end(), is_taken)) name = fmt::format("peer.{}", name);
  return name;
}

}  // namespace

const Row& ComparedCase::any() const {
  return **std::find_if(rows.begin(), rows.end(), [](const std::optional<Row>& row) { return row.has_value(); });
}

Comparison Comparison::of_peers(const std::vector<Row>& rows, bool is_paired, bool by_algorithm) {
  Comparison comparison;
  comparison.is_paired = is_paired;
  comparison.view = View::of(rows);
  std::vector<Competitor> competitors;
  std::vector<std::size_t> whose;
  for (const Row& row : rows) {
    const Value* algorithm = by_algorithm ? row.point.find(kAlgorithmAxis) : nullptr;
    const Competitor competitor{row.peer, algorithm == nullptr ? "" : algorithm->text(), row.settings};
    const auto found = std::find(competitors.begin(), competitors.end(), competitor);
    whose.push_back(static_cast<std::size_t>(found - competitors.begin()));
    if (found == competitors.end()) competitors.push_back(competitor);
  }
  comparison.competitors = told_apart(labels_of(competitors));
  comparison.view.leave_out_competitors(competitors);
  Cases cases(comparison, competitors.size());
  for (std::size_t each = 0; each < rows.size(); ++each) {
    Row anonymous = rows[each];
    anonymous.peer.clear();
    anonymous.settings.clear();
    if (by_algorithm)
      std::erase_if(anonymous.point.values, [](const auto& pair) { return pair.first == kAlgorithmAxis; });
    anonymous.launch = 0;
    cases.put(rows[each], key_of(anonymous), whose[each]);
  }
  return comparison;
}

Comparison Comparison::of_runs(const std::vector<Row>& first, const std::vector<Row>& second,
                               const std::vector<std::string>& names) {
  Comparison comparison;
  comparison.competitors = told_apart(names);
  std::vector<Row> both = first;
  both.insert(both.end(), second.begin(), second.end());
  comparison.view = View::of(both);
  Cases cases(comparison, 2);
  for (const Row& row : first) cases.put(row, key_of(row), 0);
  for (const Row& row : second) cases.put(row, key_of(row), 1);
  return comparison;
}

std::optional<Ratio> Comparison::compare(const ComparedCase& one, std::size_t a, std::size_t b) const {
  std::optional<Ratio> ratio = compare_by_rounds(one, a, b);
  if (!ratio) return ratio;
  for (const std::size_t each : {a, b}) {
    const Row& row = *one.rows[each];
    if (is_exact(row) || row.launches.size() >= kLeastLaunches) continue;
    ratio->interval.reset();
    ratio->verdict = Verdict::undecided;
  }
  return ratio;
}

std::optional<Ratio> Comparison::compare_by_rounds(const ComparedCase& one, std::size_t a, std::size_t b) const {
  if (!has_times(one.rows[a]) || !has_times(one.rows[b])) return std::nullopt;
  return is_paired ? compare_paired(*one.rows[a], *one.rows[b]) : compare_apart(*one.rows[a], *one.rows[b]);
}

std::string lacking_launches(const Comparison& comparison) {
  std::size_t most = 0;
  std::size_t fewest = kLeastLaunches;
  std::size_t num_lacking = 0;
  for (const ComparedCase& one : comparison.cases) {
    const std::size_t launches = launches_of(one).value_or(kLeastLaunches);
    if (launches >= kLeastLaunches) continue;
    ++num_lacking;
    most = std::max(most, launches);
    fewest = std::min(fewest, launches);
  }
  if (num_lacking == 0) return "";
  const std::string launches = fewest == most ? fmt::format("{} launch{}", most, most == 1 ? "" : "es")
                                              : fmt::format("{} to {} launches", fewest, most);
  const std::string whose = num_lacking == comparison.cases.size()
                                ? ""
                                : fmt::format(" in {} of {} cases", num_lacking, comparison.cases.size());
  return fmt::format("{}{}: no interval over launches and so no verdict; a verdict needs {} or more", launches, whose,
                     kLeastLaunches);
}

std::string notes_of(const Comparison& comparison, const ComparedCase& one) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> said;  // the words, and whose they are
  for (std::size_t each = 0; each < one.rows.size(); ++each) {
    if (!one.rows[each]) continue;
    const Row& row = *one.rows[each];
    std::string words = warnings(row);
    if (row.outcome != Outcome::ok) words = fmt::format("{}: {}", name_of(row.outcome), words);
    if (words.empty()) continue;
    auto same = std::find_if(said.begin(), said.end(), [&](const auto& other) { return other.first == words; });
    if (same == said.end()) same = said.emplace(said.end(), std::move(words), std::vector<std::size_t>());
    same->second.push_back(each);
  }
  std::string text;
  const auto there = std::count_if(one.rows.begin(), one.rows.end(), [](const auto& row) { return row.has_value(); });
  for (const auto& [words, owners] : said) {
    std::string whose;
    for (const std::size_t owner : owners) whose += (whose.empty() ? "" : ", ") + comparison.competitors[owner];
    text += (text.empty() ? "" : "; ") + (std::ssize(owners) == there ? words : fmt::format("{}: {}", whose, words));
  }
  return printable(text);
}

Table table_of_pairs(const Comparison& comparison) {
  constexpr auto kEnds =
      std::to_array<std::string_view>({"_us", "_ratio", "_interval", "_ratio_low", "_ratio_high", "_verdict"});
  std::vector<Column> columns = comparison.view.identity_columns();
  for (std::size_t each = 0; each < comparison.competitors.size(); ++each) {
    const std::string name = column_name(comparison.competitors[each], kEnds, columns, kOfPairs);
    for (const std::string_view end : std::span(kEnds).first(each == 0 ? 1 : kEnds.size()))
      columns.push_back(measured(name + std::string(end), 0, end.starts_with("_ratio_")));
  }
  columns.push_back({.name = "launches", .is_aside = true});
  columns.push_back({"check"});
  columns.push_back({"note", 60});
  Table table(std::move(columns));
  for (const ComparedCase& one : comparison.cases) {
    std::vector<Cell> cells = comparison.view.identity_cells(one.any());
    for (std::size_t each = 0; each < one.rows.size(); ++each) {
      cells.push_back(time_of(one.rows[each]));
      if (each == 0) continue;
      const std::optional<Ratio> ratio = comparison.compare(one, each, 0);
      cells.push_back(ratio_of(ratio));
      cells.push_back(interval_of(ratio));
      cells.push_back(low_of(ratio));
      cells.push_back(high_of(ratio));
      cells.push_back(ratio ? Cell(std::string(name_of(ratio->verdict))) : Cell());
    }
    const std::optional<std::size_t> launches = launches_of(one);
    cells.push_back(launches ? Cell(static_cast<std::int64_t>(*launches)) : Cell());
    cells.emplace_back(check_of(one));
    cells.push_back(text_or_null(notes_of(comparison, one)));
    table.add_row(std::move(cells));
  }
  return table;
}

namespace {

// Of a competitor's columns.
constexpr auto kEnds = std::to_array<std::string_view>({"_us", "_low_us", "_high_us", "_p99_us"});

std::vector<Column> columns_of_best(const Comparison& comparison) {
  // There are as many columns as competitors.
  constexpr std::size_t kHeading = 10;
  std::vector<Column> columns = comparison.view.identity_columns(kOfBest);
  for (const std::string& competitor : comparison.competitors) {
    const std::string name = column_name(competitor, kEnds, columns, kOfBest);
    columns.push_back(measured(name + std::string(kEnds[0]), kHeading));
    for (const std::string_view end : std::span(kEnds).subspan(1))
      columns.push_back(measured(name + std::string(end), 0, true));
  }
  columns.push_back({"best", kHeading * 2});
  for (const char* name : {"best_us", "busbw_gbs", "speedup", "speedup_interval"})
    columns.push_back(measured(name, kHeading));
  for (const char* name : {"speedup_low", "speedup_high"}) columns.push_back(measured(name, 0, true));
  columns.push_back({.name = "baseline", .is_aside = true});
  columns.push_back({"ties", kHeading * 3});
  columns.push_back({"check"});
  columns.push_back({.name = "note", .wrap_at = 0, .is_aside = true});
  return columns;
}

void add_times(std::vector<Cell>& cells, const std::optional<Row>& row) {
  cells.push_back(time_of(row));
  const std::optional<Summary> summary = has_times(row) ? std::optional(summarize(*row)) : std::nullopt;
  const bool has_interval = summary && summary->interval;
  cells.push_back(has_interval ? micros(summary->interval->low) : Cell());
  cells.push_back(has_interval ? micros(summary->interval->high) : Cell());
  cells.push_back(summary && summary->p99 ? micros(*summary->p99) : Cell());
}

// Who is chosen by one half of the samples and scored by the other, where there are halves.
struct Halves {
  ComparedCase choosing;
  ComparedCase scoring;
};
Halves halves_of(const Comparison& comparison, const ComparedCase& one) {
  Halves halves{one, one};
  for (std::size_t each = 0; each < one.rows.size(); ++each) {
    if (!comparison.is_paired || !has_times(one.rows[each])) continue;
    halves.choosing.rows[each] = half_of(*one.rows[each], 0);
    halves.scoring.rows[each] = half_of(*one.rows[each], 1);
    if (!has_times(halves.choosing.rows[each]) || !has_times(halves.scoring.rows[each]))
      halves.choosing.rows[each] = halves.scoring.rows[each] = one.rows[each];
  }
  return halves;
}

std::optional<std::size_t> fastest_of(const ComparedCase& one) {
  std::optional<std::size_t> best;
  double best_median = 0;
  for (std::size_t each = 0; each < one.rows.size(); ++each) {
    if (!has_times(one.rows[each])) continue;
    const double median = summarize(*one.rows[each]).median;
    if (best && median >= best_median) continue;
    best = each;
    best_median = median;
  }
  return best;
}

}  // namespace

std::vector<Standing> standings_of(const Comparison& comparison) {
  std::vector<Standing> standings;
  for (const ComparedCase& one : comparison.cases) {
    Standing& standing = standings.emplace_back();
    Halves halves = halves_of(comparison, one);
    standing.best = fastest_of(halves.choosing);
    standing.scored = std::move(halves.scoring);
    for (std::size_t each = 0; standing.best && each < one.rows.size(); ++each) {
      if (each == *standing.best) continue;
      const std::optional<Ratio> to_best = comparison.compare_by_rounds(standing.scored, each, *standing.best);
      if (to_best && to_best->verdict != Verdict::slower) standing.ties.push_back(each);
    }
  }
  return standings;
}

Table table_of_best(const Comparison& comparison, std::size_t baseline) {
  return table_of_best(comparison, standings_of(comparison), baseline);
}

Table table_of_best(const Comparison& comparison, const std::vector<Standing>& standings, std::size_t baseline) {
  Table table(columns_of_best(comparison));
  for (std::size_t number = 0; number < comparison.cases.size(); ++number) {
    const ComparedCase& one = comparison.cases[number];
    const auto& [scored, best, tied] = standings[number];
    std::vector<Cell> cells = comparison.view.identity_cells(one.any());
    for (const std::optional<Row>& row : one.rows) add_times(cells, row);
    if (!best) {
      cells.resize(cells.size() + kOfBest.size() - 2);
    } else {
      const Row& row = *scored.rows[*best];
      const double time = summarize(row).median;
      const std::optional<double> factor = row.message ? bus_factor(row.message->traffic, row.num_ranks) : std::nullopt;
      cells.emplace_back(comparison.competitors[*best]);
      cells.push_back(micros(time));
      cells.push_back(factor ? figure(row.message->bytes * *factor / time) : Cell());
      const std::optional<Ratio> against = comparison.compare_by_rounds(scored, *best, baseline);
      const std::optional<Ratio> of_others = *best == baseline ? std::nullopt : against;
      cells.push_back(ratio_of(against));
      cells.push_back(interval_of(of_others));
      cells.push_back(low_of(of_others));
      cells.push_back(high_of(of_others));
      cells.emplace_back(comparison.competitors[baseline]);
      std::string ties;
      for (const std::size_t each : tied) ties += (ties.empty() ? "" : ", ") + comparison.competitors[each];
      cells.push_back(text_or_null(ties));
    }
    cells.emplace_back(check_of(one));
    cells.push_back(text_or_null(notes_of(comparison, one)));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace tutti::harness
