// SPDX-License-Identifier: Apache-2.0
// A recorded program as what is tuned, and what tuning is worth to it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/tune/tune_request.hpp"
#include "cli/tune/tune_score.hpp"

namespace tutti::cli {

struct WorkloadCases {
  std::vector<TuneCase> cases;
  std::map<TypeClass, Type> types;  // of each class the one in which the program spends most
  std::vector<std::string> notes;   // what is left out, and why: a sentence each
};

// What the program calls: of each collective, number of ranks and class of types all its sizes, but at most as many as
// time is spent on. Shares go by the time that the program spends; without times, by its calls.
[[nodiscard]] WorkloadCases cases_of(const Workload& workload, TableMemory memory, std::uint32_t most_ranks);

// "the collectives of the program take 12.3 s before and 9.8 s after, 1.26 times as fast; ...".
[[nodiscard]] std::string gain_of(const Workload& workload, std::span<const Scored> scored);

}  // namespace tutti::cli
