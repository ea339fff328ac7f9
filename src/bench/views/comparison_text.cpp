// SPDX-License-Identifier: Apache-2.0
#include "bench/views/comparison_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/cells.hpp"
#include "bench/views/case_names.hpp"
#include "bench/views/comparison_notes.hpp"
#include "bench/views/text_grid.hpp"

namespace tutti::harness {

namespace {

// table_of_best(), and which of its columns are what.
class Best {
 public:
  Best(const Comparison& comparison, std::vector<Standing> standings, std::size_t baseline)
      : comparison_(comparison),
        standings_(std::move(standings)),
        table_(table_of_best(comparison, standings_, baseline)),
        num_identities_(comparison.view.identity_columns().size()),
        num_times_((table_.columns().size() - num_identities_ - kNumOthers) / comparison.competitors.size()) {
    for (std::size_t column = 0; column < num_identities_; ++column)
      (is_common(column) ? common_ : telling_).push_back(column);
  }

  [[nodiscard]] const Table& table() const { return table_; }

  // What all cases have in common.
  [[nodiscard]] std::string heading() const {
    std::string text;
    for (const std::size_t column : common_)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", table_.columns()[column].name,
                          text_of(table_.rows().front()[column]));
    return text.empty() ? "" : printable(text) + "\n";
  }

  [[nodiscard]] std::string verdicts() const {
    std::vector<std::size_t> kept = telling_;
    for (std::size_t column = num_identities_ + num_times_ * comparison_.competitors.size();
         column < table_.columns().size(); ++column)
      if (table_.columns()[column].name != "ties") kept.push_back(column);
    std::vector<Column> columns;
    columns.reserve(kept.size());
    for (const std::size_t each : kept) columns.push_back(table_.columns()[each]);
    Table shorter(std::move(columns));
    for (const std::vector<Cell>& row : table_.rows()) {
      std::vector<Cell> cells;
      cells.reserve(kept.size());
      for (const std::size_t each : kept) cells.push_back(row[each]);
      shorter.add_row(std::move(cells));
    }
    return to_aligned(without_empty_columns(shorter));
  }

  // Of the cases from `first` up to `end`.
  [[nodiscard]] std::string times(std::size_t first, std::size_t end) const {
    std::vector<Column> columns = {{.name = "us (* best, = tied with it)", .wrap_at = kLabel}};
    for (std::size_t each = first; each < end; ++each) columns.push_back({.name = name_of(each)});
    Table turned(std::move(columns));
    for (std::size_t competitor = 0; competitor < comparison_.competitors.size(); ++competitor) {
      std::vector<Cell> cells = {Cell(comparison_.competitors[competitor])};
      for (std::size_t each = first; each < end; ++each) cells.emplace_back(marked_time(competitor, each));
      turned.add_row(std::move(cells));
    }
    return to_aligned(turned);
  }

 private:
  static constexpr std::size_t kNumOthers = 11;  // columns: what is best, over whom, ties, check, note
  static constexpr std::size_t kLabel = 32;      // of a competitor

  [[nodiscard]] bool is_common(std::size_t column) const {
    return std::all_of(table_.rows().begin(), table_.rows().end(),
                       [&](const auto& row) { return row[column] == table_.rows().front()[column]; });
  }

  [[nodiscard]] std::string name_of(std::size_t number) const {
    std::string text;
    for (const std::size_t column : telling_)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", table_.columns()[column].name,
                          text_of(table_.rows()[number][column]));
    return text.empty() ? "median" : text;
  }

  [[nodiscard]] std::string time_text(std::size_t competitor, std::size_t number) const {
    return text_of(table_.rows()[number][num_identities_ + competitor * num_times_], kMeasuredDigits);
  }

  // To the right, where the mark stands behind.
  [[nodiscard]] std::string marked_time(std::size_t competitor, std::size_t number) const {
    std::size_t widest = 0;
    for (std::size_t each = 0; each < comparison_.competitors.size(); ++each)
      widest = std::max(widest, time_text(each, number).size());
    const Standing& standing = standings_[number];
    const bool is_tied = std::find(standing.ties.begin(), standing.ties.end(), competitor) != standing.ties.end();
    return fmt::format("{:>{}}{}", time_text(competitor, number), widest,
                       standing.best == competitor ? " *"
                       : is_tied                   ? " ="
                                                   : "");
  }

  const Comparison& comparison_;
  std::vector<Standing> standings_;
  Table table_;
  std::size_t num_identities_;
  std::size_t num_times_;  // columns of each competitor
  std::vector<std::size_t> common_;
  std::vector<std::size_t> telling_;
};

}  // namespace

std::string text_of_best(const Comparison& comparison, std::size_t baseline, std::size_t width) {
  const Best best(comparison, standings_of(comparison), baseline);
  const std::string table = to_aligned(without_empty_columns(best.table()));
  if (comparison.cases.empty()) return table;
  const std::string over = fmt::format("speedup over {}\n", printable(comparison.competitors[baseline]));
  std::string text = over + table;
  if (widest_line(table) > width) {
    text = best.heading() + over + best.verdicts();
    for (std::size_t first = 0; first < comparison.cases.size();) {
      std::size_t end = first + 1;
      std::string block = best.times(first, end);
      while (end < comparison.cases.size()) {
        std::string wider = best.times(first, end + 1);
        if (widest_line(wider) > width) break;
        block = std::move(wider);
        ++end;
      }
      text += "\n" + block;
      first = end;
    }
  }
  for (const std::string& note : notes_by_kind(comparison, CaseNames::of(comparison), comparison.competitors))
    text += paragraph("note: " + note, {.width = width}, 6);
  return text;
}

}  // namespace tutti::harness
