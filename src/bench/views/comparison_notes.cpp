// SPDX-License-Identifier: Apache-2.0
#include "bench/views/comparison_notes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/views/views.hpp"

namespace tutti::harness {

namespace {

// Numbers of cases for each competitor.
using Places = std::vector<std::vector<std::size_t>>;

struct Kind {
  std::string words;
  std::optional<std::pair<std::int64_t, std::int64_t>> percents;  // the least and the greatest
  Places places;

  [[nodiscard]] std::string text() const {
    if (!percents) return words;
    const auto& [least, greatest] = *percents;
    return least == greatest ? fmt::format("{} {}", least, words) : fmt::format("{} to {} {}", least, greatest, words);
  }
};

class Kinds {
 public:
  explicit Kinds(std::size_t num_competitors) : num_competitors_(num_competitors) {}

  void add(const Warning& warning, std::size_t competitor, std::size_t number) {
    auto kind = std::find_if(all_.begin(), all_.end(), [&](const Kind& each) { return each.words == warning.words; });
    if (kind == all_.end()) kind = all_.insert(all_.end(), {warning.words, {}, Places(num_competitors_)});
    std::vector<std::size_t>& numbers = kind->places[competitor];
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    if (!warning.percent) return;
    if (!kind->percents) kind->percents.emplace(*warning.percent, *warning.percent);
    kind->percents->first = std::min(kind->percents->first, *warning.percent);
    kind->percents->second = std::max(kind->percents->second, *warning.percent);
  }

  [[nodiscard]] const std::vector<Kind>& all() const { return all_; }

 private:
  std::size_t num_competitors_;
  std::vector<Kind> all_;
};

// A note is of several things where launches have said several.
std::vector<Warning> said_of(const Row& row) {
  if (row.outcome != Outcome::ok) {
    const std::string why = warnings(row);
    return {{fmt::format("{}{}{}", name_of(row.outcome), why.empty() ? "" : ": ", why)}};
  }
  std::vector<Warning> all;
  for (const Warning& warning : warnings_of(row)) {
    std::string_view rest = warning.words;
    for (std::size_t end = rest.find("; "); end != std::string_view::npos; end = rest.find("; ")) {
      all.push_back({std::string(rest.substr(0, end)), warning.percent});
      rest.remove_prefix(end + 2);
    }
    all.push_back({std::string(rest), warning.percent});
  }
  return all;
}

Places all_places(const Comparison& comparison) {
  Places places(comparison.competitors.size());
  for (std::size_t number = 0; number < comparison.cases.size(); ++number)
    for (std::size_t each = 0; each < places.size(); ++each)
      if (comparison.cases[number].rows[each]) places[each].push_back(number);
  return places;
}

// "a, b at 8; c at 64", or nothing where it is everywhere.
std::string words_of(const Places& places, const Places& everywhere, const CaseNames& names,
                     const std::vector<std::string>& called) {
  if (places == everywhere) return "";
  std::string text;
  std::set<std::vector<std::size_t>> done;
  for (std::size_t each = 0; each < places.size(); ++each) {
    if (places[each].empty() || !done.insert(places[each]).second) continue;
    std::string whose;
    bool are_all = true;  // that have any of these cases
    for (std::size_t other = 0; other < places.size(); ++other) {
      if (places[other] == places[each]) whose += (whose.empty() ? "" : ", ") + called[other];
      are_all = are_all && (places[other] == places[each] || everywhere[other].empty());
    }
    if (are_all) whose.clear();
    const bool is_in_all_cases = places[each] == everywhere[each];
    const std::string where = is_in_all_cases ? "" : names.list(places[each]);
    text += text.empty() ? "" : "; ";
    text += whose + (whose.empty() || where.empty() ? "" : " at ") + where;
  }
  return text;
}

}  // namespace

std::vector<std::string> notes_by_kind(const Comparison& comparison, const CaseNames& names,
                                       const std::vector<std::string>& called) {
  Kinds kinds(comparison.competitors.size());
  bool any_checked = false;
  for (const ComparedCase& one : comparison.cases)
    for (const std::optional<Row>& row : one.rows) any_checked = any_checked || (row && row->is_checked);
  for (std::size_t number = 0; number < comparison.cases.size(); ++number)
    for (std::size_t each = 0; each < comparison.competitors.size(); ++each) {
      const std::optional<Row>& row = comparison.cases[number].rows[each];
      if (!row) continue;
      for (const Warning& warning : said_of(*row)) kinds.add(warning, each, number);
      if (row->outcome == Outcome::ok && !row->is_checked && any_checked)
        kinds.add({"results unchecked"}, each, number);
    }
  const Places everywhere = all_places(comparison);
  std::vector<std::pair<Places, std::string>> lines;  // by what they are of
  for (const Kind& kind : kinds.all()) {
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == kind.places; });
    if (same == lines.end()) {
      lines.emplace_back(kind.places, kind.text());
    } else {
      same->second += "; " + kind.text();
    }
  }
  std::vector<std::string> notes;
  for (const auto& [places, text] : lines) {
    const std::string where = words_of(places, everywhere, names, called);
    notes.push_back(printable(where.empty() ? text : fmt::format("{}: {}", where, text)));
  }
  return notes;
}

}  // namespace tutti::harness
