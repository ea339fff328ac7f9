// SPDX-License-Identifier: Apache-2.0
// The tables of the OSU micro-benchmarks: "# OSU MPI Allreduce Latency Test v5.8", headings, rows; with and without -f,
// -c and -z. Sizes of collectives are those of one rank's message.
#include "base/text.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/outputs/words.hpp"

namespace tutti::harness {

namespace {

constexpr double kMegaBytes = 1e6;  // OSU's

class Osu {
 public:
  Output read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      if (line.starts_with('#')) {
        take_comment(line);
      } else if (!columns_.empty()) {
        take_row(line);
      }
    }
    return std::move(output_);
  }

 private:
  void take_comment(std::string_view line) {
    if (auto title = behind(line, "# OSU ")) {
      if (const auto rest = behind(*title, "MPI ")) title = rest;
      benchmark_ = printable(title->substr(0, title->rfind(" Test")));
      columns_.clear();
      type_.clear();
      return;
    }
    if (benchmark_.empty()) return;
    if (const auto type = behind(line, "# Datatype:")) {
      type_ = printable(type->substr(0, type->find_last_not_of('.') + 1));
      return;
    }
    std::vector<std::string> names;
    bool has_time = false;
    for (const std::string_view column : columns_of(line.substr(1))) {
      names.push_back(counter_name(column));
      has_time = has_time || is_time(names.back()) || is_rate(names.back());
    }
    if (!has_time) return;
    columns_ = std::move(names);
    output_.format = "osu";
  }

  static bool is_time(std::string_view name) {
    return name == "avg_latency_us" || name == "latency_us" || name == "overall_us";
  }
  static bool is_rate(std::string_view name) { return name == "bandwidth_mb_per_s" || name == "mb_per_s"; }

  void take_row(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (!begins_like_row(words)) return;
    if (words.size() != columns_.size()) return output_.note_unread(line);
    Reading row;
    row.benchmark = benchmark_;
    row.bytes_are_per_rank = true;
    if (!type_.empty()) row.values.emplace_back("type", type_);
    std::optional<double> rate;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::string& name = columns_[column];
      const std::string_view word = words[column];
      const auto number = to_number(word);
      if (name == "size") {
        row.bytes = to_integer(word);
        if (!row.bytes || *row.bytes < 0) return output_.note_unread(line);
      } else if (is_time(name)) {
        set_time(row, word, kMicro);
      } else if (name == "validation") {
        row.is_checked = true;
        if (word != "Pass") row.wrong = "its validation says " + printable(word);
      } else if (is_rate(name)) {
        rate = number.value_or(0);
      } else if (number) {
        row.counters[name] = *number;
      }
    }
    if (rate) take_rate(row, *rate);
    output_.readings.push_back(std::move(row));
  }

  // Many messages are under way at once; what one of them takes is the inverse of their rate.
  static void take_rate(Reading& row, double rate) {
    if (rate > 0 && row.bytes.value_or(0) > 0) {
      row.nanos = static_cast<double>(*row.bytes) / (rate * kMegaBytes) * 1e9;
      row.remark = "time of a message by the bandwidth printed";
    } else {
      row.problem = "the bandwidth that was printed is none";
    }
  }

  Output output_;
  std::string benchmark_;
  std::string type_;
  std::vector<std::string> columns_;
};

}  // namespace

Output read_osu(std::string_view text) { return Osu().read(text); }

}  // namespace tutti::harness
