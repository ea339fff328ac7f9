// SPDX-License-Identifier: Apache-2.0
// A tuning from its first race to the file: search, numbers of the profile, score, table. Main thread only.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/tune/tune_request.hpp"
#include "table/decision_table.hpp"

namespace tutti::cli {

// What is in force before: a table that was found, and the profile beneath.
struct Before {
  std::shared_ptr<const DecisionTable> table = nullptr;
  std::string profile = {};  // that ships; empty: a file
};

[[nodiscard]] Exit run_tuning(const TuneRequest& request, const TuneOptions& options, const Before& before,
                              const BenchWorld& world, const OutputOptions& output, const Context& context);

// "all_reduce, 2 ranks, ordinary memory".
[[nodiscard]] std::string words_of(const tune::CaseKey& key);

}  // namespace tutti::cli
