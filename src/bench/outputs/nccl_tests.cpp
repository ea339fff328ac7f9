// SPDX-License-Identifier: Apache-2.0
// The tables of nccl-tests (and rccl-tests), by their headings, so that versions with other columns are read as well:
// what describes the message, then "time algbw busbw #wrong" once for out of place and once for in place.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

using Words = std::vector<std::string_view>;

class NcclTests {
 public:
  Output read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) take(line);
    if (is_mixed_) output_.program.clear();
    return std::move(output_);
  }

 private:
  void take(std::string_view line) {
    const Words words = words_of(line);
    if (words.empty()) return;
    if (line.starts_with('#')) {
      take_comment(line, words);
    } else if (!columns_.empty() && begins_like_row(words)) {
      take_row(line, words);
    }
  }

  void take_comment(std::string_view line, const Words& words) {
    if (is_heading(words)) {
      output_.format = "nccl-tests";
      columns_.assign(words.begin() + 1, words.end());
      // Its values have a blank in them.
      has_timestamp_ = columns_.back() == "timestamp";
      if (has_timestamp_) columns_.pop_back();
      first_of_table_ = output_.readings.size();
    } else if (words.size() > 2 && words[1] == "Rank") {
      if (const auto rank = to_integer(words[2]); rank && *rank >= 0 && *rank < kMostRanks)
        num_ranks_ = std::max(num_ranks_, static_cast<int>(*rank) + 1);
    } else if (behind(line, "# Using devices")) {
      num_ranks_ = 0;
    } else if (const auto bounds = behind(line, "# Out of bounds values :")) {
      take_bounds(*bounds);
    } else if (const auto average = behind(line, "# Avg bus bandwidth    :")) {
      if (const auto number = to_number(*average))
        for (std::size_t each = first_of_table_; each < output_.readings.size(); ++each)
          output_.readings[each].counters["avg_busbw_gbs"] = *number;
    } else if (words.size() == 5 && words[1] == "Collective" && words[2] == "test") {
      // Several are in one output only where somebody has put them together; then it has no name of its own.
      is_mixed_ = is_mixed_ || (!output_.program.empty() && output_.program != words[4]);
      output_.program = printable(words[4]);
    }
  }

  static bool is_heading(const Words& words) {
    return words.size() > 3 && words[0] == "#" && words[1] == "size" &&
           std::find(words.begin(), words.end(), "algbw") != words.end() &&
           std::any_of(words.begin(), words.end(), is_time);
  }
  static bool is_time(std::string_view word) { return word == "time" || word == "cputime"; }

  // The program's verdict on the table; which rows it means is not said unless they say it themselves.
  void take_bounds(std::string_view said) {
    if (said.find("FAILED") == std::string_view::npos) return;
    const auto begin = output_.readings.begin() + static_cast<std::ptrdiff_t>(first_of_table_);
    const auto is_wrong = [](const Reading& reading) { return !reading.wrong.empty(); };
    if (std::any_of(begin, output_.readings.end(), is_wrong)) return;
    for (auto reading = begin; reading != output_.readings.end(); ++reading)
      reading->wrong = fmt::format("the table has values out of bounds: {}", printable(said));
  }

  void take_row(std::string_view line, const Words& words) {
    const bool fits = has_timestamp_ ? words.size() >= columns_.size() : words.size() == columns_.size();
    const auto bytes = to_integer(words[0]);
    if (!fits || !bytes || *bytes < 0) return output_.note_unread(line);
    Reading row;
    row.bytes = *bytes;
    row.num_ranks = num_ranks_;
    const auto first = std::find_if(columns_.begin(), columns_.end(), is_time);
    const auto num_described = static_cast<std::size_t>(first - columns_.begin());
    for (std::size_t column = 1; column < num_described; ++column) describe(row, columns_[column], words[column]);
    int in_place = 0;
    for (std::size_t column = num_described; column < columns_.size(); ++in_place) {
      std::size_t end = column + 1;
      while (end < columns_.size() && !is_time(columns_[end])) ++end;
      take_body(row, in_place, words, column, end);
      column = end;
    }
  }

  static void describe(Reading& row, std::string_view column, std::string_view word) {
    if (column == "type") row.values.emplace_back("type", std::string(printable(word)));
    if (column == "redop" && word != "none") row.values.emplace_back("op", std::string(printable(word)));
    if (column == "root")
      if (const auto root = to_integer(word); root && *root >= 0) row.values.emplace_back("root", *root);
  }

  void take_body(Reading row, int in_place, const Words& words, std::size_t begin, std::size_t end) {
    if (words[begin] == "N/A") return;  // it was not measured
    row.values.emplace_back("in_place", in_place);
    set_time(row, words[begin], kMicro);
    if (columns_[begin] == "cputime") row.remark = "time of the processor";
    for (std::size_t column = begin + 1; column < end; ++column) {
      const std::string& name = columns_[column];
      const auto number = to_number(words[column]);
      if (name == "#wrong") {
        row.is_checked = words[column] != "N/A";
        if (row.is_checked && (!number || *number != 0))
          row.wrong = words[column] == "1" ? std::string("1 value is wrong")
                                           : fmt::format("{} values are wrong", printable(words[column]));
      } else if (number && name == "algbw") {
        row.counters["printed_algbw_gbs"] = *number;
      } else if (number && name == "busbw") {
        row.counters["printed_busbw_gbs"] = *number;
      } else if (number) {
        row.counters[counter_name(name)] = *number;
      }
    }
    output_.readings.push_back(std::move(row));
  }

  static constexpr std::int64_t kMostRanks = 1 << 24;

  Output output_;
  std::vector<std::string> columns_;
  bool has_timestamp_ = false;
  bool is_mixed_ = false;
  int num_ranks_ = 0;
  std::size_t first_of_table_ = 0;
};

}  // namespace

Output read_nccl_tests(std::string_view text) { return NcclTests().read(text); }

}  // namespace tutti::harness
