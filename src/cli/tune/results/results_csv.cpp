// SPDX-License-Identifier: Apache-2.0
// Results as CSV: what `tutti run --format csv` writes, and tables as others publish them, with a time a row or with a
// column for each way.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/number.hpp"
#include "cli/tune/results/csv.hpp"
#include "cli/tune/results/results_input.hpp"
#include "data/type.hpp"

namespace tutti::cli {

namespace {

using tune::Timing;

// What columns may be called, the usual name first.
constexpr auto kMachineNames = std::to_array<std::string_view>({"machine", "gpu", "device"});
constexpr auto kRanksNames =
    std::to_array<std::string_view>({"ranks", "num_ranks", "nranks", "world_size", "num_gpus"});
constexpr auto kBytesNames = std::to_array<std::string_view>({"bytes", "size", "message_bytes"});
constexpr auto kTypeNames = std::to_array<std::string_view>({"type", "dtype"});
constexpr auto kCollectiveNames = std::to_array<std::string_view>({"collective", "bench"});
constexpr auto kAlgorithmNames = std::to_array<std::string_view>({"algorithm", "way", "method"});
constexpr auto kPeerNames = std::to_array<std::string_view>({"peer", "library"});
constexpr auto kMemoryNames = std::to_array<std::string_view>({"memory"});
constexpr auto kOutcomeNames = std::to_array<std::string_view>({"outcome", "check"});
constexpr auto kSamplesNames = std::to_array<std::string_view>({"samples"});
// Of our own tables, besides the median.
constexpr auto kOtherTimes = std::to_array<std::string_view>(
    {"min_us", "mean_us", "p99_us", "low_us", "high_us", "predicted_low_us", "predicted_high_us", "simulated_us"});
// Of our own tables, what says nothing of ways and cases.
constexpr auto kAsides = std::to_array<std::string_view>(
    {"plus_minus_percent", "min_us", "mean_us", "p99_us", "launches", "bytes_gbs", "algbw_gbs", "busbw_gbs",
     "items_per_s", "gflops", "count", "ran", "invalid", "sync", "stop", "version", "evidence", "note"});
constexpr std::string_view kTime = "time";
constexpr double kMostNumber = 1e15;

struct Unit {
  std::string_view name;
  double us = 1;
};
constexpr auto kUnits = std::to_array<Unit>({{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}});

struct TimeColumn {
  std::size_t column = 0;
  std::string name;  // before the unit
  double us = 1;
};

// "ring_ms": ring, in ms.
std::optional<TimeColumn> time_column(std::string_view heading, std::size_t column) {
  const std::size_t at = heading.rfind('_');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  for (const Unit& unit : kUnits)
    if (same_name(heading.substr(at + 1), unit.name))
      return TimeColumn{.column = column, .name = std::string(heading.substr(0, at)), .us = unit.us};
  return std::nullopt;
}

// As long as there is none, nothing is read.
std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// A variable of the environment, as our own tables have swept ones for columns.
bool is_variable(std::string_view heading) {
  return !heading.empty() && heading.find('_') != std::string_view::npos &&
         std::none_of(heading.begin(), heading.end(), [](char c) { return c == ' ' || c == '.'; }) &&
         heading.front() >= 'A' && heading.front() <= 'Z' && heading[1] >= 'A' && heading[1] <= 'Z';
}

class CsvResults {
 public:
  CsvResults(const std::vector<CsvRow>& rows, const std::string& place)
      : rows_(rows), place_(place), headings_(rows.front().fields) {}

  Result<ReadResults> read() {
    TUTTI_TRY(find_columns());
    for (const CsvRow& row : std::span(rows_).subspan(1)) TUTTI_TRY(read_row(row));
    for (const auto& [reason, count] : reasons_)
      results_.left_out.push_back(fmt::format("{}: {}", counted(count, "time"), reason));
    results_.what = fmt::format("{}: {}", place_, counted(results_.timings.size(), "time"));
    return std::move(results_);
  }

 private:
  std::optional<std::size_t> find(std::span<const std::string_view> names) {
    for (const std::string_view name : names)
      for (std::size_t i = 0; i < headings_.size(); ++i)
        if (same_name(headings_[i], name)) {
          is_known_[i] = true;
          return i;
        }
    return std::nullopt;
  }

  Status find_columns() {
    is_known_.assign(headings_.size(), false);
    machine_ = find(kMachineNames);
    ranks_ = find(kRanksNames);
    bytes_ = find(kBytesNames);
    type_ = find(kTypeNames);
    collective_ = find(kCollectiveNames);
    algorithm_ = find(kAlgorithmNames);
    peer_ = find(kPeerNames);
    memory_ = find(kMemoryNames);
    outcome_ = find(kOutcomeNames);
    samples_ = find(kSamplesNames);
    find_times();
    const auto wrong = [&](std::string_view what) {
      return wrong_argument(fmt::format("{}: no column {}; it has {}", place_, what, fmt::join(headings_, ", ")));
    };
    if (!ranks_) return wrong("says the number of ranks: ranks");
    if (!bytes_) return wrong("says the size: bytes");
    if (times_.empty())
      return wrong("has times: time_us beside algorithm, or NAME_us for each way (also _ns, _ms, _s)");
    if (is_long_ && !algorithm_) return wrong("says whose time it is: algorithm");
    find_settings();
    if (!collective_) results_.left_out.emplace_back("no column says the collective: taken for all_reduce");
    std::vector<std::string> unused;
    const auto is_aside = [](const std::string& heading) {
      return std::any_of(kAsides.begin(), kAsides.end(),
                         [&](std::string_view name) { return same_name(heading, name); });
    };
    for (std::size_t i = 0; i < headings_.size(); ++i)
      if (!is_known_[i] && !is_aside(headings_[i])) unused.push_back(printable(headings_[i]));
    if (!unused.empty()) results_.left_out.push_back(fmt::format("columns: {}", fmt::join(unused, ", ")));
    return {};
  }

  void find_times() {
    std::vector<TimeColumn> wide;
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      const auto is_heading = [&](std::string_view name) { return same_name(headings_[i], name); };
      std::optional<TimeColumn> column = time_column(headings_[i], i);
      if (!column || is_known_[i]) continue;
      if (is_heading("low_us")) low_ = i;
      if (is_heading("high_us")) high_ = i;
      if (std::any_of(kOtherTimes.begin(), kOtherTimes.end(), is_heading)) {
        is_known_[i] = low_ == i || high_ == i;
        continue;
      }
      if (same_name(column->name, kTime)) times_ = {*column};
      wide.push_back(std::move(*column));
    }
    is_long_ = !times_.empty();
    if (!is_long_) times_ = std::move(wide);
    for (const TimeColumn& each : times_) is_known_[each.column] = true;
  }

  // Between what tells rows apart and their times.
  void find_settings() {
    if (!is_long_) return;
    for (std::size_t i = 0; i < times_.front().column; ++i)
      if (!is_known_[i] && is_variable(headings_[i])) {
        settings_.push_back(i);
        is_known_[i] = true;
      }
  }

  static std::string_view text_of(const CsvRow& row, std::optional<std::size_t> column) {
    return column ? std::string_view(row.fields[*column]) : std::string_view();
  }
  [[nodiscard]] Status wrong_in(const CsvRow& row, std::size_t column, std::string_view what) const {
    return wrong_argument(fmt::format("{}, line {}: {} is {}; {}", place_, row.line, printable(headings_[column]),
                                      in_quotes(row.fields[column]), what));
  }

  Status read_row(const CsvRow& row) {
    if (row.fields.size() != headings_.size())
      return wrong_argument(fmt::format("{}, line {}: {} for {}", place_, row.line, counted(row.fields.size(), "field"),
                                        counted(headings_.size(), "column")));
    Timing common;
    const auto ranks = read_number<std::uint32_t>(row.fields[*ranks_], 1, 1U << 20U);
    if (!ranks) return wrong_in(row, *ranks_, "it takes a number from 1 on");
    const Result<Bytes> bytes = parse_bytes(row.fields[*bytes_]);
    if (!bytes.ok()) return wrong_in(row, *bytes_, "it takes bytes, such as 64K");
    common.machine = text_of(row, machine_);
    common.peer = text_of(row, peer_);
    common.bytes = bytes->value();
    common.key = {.collective = Collective::all_reduce, .ranks = *ranks, .memory = {}, .types = TypeClass::any};
    if (collective_) {
      const std::optional<Collective> found = find_collective(row.fields[*collective_]);
      if (!found) {
        ++reasons_[fmt::format("{} is no collective", in_quotes(row.fields[*collective_]))];
        return {};
      }
      common.key.collective = *found;
    }
    if (const std::optional<Type> type = type_from_name(text_of(row, type_)); type) common.key.types = class_of(*type);
    if (same_name(text_of(row, memory_), name_of(TableMemory::symmetric))) common.key.memory = TableMemory::symmetric;
    if (const std::string_view outcome = text_of(row, outcome_);
        !outcome.empty() && (same_name(outcome, "wrong") || same_name(outcome, "error"))) {
      ++reasons_[fmt::format("its {} is {}", printable(headings_[*outcome_]), outcome)];
      return {};
    }
    for (const TimeColumn& column : times_) TUTTI_TRY(read_time(row, column, common));
    return {};
  }

  Status read_time(const CsvRow& row, const TimeColumn& column, Timing timing) {
    const std::string_view text = row.fields[column.column];
    if (text.empty() || text == "-") {
      ++reasons_["it is empty"];
      return {};
    }
    const std::optional<double> time = number_in(text);
    if (!time || *time <= 0 || *time > kMostNumber) return wrong_in(row, column.column, "it takes a time above 0");
    timing.time.us = *time * column.us;
    timing.time.way.algorithm = is_long_ ? std::string(row.fields[*algorithm_]) : column.name;
    if (same_name(timing.time.way.algorithm, "default")) timing.time.way.algorithm.clear();
    for (const std::size_t setting : settings_)
      if (const std::string& value = row.fields[setting]; !value.empty() && value != "unset")
        timing.time.way.settings.emplace_back(headings_[setting], value);
    if (is_long_ && low_ && high_) {
      const std::optional<double> low = number_in(row.fields[*low_]);
      const std::optional<double> high = number_in(row.fields[*high_]);
      if (low && high) {
        timing.time.low_us = *low;
        timing.time.high_us = *high;
      }
    }
    if (is_long_ && samples_) timing.time.samples = read_number<std::uint64_t>(row.fields[*samples_]).value_or(0);
    results_.timings.push_back(std::move(timing));
    return {};
  }

  const std::vector<CsvRow>& rows_;
  const std::string& place_;
  const std::vector<std::string>& headings_;
  std::vector<bool> is_known_;
  std::optional<std::size_t> machine_, ranks_, bytes_, type_, collective_, algorithm_, peer_, memory_, outcome_,
      samples_, low_, high_;
  std::vector<TimeColumn> times_;
  std::vector<std::size_t> settings_;
  bool is_long_ = false;  // a time a row
  std::map<std::string, std::size_t> reasons_;
  ReadResults results_;
};

}  // namespace

Result<ReadResults> results_of_csv(std::string_view text, const std::string& place) {
  const Result<std::vector<CsvRow>> rows = read_csv(text);
  if (!rows.ok()) return rows.status().with_context(place);
  if (rows->size() < 2)
    return wrong_argument(
        fmt::format("{} has no results: CSV has a line of headings, and then a line for each", place));
  return CsvResults(*rows, place).read();
}

}  // namespace tutti::cli
