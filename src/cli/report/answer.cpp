// SPDX-License-Identifier: Apache-2.0
#include "cli/report/answer.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/views/case_names.hpp"
#include "bench/views/comparison_words.hpp"
#include "cli/report/case_groups.hpp"

namespace tutti::cli {

namespace {

using harness::CaseNames;
using harness::Comparison;
using harness::Outcome;
using harness::Row;
using harness::Verdict;
using report::Caution;

constexpr std::size_t kMostSentences = 3;  // about groups
constexpr std::size_t kMostNamed = 3;      // others in a sentence; of more than these, only the nearest
constexpr std::size_t kMostStretches = 4;
constexpr double kAlike = 1.03;

// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t each = 0; each < words.size(); ++each)
    text += (each == 0 ? "" : each + 1 == words.size() ? " and " : ", ") + words[each];
  return text;
}

std::string times_as_fast(double ratio) { return harness::ratio_text(ratio) + " times as fast as"; }

// What the cases of all groups are of, as far as it tells something: "all_reduce on 2 ranks".
std::string subject_of(const CaseNames& names) { return names.shared.substr(0, names.shared.find(',')); }

std::string subject_of(const CaseNames& names, const CaseGroup& group) {
  const std::string subject = subject_of(names);
  if (subject.empty() || group.name.empty()) return subject + group.name;
  return fmt::format("{} with {}", subject, group.name);
}

// "over 8 B to 64 MB", "at 64 KB", "over 12 cases".
std::string extent_words(const CaseGroup& group) {
  if (group.cases.size() == 1) return group.labels.front().empty() ? "" : "at " + group.labels.front();
  if (!group.has_sizes) return "over " + counted(group.cases.size(), "case");
  const std::string words = fmt::format("{} to {}", group.labels.front(), group.labels.back());
  return group.column == "bytes" ? "over " + words : fmt::format("over {} from {}", group.column, words);
}

std::string stretch_words(const Stretch& stretch) {
  if (stretch.first == stretch.last) return "at " + stretch.first;
  return fmt::format("from {} to {}", stretch.first, stretch.last);
}

// --- several that compete

std::vector<PairStanding> standings_to(const Comparison& comparison, const CaseGroup& group) {
  std::vector<PairStanding> standings;
  for (const std::size_t other : group.competitors)
    if (other != *group.leader)
      if (const auto standing = standing_of(comparison, group.cases, *group.leader, other))
        standings.push_back(*standing);
  std::stable_sort(standings.begin(), standings.end(),
                   [](const PairStanding& a, const PairStanding& b) { return a.mean < b.mean; });
  return standings;
}

std::string lead_sentence(const Comparison& comparison, const CaseNames& names, const CaseGroup& group,
                          const std::vector<PairStanding>& standings, bool is_everywhere) {
  const std::string& leader = comparison.competitors[*group.leader];
  const std::string subject = subject_of(names, group);
  const std::string for_what = subject.empty() ? "" : " for " + subject;
  std::vector<std::string> alike;
  std::vector<std::string> slower;
  const std::size_t most_named = standings.size() > kMostNamed ? 1 : kMostNamed;
  for (const PairStanding& standing : standings) {
    const std::string& other = comparison.competitors[standing.other];
    if (standing.mean < kAlike)
      alike.push_back(other);
    else if (slower.size() < most_named)
      slower.push_back(fmt::format("{} {}", times_as_fast(standing.mean), other));
  }
  const std::size_t num_more = standings.size() - alike.size() - slower.size();
  if (num_more > 0) slower.push_back(fmt::format("faster than {} more", num_more));
  const std::string extent = extent_words(group);
  const bool is_mean = group.cases.size() > 1;
  const std::string basis = extent.empty() ? "" : fmt::format(" ({}{})", is_mean ? "geometric mean " : "", extent);
  if (alike.size() > kMostNamed) alike = {fmt::format("{} others", alike.size())};
  if (!alike.empty()) {
    alike.insert(alike.begin(), leader);
    return fmt::format("{} are about equally fast{}{}{}.", listed(alike), for_what, basis,
                       slower.empty() ? "" : fmt::format("; the first is {}", listed(slower)));
  }
  return fmt::format("{} is the fastest{}{}: {}{}.", leader, is_everywhere ? "" : " overall", for_what, listed(slower),
                     basis);
}

// By size; empty where it says nothing new.
std::string stretch_sentence(const Comparison& comparison, const CaseGroup& group,
                             const std::vector<Stretch>& stretches) {
  if (!group.has_sizes || group.cases.size() < 2 || stretches.empty()) return "";
  const auto name_of_best = [&](const Stretch& stretch) { return comparison.competitors[stretch.best]; };
  if (stretches.size() == 1) {
    if (!stretches.front().ties.empty()) return "";
    return fmt::format("{} has the least time at each of the {} sizes.", name_of_best(stretches.front()),
                       stretches.front().num_cases);
  }
  std::vector<std::string> words;
  for (const Stretch& stretch : stretches) {
    if (words.size() == kMostStretches) {
      words.push_back(fmt::format("{} more ranges (the table has all)", stretches.size() - words.size()));
      break;
    }
    words.push_back(fmt::format("{} {}", name_of_best(stretch), stretch_words(stretch)));
  }
  return fmt::format("The fastest by size: {}.", listed(words));
}

std::string undecided_words(const Comparison& comparison, const CaseGroup& group,
                            const std::vector<PairStanding>& standings) {
  std::vector<std::string> words;
  std::size_t num_more = 0;
  for (const PairStanding& standing : standings) {
    const std::size_t count = standing.count(Verdict::undecided);
    if (count == 0) continue;
    if (words.size() < kMostNamed)
      words.push_back(
          fmt::format("{} (in {} of {})", comparison.competitors[standing.other], count, standing.num_cases));
    else
      ++num_more;
  }
  if (words.empty()) return "";
  if (num_more > 0) words.push_back(fmt::format("{} more", num_more));
  return fmt::format("{}Whether {} is faster is undecided against {}.", group.name.empty() ? "" : group.name + ": ",
                     comparison.competitors[*group.leader], listed(words));
}

Cell count_cell(std::size_t count) { return static_cast<std::int64_t>(count); }

constexpr std::size_t kMostOthers = 8;  // of a group, in a table

// Where there are several groups, columns say which one it is, and who is ahead in it.
report::NamedTable table_of_standings(bool has_groups, const std::string& leader) {
  std::vector<Column> columns;
  if (has_groups) columns = {{"cases"}, {"fastest overall"}};
  for (const char* name : {"compared with", "times as fast", "least", "greatest", "surely faster in", "the same in",
                           "surely slower in", "undecided in"})
    columns.push_back({.name = name, .digits = 3});
  return {.title = has_groups ? "The fastest against the others" : leader + " against the others",
          .table = Table(std::move(columns)),
          .remark = {}};
}

void add_standings(report::NamedTable& named, bool has_groups, const Comparison& comparison, const CaseGroup& group,
                   const std::vector<PairStanding>& standings) {
  for (std::size_t each = 0; each < std::min(standings.size(), kMostOthers); ++each) {
    const PairStanding& standing = standings[each];
    std::vector<Cell> cells;
    if (has_groups) cells = {group.name, comparison.competitors[*group.leader]};
    cells.emplace_back(comparison.competitors[standing.other]);
    for (const double value : {standing.mean, standing.least, standing.greatest}) cells.emplace_back(value);
    for (const Verdict verdict : {Verdict::faster, Verdict::same, Verdict::slower, Verdict::undecided})
      cells.push_back(count_cell(standing.count(verdict)));
    named.table.add_row(std::move(cells));
  }
  if (standings.size() > kMostOthers)
    named.remark = fmt::format("Of each group only the {} nearest are listed.", kMostOthers);
}

report::NamedTable table_of_stretches(bool has_groups) {
  std::vector<Column> columns;
  if (has_groups) columns.push_back({"cases"});
  for (const char* name : {"from", "to", "fastest", "times as fast as the next", "not told apart from"})
    columns.push_back({.name = name, .digits = 3});
  return {.title = "Who is fastest where", .table = Table(std::move(columns)), .remark = {}};
}

void add_stretches(report::NamedTable& named, bool has_groups, const Comparison& comparison, const CaseGroup& group,
                   const std::vector<Stretch>& stretches) {
  for (const Stretch& stretch : stretches) {
    std::vector<std::string> ties;
    for (const std::size_t each : stretch.ties) ties.push_back(comparison.competitors[each]);
    if (ties.size() > 5) ties = {fmt::format("{} others", ties.size())};
    std::string lead;
    if (stretch.least_lead) {
      lead = harness::ratio_text(*stretch.least_lead);
      const std::string most = harness::ratio_text(*stretch.greatest_lead);
      if (most != lead) lead += " to " + most;
    }
    std::vector<Cell> cells;
    if (has_groups) cells.emplace_back(group.name);
    cells.emplace_back(stretch.first);
    cells.emplace_back(stretch.last);
    cells.emplace_back(comparison.competitors[stretch.best]);
    cells.push_back(lead.empty() ? Cell() : Cell(lead));
    cells.push_back(ties.empty() ? Cell() : Cell(listed(ties)));
    named.table.add_row(std::move(cells));
  }
}

// --- one alone

// Of a row with times, in GB/s; 0 where there is none.
double bus_bandwidth_of(const Row& row) {
  if (!row.message) return 0;
  const double factor = harness::bus_factor(row.message->traffic, row.num_ranks).value_or(0);
  const double median = summarize(row).median;
  return median > 0 ? row.message->bytes * factor / median : 0;
}

std::string times_alone(const Comparison& comparison, const CaseNames& names, const CaseGroup& group) {
  const std::size_t one = *group.leader;
  const auto median = [&](std::size_t number) { return median_in(comparison.cases[number], one); };
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < group.cases.size(); ++place)
    if (median(group.cases[place])) places.push_back(place);
  const auto time = [&](std::size_t place) { return harness::time_text(*median(group.cases[place])); };
  const std::string subject = subject_of(names, group);
  std::string text = fmt::format("{} takes ", comparison.competitors[one]);
  if (places.size() > 1 && !group.has_sizes) {
    const auto [least, most] = std::minmax_element(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return *median(group.cases[a]) < *median(group.cases[b]);
    });
    text += fmt::format("{} ({}) to {} ({})", time(*least), group.labels[*least], time(*most), group.labels[*most]);
  } else {
    text += time(places.front());
    const std::string& label = group.labels[places.front()];
    if (!label.empty()) text += fmt::format(" for {}", label);
    if (places.size() > 1) text += fmt::format(" and {} for {}", time(places.back()), group.labels[places.back()]);
  }
  if (!subject.empty()) text += " in " + subject;
  double most = 0;
  std::size_t at = 0;
  for (const std::size_t place : places) {
    const double bandwidth = bus_bandwidth_of(*comparison.cases[group.cases[place]].rows[one]);
    if (bandwidth <= most) continue;
    most = bandwidth;
    at = place;
  }
  if (most > 0 && places.size() > 1)
    text += fmt::format("; its bus bandwidth is at most {:.3g} GB/s, at {}", most, group.labels[at]);
  return text + ".";
}

// --- what cannot be told

bool is_simulated(const Comparison& comparison) {
  const auto is_exact = [](const std::optional<Row>& row) { return !row || harness::is_exact(*row); };
  return std::all_of(comparison.cases.begin(), comparison.cases.end(), [&](const harness::ComparedCase& one) {
    return std::all_of(one.rows.begin(), one.rows.end(), is_exact);
  });
}

std::string lacking_words(const Comparison& comparison) {
  if (comparison.competitors.size() < 2) return "";
  const std::string lacking = harness::lacking_launches(comparison);
  return lacking.empty() ? "" : fmt::format("No verdict is sure: {}.", lacking);
}

void say_nothing_has_times(const Comparison& comparison, Answer& answer) {
  answer.sentences.push_back(comparison.cases.empty() ? "There are no results."
                                                      : fmt::format("None of {} has a right result with a time.",
                                                                    counted(comparison.cases.size(), "case")));
}

}  // namespace

std::string size_words(const std::string& label) {
  if (label.empty()) return label;
  const bool has_unit = std::isalpha(static_cast<unsigned char>(label.back())) != 0;
  return has_unit ? fmt::format("{} {}B", label.substr(0, label.size() - 1), label.back()) : label + " B";
}

Answer answer_of(const Comparison& comparison) {
  Answer answer;
  CaseNames names = CaseNames::of(comparison);
  if (is_simulated(comparison)) names.shared = "simulated " + names.shared;
  std::vector<CaseGroup> groups = groups_of(comparison, names);
  std::erase_if(groups, [](const CaseGroup& group) { return !group.leader; });
  if (groups.empty()) {
    say_nothing_has_times(comparison, answer);
    return answer;
  }
  const std::vector<harness::Standing> ranking = harness::standings_of(comparison);
  const bool has_groups = groups.size() > 1;
  report::NamedTable standing_table = table_of_standings(has_groups, comparison.competitors[*groups.front().leader]);
  report::NamedTable stretch_table = table_of_stretches(has_groups);
  const std::string lacking = lacking_words(comparison);
  for (std::size_t each = 0; each < groups.size(); ++each) {
    const CaseGroup& group = groups[each];
    const std::vector<PairStanding> standings = standings_to(comparison, group);
    const std::vector<Stretch> stretches = stretches_of(group, ranking);
    add_standings(standing_table, has_groups, comparison, group, standings);
    if (group.competitors.size() > 1) add_stretches(stretch_table, has_groups, comparison, group, stretches);
    if (each >= kMostSentences) continue;
    answer.sentences.push_back(standings.empty()
                                   ? times_alone(comparison, names, group)
                                   : lead_sentence(comparison, names, group, standings, stretches.size() == 1));
    if (standings.empty()) continue;
    if (const std::string by_size = stretch_sentence(comparison, group, stretches); !by_size.empty())
      answer.sentences.push_back(by_size);
    const std::string undecided = undecided_words(comparison, group, standings);
    if (lacking.empty() && !undecided.empty()) answer.cautions.push_back({undecided});
  }
  if (groups.size() > kMostSentences)
    answer.sentences.push_back(fmt::format("{} more {} in the tables.",
                                           counted(groups.size() - kMostSentences, "group of cases", ""),
                                           groups.size() - kMostSentences == 1 ? "is" : "are"));
  if (!lacking.empty()) answer.cautions.push_back({lacking});
  if (!stretch_table.table.rows().empty()) answer.summaries.push_back(std::move(stretch_table));
  if (!standing_table.table.rows().empty()) answer.summaries.push_back(std::move(standing_table));
  return answer;
}

namespace {

// The verdict's case with the greatest change.
std::string greatest_change(const Comparison& comparison, const CaseNames& names, Verdict wanted) {
  std::optional<std::size_t> found;
  double greatest = 1;
  for (std::size_t each = 0; each < comparison.cases.size(); ++each) {
    const std::optional<harness::Ratio> ratio = comparison.compare(comparison.cases[each], 1, 0);
    if (!ratio || ratio->verdict != wanted || ratio->ratio <= 0) continue;
    const double factor = wanted == Verdict::faster ? ratio->ratio : 1 / ratio->ratio;
    if (found && factor <= greatest) continue;
    found = each;
    greatest = factor;
  }
  if (!found) return "";
  const std::string where = names.full(*found);
  return fmt::format("The greatest {} that is sure: {} times {}{}.", wanted == Verdict::faster ? "gain" : "loss",
                     harness::ratio_text(greatest), wanted == Verdict::faster ? "as fast" : "the time",
                     where.empty() ? "" : ", at " + where);
}

std::string counts_words(const PairStanding& standing) {
  std::vector<std::string> words;
  for (const auto& [verdict, text] :
       {std::pair(Verdict::faster, "surely faster in"), std::pair(Verdict::slower, "surely slower in"),
        std::pair(Verdict::same, "the same in"), std::pair(Verdict::undecided, "undecided in")})
    if (standing.count(verdict) > 0) words.push_back(fmt::format("{} {}", text, standing.count(verdict)));
  return listed(words);
}

// A line for each peer, where there are several.
std::optional<report::NamedTable> table_by_peer(const Comparison& comparison) {
  std::map<std::string, std::vector<std::size_t>> cases_of;
  for (std::size_t each = 0; each < comparison.cases.size(); ++each)
    cases_of[comparison.cases[each].any().peer].push_back(each);
  if (cases_of.size() < 2) return std::nullopt;
  Table table({{"peer"},
               {.name = "times as fast as before", .digits = 3},
               {.name = "least", .digits = 3},
               {.name = "greatest", .digits = 3},
               {"faster"},
               {"same"},
               {"slower"},
               {"undecided"}});
  for (const auto& [peer, cases] : cases_of) {
    const std::optional<PairStanding> standing = standing_of(comparison, cases, 1, 0);
    if (!standing) continue;
    table.add_row({peer, standing->mean, standing->least, standing->greatest,
                   count_cell(standing->count(Verdict::faster)), count_cell(standing->count(Verdict::same)),
                   count_cell(standing->count(Verdict::slower)), count_cell(standing->count(Verdict::undecided))});
  }
  return report::NamedTable{.title = "What changed, by peer", .table = std::move(table), .remark = {}};
}

}  // namespace

Answer answer_of_change(const Comparison& comparison) {
  Answer answer;
  const CaseNames names = CaseNames::of(comparison);
  std::vector<std::size_t> cases(comparison.cases.size());
  for (std::size_t each = 0; each < cases.size(); ++each) cases[each] = each;
  const std::optional<PairStanding> standing = standing_of(comparison, cases, 1, 0);
  const std::string& first = comparison.competitors[0];
  const std::string& second = comparison.competitors[1];
  if (!standing) {
    answer.sentences.push_back(fmt::format("{} and {} have no case in common that both have times of.", first, second));
    return answer;
  }
  const bool is_alike = standing->mean < kAlike && standing->mean > 1 / kAlike;
  answer.sentences.push_back(fmt::format(
      "{} is {}{} {} over {} (geometric mean; {} to {}).", second, is_alike ? "about as fast as before: " : "",
      times_as_fast(standing->mean), first, counted(standing->num_cases, "common case"),
      harness::ratio_text(standing->least), harness::ratio_text(standing->greatest)));
  answer.sentences.push_back(fmt::format("It is {}.", counts_words(*standing)));
  for (const Verdict verdict : {Verdict::slower, Verdict::faster})
    if (const std::string words = greatest_change(comparison, names, verdict); !words.empty())
      answer.sentences.push_back(words);
  const std::size_t num_apart = comparison.cases.size() - standing->num_cases;
  if (num_apart > 0)
    answer.cautions.push_back({fmt::format("{} cannot be compared: a run lacks it, or has no right result with a time.",
                                           counted(num_apart, "case"))});
  if (const std::string lacking = lacking_words(comparison); !lacking.empty()) answer.cautions.push_back({lacking});
  if (std::optional<report::NamedTable> table = table_by_peer(comparison))
    answer.summaries.push_back(std::move(*table));
  return answer;
}

namespace {

// "3 rows could not be measured: a at 64 KB, b at 64 KB (why)".
std::string rows_words(const std::vector<Row>& rows, Outcome outcome, std::string_view what) {
  constexpr std::size_t kMostRows = 4;
  constexpr std::size_t kMostNotes = 3;
  constexpr std::size_t kMostNote = 300;
  std::vector<std::pair<std::string, std::vector<std::string>>> by_note;
  std::size_t count = 0;
  for (const Row& row : rows) {
    if (row.outcome != outcome) continue;
    ++count;
    const harness::Value* bytes = row.point.find("bytes");
    const bool has_size = bytes != nullptr && bytes->is_integer() && bytes->integer() >= 0;
    const std::string size =
        has_size ? " at " + size_words(to_text(Bytes(static_cast<std::uint64_t>(bytes->integer())))) : "";
    auto same = std::find_if(by_note.begin(), by_note.end(), [&](const auto& each) { return each.first == row.note; });
    if (same == by_note.end()) same = by_note.insert(by_note.end(), {row.note, {}});
    same->second.push_back(row.peer + size);
  }
  if (count == 0) return "";
  std::vector<std::string> words;
  for (auto& [note, whose] : by_note) {
    if (words.size() == kMostNotes) {
      words.emplace_back("others for other reasons");
      break;
    }
    if (whose.size() > kMostRows) {
      const std::string more = fmt::format("{} more", whose.size() - kMostRows);
      whose.resize(kMostRows);
      whose.push_back(more);
    }
    words.push_back(listed(whose) + (note.empty() ? "" : fmt::format(" ({})", note.substr(0, kMostNote))));
  }
  return fmt::format("{} {}: {}.", counted(count, "row"), what, fmt::join(words, "; "));
}

}  // namespace

std::vector<Caution> cautions_of(const std::vector<Row>& rows) {
  std::vector<Caution> cautions;
  for (const auto& [outcome, what] :
       {std::pair(Outcome::wrong, "with WRONG results"), std::pair(Outcome::error, "could not be measured")})
    if (std::string words = rows_words(rows, outcome, what); !words.empty())
      cautions.push_back({std::move(words), true});
  const auto skipped =
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.outcome == Outcome::skipped; });
  if (skipped > 0)
    cautions.push_back({fmt::format("{} skipped; the table of all rows says why.", counted(skipped, "row"))});
  const auto unchecked = std::count_if(rows.begin(), rows.end(), [](const Row& row) {
    return row.outcome == Outcome::ok && !row.is_checked && !row.samples.empty();
  });
  if (unchecked > 0)
    cautions.push_back({fmt::format("Whether results are right was not checked in {}.", counted(unchecked, "row"))});
  return cautions;
}

}  // namespace tutti::cli
