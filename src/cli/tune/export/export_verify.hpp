// SPDX-License-Identifier: Apache-2.0
// `tutti export --verify`: the library with the exported file against itself without, in turns. Starts processes; main
// thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/measure/statistics.hpp"
#include "bench/views/table.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/command.hpp"
#include "table/decision_table.hpp"
#include "tune/export/rules.hpp"

namespace tutti::cli {

struct VerifyOptions {
  std::string peer;
  std::string budget = "1s";
  std::string launches = "8";
};

// One size of a section.
struct VerifiedSize {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 0;
  std::string way;
  double own_us = 0;       // medians: of the library's own choice
  double exported_us = 0;  // with the file
  harness::Ratio ratio;    // above 1, the file is faster
};

// All sizes with evidence in the table; without any, the ends of ranges. Nothing is measured where the library would
// choose for itself. An error where the library cannot be measured, or did not take the file.
[[nodiscard]] Result<std::vector<VerifiedSize>> verify(const tune::Exported& exported, const DecisionTable& table,
                                                       const VerifyOptions& options, const BenchWorld& world,
                                                       const Context& context);

// Measures again those of `sizes` that were slower. The file now leaves them to the library.
[[nodiscard]] Result<std::vector<VerifiedSize>> verify_again(const tune::Exported& exported,
                                                             const std::vector<VerifiedSize>& sizes,
                                                             const VerifyOptions& options, const BenchWorld& world,
                                                             const Context& context);

[[nodiscard]] Table table_of(const std::vector<VerifiedSize>& sizes);

// A line for each size that is slower with the file although no rule is for it: to have a file costs the library time.
[[nodiscard]] std::vector<std::string> costs_of_file(const std::vector<VerifiedSize>& sizes);

// Makes each range with a slower size the library's own choice; says which, a line each.
[[nodiscard]] std::vector<std::string> drop_slower(const std::vector<VerifiedSize>& sizes, tune::Rules& rules);

}  // namespace tutti::cli
