// SPDX-License-Identifier: Apache-2.0
// The tables of the Intel MPI Benchmarks: "# Benchmarking Allreduce", "# #processes = 4", headings that begin with
// #bytes or #repetitions, rows. Times are the averages over ranks; least and greatest are counters.
#include <algorithm>

#include "base/text.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

class Imb {
 public:
  Output read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) take(line);
    return std::move(output_);
  }

 private:
  void take(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "#bytes" || words[0] == "#repetitions") {
      take_headings(words);
    } else if (words[0].starts_with('#')) {
      take_comment(line, words);
    } else if (!columns_.empty() && to_number(words[0])) {
      take_row(line, words);
    }
  }

  void take_headings(const std::vector<std::string_view>& words) {
    columns_.clear();
    for (const std::string_view word : words) columns_.push_back(counter_name(word));
    // The first of these that is there.
    time_ = columns_.end() - columns_.begin();
    for (const std::string_view name : {"t_avg_usec", "t_usec", "t_ovrl_usec", "t_max_usec"}) {
      const auto found = std::find(columns_.begin(), columns_.end(), name);
      if (found == columns_.end()) continue;
      time_ = found - columns_.begin();
      output_.format = "imb";
      return;
    }
    columns_.clear();
  }

  void take_comment(std::string_view line, const std::vector<std::string_view>& words) {
    constexpr std::string_view kTitle = "Benchmarking ";
    constexpr std::string_view kProcesses = "#processes =";
    if (words.size() > 2 && words[1] == "Benchmarking") {
      benchmark_ = printable(trim(line.substr(line.find(kTitle) + kTitle.size())));
      columns_.clear();
      num_ranks_ = 0;
    } else if (const std::size_t place = line.find(kProcesses); place != std::string_view::npos) {
      const std::vector<std::string_view> rest = words_of(line.substr(place + kProcesses.size()));
      if (const auto number = rest.empty() ? std::nullopt : to_integer(rest[0]); number && *number > 0)
        num_ranks_ = static_cast<int>(std::min<std::int64_t>(*number, 1 << 24));
    }
  }

  void take_row(std::string_view line, const std::vector<std::string_view>& words) {
    const bool is_told =
        line.find("out-of-mem") != std::string_view::npos || line.find("time-out") != std::string_view::npos;
    if (!begins_like_row(words) && !is_told) return;
    if (is_told) return take_refusal(line, words);
    if (words.size() != columns_.size()) return output_.note_unread(line);
    Reading row;
    row.benchmark = benchmark_;
    row.bytes_are_per_rank = true;
    row.num_ranks = num_ranks_;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::string& name = columns_[column];
      const auto number = to_number(words[column]);
      if (static_cast<std::ptrdiff_t>(column) == time_) {
        set_time(row, words[column], kMicro);
      } else if (name == "bytes") {
        row.bytes = to_integer(words[column]);
        if (!row.bytes || *row.bytes < 0) return output_.note_unread(line);
      } else if (name == "defects" && number) {
        row.is_checked = true;
        if (*number != 0) row.wrong = "its check finds defects: " + printable(words[column]);
      } else if (number) {
        row.counters[name] = *number;
      }
    }
    output_.readings.push_back(std::move(row));
  }

  // "2097152 out-of-mem.; needed X= 0.250 GB; ...": a row without times, with the reason in their place.
  void take_refusal(std::string_view line, const std::vector<std::string_view>& words) {
    const auto bytes = to_integer(words[0]);
    if (!bytes || *bytes < 0 || columns_.front() != "bytes") return output_.note_unread(line);
    const std::string_view why = trim(trim(line).substr(words[0].size()));
    output_.readings.push_back({.benchmark = benchmark_,
                                .bytes = bytes,
                                .bytes_are_per_rank = true,
                                .num_ranks = num_ranks_,
                                .problem = "it was not measured: " + printable(why)});
  }

  Output output_;
  std::string benchmark_;
  int num_ranks_ = 0;
  std::vector<std::string> columns_;
  std::ptrdiff_t time_ = 0;
};

}  // namespace

Output read_imb(std::string_view text) { return Imb().read(text); }

}  // namespace tutti::harness
