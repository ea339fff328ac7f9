// SPDX-License-Identifier: Apache-2.0
// Comparing: live, as `tutti compare` does and the bench `communicators` in its own way, or two runs of the store.
// Main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/bench/kept_run.hpp"
#include "cli/bench/output/fail_on.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

struct CompareOptions {
  SweepOptions sweep;
  OutputOptions output;
  Keeping keeping;
  std::string fail_on;
  std::string view = "pairs";
  std::string baseline;         // of --view best; empty: the first
  std::string by = {};          // pairs in short, for each value of this column
  std::string figure = {};      // a file; empty: none
  bool prefers_others = false;  // the first that is not Tutti instead, where there is one
};

// Refuses options that no comparison has.
[[nodiscard]] Status check_options(const CompareOptions& options);

// Shows it, says which evidence is missing, and returns the outcome.
[[nodiscard]] Exit conclude(const harness::Comparison& comparison, std::size_t baseline,
                            const std::optional<FailOn>& fail_on, const CompareOptions& options,
                            const Context& context);

[[nodiscard]] Exit compare_live(const CompareOptions& options, const BenchWorld& world, const Context& context);

// Compares two runs, by number or `last`. Cases are matched without the ignored variable or axis. By default that is
// the only one in which the runs differ.
[[nodiscard]] Exit compare_runs(const CompareOptions& options, const std::vector<std::string>& names,
                                const std::string& ignored, const Context& context);

}  // namespace tutti::cli
