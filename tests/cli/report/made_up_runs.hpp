// SPDX-License-Identifier: Apache-2.0
// Rows and runs for the tests of reports, with exactly known times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/run_pair.hpp"

namespace tutti::cli::test {

// Eight launches of ten rounds of a sample each, whose median is this time.
inline harness::Row report_row(const std::string& peer, int num_ranks, std::int64_t bytes, double nanoseconds) {
  harness::Row row;
  row.bench = "all_reduce";
  row.peer = peer;
  row.num_ranks = num_ranks;
  row.point.values.emplace_back("bytes", harness::Value(bytes));
  for (int round = 0; round < 80; ++round) {
    row.samples.push_back(nanoseconds * (1 + 0.001 * (round % 10 - 4.5)));
    row.rounds.push_back(1);
  }
  row.launches.assign(8, 10);
  row.is_checked = true;
  row.version = peer + " 1.0";
  row.message = harness::Message{.bytes = static_cast<double>(bytes), .traffic = Traffic::all_reduce};
  return row;
}

inline RunWithRows report_run(std::vector<harness::Row> rows) {
  RunWithRows one;
  one.run.id = 12;
  one.run.begun = "2026-11-24T03:00:00Z";
  one.run.bench = "all_reduce";
  one.run.command = "tutti compare --peer a,b";
  one.run.machine = "a processor; 2 cores; 1048576 kB; Linux 6";
  one.run.tutti = "0.1.0";
  one.run.is_complete = true;
  one.rows = std::move(rows);
  return one;
}

// a is twice as fast as b below 64 KB, and half as fast from there on.
inline std::vector<harness::Row> crossing_rows() {
  std::vector<harness::Row> rows;
  for (std::int64_t bytes = 1024; bytes <= 1048576; bytes *= 4) {
    rows.push_back(report_row("a", 2, bytes, bytes < 65536 ? 1000 : 4000));
    rows.push_back(report_row("b", 2, bytes, 2000));
  }
  return rows;
}

}  // namespace tutti::cli::test
