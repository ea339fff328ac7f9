// SPDX-License-Identifier: Apache-2.0
#include "bench/views/comparison_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "bench/views/case_names.hpp"
#include "bench/views/comparison_notes.hpp"
#include "bench/views/comparison_words.hpp"

namespace tutti::harness {

namespace {

// How much is said of each ratio: interval and the verdict's word, the same with signs, or the ratio alone with signs.
enum class Detail : std::uint8_t { words, signs, ratios };

struct Layout {
  bool has_all = true;  // else the first, and of each case the two fastest of the others
  Detail detail = Detail::words;
  Naming naming = Naming::names;
};

// The first that is narrow enough is taken.
constexpr auto kLayouts = std::to_array<Layout>({{true, Detail::words, Naming::names},
                                                 {true, Detail::words, Naming::shortened},
                                                 {true, Detail::signs, Naming::names},
                                                 {true, Detail::signs, Naming::shortened},
                                                 {true, Detail::words, Naming::letters},
                                                 {true, Detail::signs, Naming::letters},
                                                 {true, Detail::ratios, Naming::names},
                                                 {true, Detail::ratios, Naming::shortened},
                                                 {true, Detail::ratios, Naming::letters},
                                                 {false, Detail::signs, Naming::names},
                                                 {false, Detail::signs, Naming::shortened},
                                                 {false, Detail::ratios, Naming::names},
                                                 {false, Detail::ratios, Naming::shortened},
                                                 {false, Detail::signs, Naming::letters},
                                                 {false, Detail::ratios, Naming::letters}});
constexpr std::size_t kShown = 2;  // where not all are

// One competitor in one case.
struct Entry {
  std::string time;  // or why there is none
  std::optional<double> nanos;
  std::optional<Ratio> ratio;  // how many times as fast the first is
  bool is_fastest = false;
  bool is_tied = false;  // not told apart from the fastest
};
using CaseLine = std::vector<Entry>;

CaseLine case_line(const Comparison& comparison, const ComparedCase& one) {
  CaseLine line(one.rows.size());
  std::optional<std::size_t> fastest;
  std::size_t num_timed = 0;
  for (std::size_t each = 0; each < line.size(); ++each) {
    const std::optional<Row>& row = one.rows[each];
    Entry& entry = line[each];
    entry.time = row ? std::string(name_of(row->outcome)) : "-";
    if (!row || row->outcome != Outcome::ok || row->samples.empty()) continue;
    entry.nanos = summarize(*row).median;
    entry.time = time_text(*entry.nanos);
    ++num_timed;
    if (!fastest || *entry.nanos < *line[*fastest].nanos) fastest = each;
  }
  if (num_timed > 1) line[*fastest].is_fastest = true;
  for (std::size_t each = 0; each < line.size(); ++each) {
    if (each > 0) line[each].ratio = comparison.compare(one, 0, each);
    if (num_timed < 2 || each == *fastest) continue;
    const std::optional<Ratio> to_fastest = comparison.compare(one, each, *fastest);
    line[each].is_tied = to_fastest && to_fastest->verdict != Verdict::slower;
  }
  return line;
}

bool is_ratio(const std::optional<Ratio>& ratio) { return ratio && ratio->ratio > 0 && std::isfinite(ratio->ratio); }

// An exact one has no width to show.
bool has_interval(const std::optional<Ratio>& ratio) {
  return is_ratio(ratio) && ratio->interval && ratio->interval->low < ratio->interval->high;
}

std::string sign_of(Verdict verdict) {
  if (verdict == Verdict::same) return "≈";
  return verdict == Verdict::undecided ? "?" : "";
}

class Pairs {
 public:
  Pairs(const Comparison& comparison, const TextStyle& style)
      : comparison_(comparison), style_(style), names_(CaseNames::of(comparison)) {
    for (const ComparedCase& one : comparison.cases) lines_.push_back(case_line(comparison, one));
  }

  [[nodiscard]] std::string text() const {
    Layout layout;
    for (const Layout& each : kLayouts) {
      if (!each.has_all && num_others() <= kShown) break;  // nothing would be left out
      layout = each;
      if (grid_of(layout).width() <= style_.width) break;
    }
    return heading(layout) + "\n" + grid_of(layout).render(style_) + below(layout);
  }

 private:
  [[nodiscard]] std::size_t num_others() const { return comparison_.competitors.size() - 1; }

  [[nodiscard]] std::vector<std::string> called(const Layout& layout) const {
    return called_by(layout.naming, comparison_);
  }

  [[nodiscard]] bool are_checked() const {
    bool are_all = true;
    bool is_any = false;
    for (const ComparedCase& one : comparison_.cases)
      for (const std::optional<Row>& row : one.rows) {
        if (!row || row->outcome == Outcome::skipped) continue;
        is_any = true;
        are_all = are_all && row->outcome == Outcome::ok && row->is_checked;
      }
    return is_any && are_all;
  }

  // Of the entries that this layout shows.
  template <typename Holds>
  [[nodiscard]] bool any(const Layout& layout, Holds holds) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const CaseLine& line) {
      const std::vector<std::size_t> others = shown_of(line, layout);
      return holds(line.front()) ||
             std::any_of(others.begin(), others.end(), [&](std::size_t each) { return holds(line[each]); });
    });
  }

  [[nodiscard]] std::string heading(const Layout& layout) const {
    std::string text;
    const std::string subject = subject_of(comparison_, names_, layout.naming);
    if (!subject.empty()) text += paragraph(subject + (are_checked() ? "; all results checked" : ""), style_, 2);
    text += legend_of(comparison_, layout.naming, style_);
    const bool has_intervals =
        layout.detail != Detail::ratios && any(layout, [](const Entry& entry) { return has_interval(entry.ratio); });
    return text + paragraph(ratio_sentence(called(layout), has_intervals ? " [95 % interval]" : ""), style_, 2);
  }

  // What stands below: signs, notes, what is left out.
  [[nodiscard]] std::string below(const Layout& layout) const {
    std::string signs;
    const auto add = [&](bool is_there, std::string_view words) {
      if (is_there) signs += fmt::format("{}{}", signs.empty() ? "" : ", ", words);
    };
    add(any(layout, [](const Entry& entry) { return entry.is_fastest; }),
        style_.has_tones ? "bold is the fastest" : "* is the fastest");
    add(any(layout, [](const Entry& entry) { return entry.is_tied; }), "= is not told apart from it");
    if (layout.detail != Detail::words) {
      for (const auto& [verdict, words] :
           {std::pair(Verdict::same, "≈ the same within 3 %"), std::pair(Verdict::undecided, "? undecided")})
        add(any(layout, [&](const Entry& entry) { return entry.ratio && entry.ratio->verdict == verdict; }), words);
    }
    std::string text = signs.empty() ? "" : paragraph(signs, style_);
    for (const std::string& note : notes_by_kind(comparison_, names_, called(layout)))
      text += paragraph("note: " + note, style_, 6);
    const bool lacks_intervals =
        layout.detail == Detail::ratios && any(layout, [](const Entry& entry) { return has_interval(entry.ratio); });
    if (!layout.has_all)
      text += paragraph(fmt::format("left out: all but the two fastest of the {} others in each case{}; --wide shows "
                                    "all, --view best each one's time",
                                    num_others(), lacks_intervals ? ", and intervals" : ""),
                        style_, 2);
    else if (lacks_intervals)
      text += paragraph("left out: intervals; --wide shows them", style_, 2);
    return text;
  }

  // --- the table

  // Whose entries stand in a line behind the first one's.
  [[nodiscard]] std::vector<std::size_t> shown_of(const CaseLine& line, const Layout& layout) const {
    std::vector<std::size_t> others;
    for (std::size_t each = 1; each < line.size(); ++each)
      if (layout.has_all || line[each].nanos) others.push_back(each);
    if (layout.has_all) return others;
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return *line[a].nanos < *line[b].nanos; });
    others.resize(std::min(others.size(), kShown));
    return others;
  }

  [[nodiscard]] std::size_t num_places(const Layout& layout) const {
    return layout.has_all ? num_others() : std::min(num_others(), kShown);
  }

  [[nodiscard]] TextGrid grid_of(const Layout& layout) const {
    const std::vector<std::string> called = this->called(layout);
    std::vector<GridColumn> columns;
    std::vector<GridCell> headings;
    if (!names_.column.empty()) {
      columns.push_back({.right = names_.are_numbers});
      headings.push_back({names_.column});
    }
    // A time with its mark; behind those of the others the ratio, its interval and the verdict.
    const auto add_time = [&](const std::string& heading) {
      columns.push_back({.gap = columns.empty() ? 0U : 2U, .right = true});
      columns.push_back({.gap = 1});
      headings.push_back({heading});
      headings.push_back({});
    };
    add_time(called.front());
    constexpr std::array<std::string_view, kShown> kPlaces = {"fastest other", "second"};
    for (std::size_t place = 0; place < num_places(layout); ++place) {
      if (!layout.has_all) {
        columns.push_back({});
        headings.push_back({std::string(kPlaces[place])});
      }
      add_time(layout.has_all ? called[place + 1] : "");
      columns.push_back({.right = true});
      columns.push_back({.gap = 1});
      columns.push_back({.gap = 1});
      // Without intervals a long name would be most of the width.
      if (layout.detail == Detail::ratios) {
        headings.insert(headings.end(), {{"×"}, {}, {}});
      } else {
        headings.push_back({called.front() + " is", Tone::plain, 3});
      }
    }
    TextGrid grid(std::move(columns));
    grid.add_row(std::move(headings));
    for (std::size_t group = 0; group < names_.groups.size(); ++group) {
      if (!names_.groups[group].empty()) grid.add_line(names_.groups[group] + ":");
      for (std::size_t number = 0; number < lines_.size(); ++number)
        if (names_.group_of[number] == group) grid.add_row(cells_of(number, layout, called));
    }
    return grid;
  }

  [[nodiscard]] std::vector<GridCell> cells_of(std::size_t number, const Layout& layout,
                                               const std::vector<std::string>& called) const {
    const CaseLine& line = lines_[number];
    std::vector<GridCell> cells;
    if (!names_.column.empty()) cells.push_back({names_.labels[number]});
    add_time(cells, line.front());
    for (const std::size_t each : shown_of(line, layout)) {
      if (!layout.has_all) cells.push_back({called[each]});
      add_time(cells, line[each]);
      add_ratio(cells, line[each].ratio, layout.detail);
    }
    return cells;
  }

  void add_time(std::vector<GridCell>& cells, const Entry& entry) const {
    cells.push_back({entry.time, entry.is_fastest ? Tone::bold : Tone::plain});
    cells.push_back({entry.is_tied ? "=" : entry.is_fastest && !style_.has_tones ? "*" : ""});
  }

  static void add_ratio(std::vector<GridCell>& cells, const std::optional<Ratio>& ratio, Detail detail) {
    cells.push_back({is_ratio(ratio) ? ratio_text(ratio->ratio) + "×" : "-"});
    const bool shows_interval = detail != Detail::ratios && has_interval(ratio);
    cells.push_back({shows_interval ? interval_text(ratio->ratio, *ratio->interval) : "", Tone::faint});
    if (!ratio) {
      cells.push_back({});
    } else {
      cells.push_back({detail == Detail::words ? std::string(name_of(ratio->verdict)) : sign_of(ratio->verdict)});
    }
  }

  const Comparison& comparison_;
  const TextStyle& style_;
  CaseNames names_;
  std::vector<CaseLine> lines_;
};

}  // namespace

std::string text_of_pairs(const Comparison& comparison, const TextStyle& style) {
  if (comparison.cases.empty()) return "nothing was compared\n";
  return Pairs(comparison, style).text();
}

}  // namespace tutti::harness
