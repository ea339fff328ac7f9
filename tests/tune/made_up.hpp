// SPDX-License-Identifier: Apache-2.0
// Results made up for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tune/timings.hpp"

namespace tutti::tune {

using Times = std::vector<std::pair<std::string, double>>;

inline MachineCell machine_cell(const std::string& machine, std::uint32_t ranks, std::uint64_t bytes,
                                const Times& times) {
  MachineCell made{.machine = machine, .cell = {.key = {.ranks = ranks}, .bytes = bytes, .times = {}}};
  for (const auto& [name, us] : times)
    made.cell.times.push_back({.way = {.algorithm = name, .tuning = {}, .settings = {}}, .us = us});
  return made;
}

inline Timing timing_of(const std::string& machine, std::uint64_t bytes, const std::string& way, double us) {
  return {.machine = machine,
          .peer = {},
          .key = {},
          .bytes = bytes,
          .time = {.way = {.algorithm = way, .tuning = {}, .settings = {}}, .us = us}};
}

}  // namespace tutti::tune
