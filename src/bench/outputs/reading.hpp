// SPDX-License-Identifier: Apache-2.0
// What a program's output says, whatever its format: a reading for each row of its tables. Values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/axes/value.hpp"

namespace tutti::harness {

// One row that the program printed.
struct Reading {
  std::string benchmark = {};                              // which of several it is: "Allreduce"; empty if not said
  std::optional<std::int64_t> bytes = {};                  // as printed
  bool bytes_are_per_rank = false;                         // where another program would count those of all ranks
  std::vector<std::pair<std::string, Value>> values = {};  // what else tells rows apart: type, op, in_place
  int num_ranks = 0;                                       // 0: not said
  std::optional<double> nanos = {};                        // above zero; without it, `problem` says why
  std::map<std::string, double> counters = {};
  bool is_checked = false;   // the program has compared its results with what they should be
  std::string wrong = {};    // and what is wrong with them
  std::string problem = {};  // why there is no time
  std::string remark = {};   // what is to be known of the time
};

struct Output {
  std::string_view format;  // whose tables these are; empty where none was recognised
  std::string program;      // its name, as far as the output tells
  std::vector<Reading> readings;
  // Lines that stand where a row is due and are none: their number, and the first.
  std::size_t num_unread = 0;
  std::string first_unread;

  [[nodiscard]] bool is_recognised() const { return !format.empty(); }
  void note_unread(std::string_view line);
};

}  // namespace tutti::harness
