// SPDX-License-Identifier: Apache-2.0
// A row of results: what one case of one group gave. A value; what tables show of it is the sinks' business.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/case.hpp"
#include "bench/measure/statistics.hpp"
#include "data/collective.hpp"
#include <tutti/bench.hpp>

namespace tutti::harness {

enum class Outcome : std::uint8_t {
  ok,
  wrong,    // it ran, and its results are not what they should be
  skipped,  // by a rule or by the backend, with the reason
  error,    // it could not be measured
};
[[nodiscard]] std::string_view name_of(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_from_name(std::string_view name);

// How iterations begin: at an agreed instant, or behind a barrier of the backend's. What other programs do is their own
// business: the time is the average that a program printed, or its wall time from start to end. What is reckoned
// instead of measured is in virtual time.
enum class Sync : std::uint8_t { round, barrier, program, wall, meeting, virtual_time };
[[nodiscard]] std::string_view name_of(Sync sync);
// Of those that a sweep can ask for: round, meeting and barrier.
[[nodiscard]] std::optional<Sync> sync_from_name(std::string_view name);

struct Evidence {
  State::Obeyed obeyed = State::Obeyed::unverifiable;
  std::string how;
};
[[nodiscard]] std::string_view name_of(State::Obeyed obeyed);

struct Message {
  double bytes = 0;
  Traffic traffic = Traffic::send_recv;
};
// How a collective's bandwidth counts; of a scan it is the last rank's result, which takes longest.
[[nodiscard]] Traffic traffic_of(Collective collective);
// What the algorithm's bandwidth is multiplied with to get the bus bandwidth; none for a single rank.
[[nodiscard]] std::optional<double> bus_factor(Traffic traffic, int num_ranks);

struct Row {
  std::string bench;
  std::string peer;
  int num_ranks = 1;  // 0: not known
  std::vector<Setting> settings;
  Point point;
  int launch = 0;  // which start of the group, from 0

  Outcome outcome = Outcome::ok;
  std::string note;  // why it is skipped, wrong or an error; warnings where it is not
  bool is_checked = false;
  std::vector<double> samples;          // nanoseconds of valid iterations, in the order in which they were taken
  std::vector<std::uint32_t> rounds;    // how many of them each round gave
  std::vector<std::uint32_t> launches;  // of a row that was joined from several: how many of the rounds each gave
  std::uint64_t invalid = 0;            // iterations that some rank began late
  Sync sync = Sync::round;
  Stop stop = Stop::not_yet;
  bool shares_cores = false;  // more ranks than cores

  std::optional<double> bytes;
  std::optional<Message> message;
  std::optional<double> items;
  std::optional<double> flops;
  std::map<std::string, double> counters;
  std::string version;                       // of the backend
  std::string ran;                           // what really ran, where the backend can tell
  std::map<std::string, Evidence> evidence;  // of swept variables, by name
};

// Without noise: its one sample is the time. The time's interval is that alone, or what these counters say, if its
// backend knows how wrong its times may be.
inline constexpr std::string_view kPredictedLow = "predicted_low_us";
inline constexpr std::string_view kPredictedHigh = "predicted_high_us";
[[nodiscard]] inline bool is_exact(const Row& row) { return row.sync == Sync::virtual_time; }
// The median of each round, 0 where it has none; without rounds, the samples themselves.
[[nodiscard]] std::vector<double> medians_of_rounds(const Row& row);
// The median of each launch of a joined row, of which there is one in any other.
[[nodiscard]] std::vector<double> medians_of_launches(const Row& row);
// Of a row with samples: over its launches if it was joined from several, else over its rounds.
[[nodiscard]] Summary summarize(const Row& row);
// a's and b's rounds were pairs, launch by launch: `tutti compare` has made them so. One that is exact has no rounds,
// and is set against the other's interval.
[[nodiscard]] Ratio compare_paired(const Row& a, const Row& b);
// Rows that had nothing to do with each other: their intervals against each other, which is cautious. Two times of 0
// are the same; with one of them the ratio is 0 or infinite, which no table shows, and there is no interval.
[[nodiscard]] Ratio compare_apart(const Row& a, const Row& b);

// One row for all launches of a case, in the place of the first: the samples of all, the worst outcome with the notes
// of all that came to it, the worst evidence, the medians of counters, and all that ran.
[[nodiscard]] std::vector<Row> join_launches(const std::vector<Row>& rows);

// Names a row within a run: equal for the same case of the same group, and for no other. For resuming.
[[nodiscard]] std::string key_of(const Row& row);

}  // namespace tutti::harness
