// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/rows.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/outputs/evidence.hpp"

namespace tutti::harness {

namespace {

struct NamedTraffic {
  std::string_view name;
  Traffic traffic;
};
// The first that the name has in it, without its case and punctuation.
constexpr std::array<NamedTraffic, 11> kTraffic = {{{"allreduce", Traffic::all_reduce},
                                                    {"allgather", Traffic::all_gather},
                                                    {"reducescatter", Traffic::reduce_scatter},
                                                    {"alltoall", Traffic::all_to_all},
                                                    {"broadcast", Traffic::broadcast},
                                                    {"bcast", Traffic::broadcast},
                                                    {"gather", Traffic::gather},
                                                    {"scatter", Traffic::scatter},
                                                    {"reduce", Traffic::reduce},
                                                    {"sendrecv", Traffic::send_recv},
                                                    {"pingpong", Traffic::send_recv}}};

// Values that are no program's own: how many ranks were started, where it tells another number; and of rows that are
// alike otherwise, which this is.
constexpr const char* kStarted = "started";
constexpr const char* kNth = "nth";

// Whether a message's bytes are counted over all ranks, where programs may say those of one.
bool is_of_all_ranks(Traffic traffic) {
  return traffic == Traffic::all_gather || traffic == Traffic::all_to_all || traffic == Traffic::gather ||
         traffic == Traffic::scatter;
}

void add(std::string& text, std::string_view words) {
  if (!words.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", words);
}

// As it is called in a row that has something else of that name.
std::string free_name(const Point& point, const std::string& name) {
  const bool is_ours = name == kStarted || name == kNth;
  return is_ours || point.find(name) != nullptr ? "printed_" + name : name;
}

// Behind the values that are there already.
void add_value(Point& point, const std::string& name, Value value) {
  const Value* axis = point.find(name);
  if (axis == nullptr || *axis != value) point.values.emplace_back(free_name(point, name), std::move(value));
}

void add_counter(Row& row, const std::string& name, double value) {
  const Value* axis = row.point.find(name);
  const bool is_told = axis != nullptr && axis->is_number() && axis->number() == value;
  if (!is_told) row.counters[free_name(row.point, name)] = value;
}

void set_message(Row& row, const Reading& reading) {
  if (!reading.bytes) return;
  const auto bytes = static_cast<double>(*reading.bytes);
  const auto traffic = traffic_named(reading.benchmark.empty() ? row.bench : reading.benchmark);
  if (!traffic) {
    row.bytes = bytes;
    return;
  }
  const bool is_scaled = reading.bytes_are_per_rank && is_of_all_ranks(*traffic);
  if (is_scaled && row.num_ranks == 0) return;  // how many they are in all is not known
  row.message = {is_scaled ? bytes * row.num_ranks : bytes, *traffic};
}

Row row_of(const Reading& reading, const Row& frame) {
  Row row = frame;
  if (reading.num_ranks != 0 && frame.num_ranks != 0 && reading.num_ranks != frame.num_ranks)
    row.point.values.emplace_back(kStarted, frame.num_ranks);
  if (reading.num_ranks != 0) row.num_ranks = reading.num_ranks;
  if (!reading.benchmark.empty()) add_value(row.point, "benchmark", reading.benchmark);
  if (reading.bytes) add_value(row.point, "bytes", *reading.bytes);
  for (const auto& [name, value] : reading.values) add_value(row.point, name, value);
  set_message(row, reading);
  for (const auto& [name, value] : reading.counters) add_counter(row, name, value);
  // What follows from the time is not kept a second time.
  if (row.message && bus_factor(row.message->traffic, row.num_ranks)) row.counters.erase("printed_busbw_gbs");
  if (reading.bytes) row.counters.erase("printed_algbw_gbs");
  row.is_checked = reading.is_checked;
  add(row.note, reading.remark);
  if (!reading.wrong.empty()) {
    row.outcome = Outcome::wrong;
    row.note = reading.wrong;
  }
  if (reading.nanos) {
    row.samples = {*reading.nanos};
    row.rounds = {1};
  } else if (row.outcome == Outcome::ok) {
    row.outcome = Outcome::error;
    row.note = reading.problem;
  }
  return row;
}

// What is wrong with the output as a whole; empty where nothing is.
std::string complaint(const Output& output, const std::string& failure) {
  std::string text = failure;
  if (output.num_unread > 0)
    add(text, fmt::format("{} of its lines stand{} where rows are due and cannot be read; the first: {}",
                          output.num_unread, output.num_unread == 1 ? "s" : "", output.first_unread));
  if (text.empty() && !output.is_recognised()) return "nothing in the output is recognised";
  if (text.empty() && output.readings.empty()) return fmt::format("the table of {} has no row", output.format);
  return text;
}

}  // namespace

std::optional<Traffic> traffic_named(std::string_view name) {
  std::string letters;
  for (const char each : name) {
    if (each >= 'a' && each <= 'z') letters += each;
    if (each >= 'A' && each <= 'Z') letters += static_cast<char>(each - 'A' + 'a');
  }
  for (const NamedTraffic& each : kTraffic)
    if (letters.find(each.name) != std::string::npos) return each.traffic;
  return std::nullopt;
}

std::vector<Row> rows_of(const Output& output, const Row& frame, const std::string& failure) {
  std::vector<Row> rows;
  std::map<std::string, std::int64_t> times_seen;
  const auto add_row = [&](Row row) {
    row.sync = Sync::program;
    fail_if_ignored(row);
    if (const std::int64_t nth = ++times_seen[key_of(row)]; nth > 1) row.point.values.emplace_back(kNth, nth);
    rows.push_back(std::move(row));
  };
  for (const Reading& reading : output.readings) add_row(row_of(reading, frame));
  if (const std::string words = complaint(output, failure); !words.empty()) {
    Row row = frame;
    row.outcome = Outcome::error;
    row.note = words;
    add_row(std::move(row));
  }
  return rows;
}

}  // namespace tutti::harness
