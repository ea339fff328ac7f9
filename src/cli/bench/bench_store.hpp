// SPDX-License-Identifier: Apache-2.0
// Where the commands about benchmarks keep results, and what they note of a run. Main thread only, but
// for living_owner(), which is thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/variables/environment.hpp"
#include "bench/store/store.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

// What --store says; else $XDG_DATA_HOME/tutti/results.db, or ~/.local/share/tutti/results.db. To write, its folders
// are made; to read, it is an error where whether it exists cannot be told.
[[nodiscard]] Result<std::string> store_path(const std::string& option, const Environment& environment);
[[nodiscard]] Result<std::string> store_path_to_read(const std::string& option, const Environment& environment);

// The run of this plan as it begins.
[[nodiscard]] harness::StoredRun run_of(const SweepPlan& plan, const Context& context);
// A run that begins now: of what, and what identifies its sweep.
[[nodiscard]] harness::StoredRun new_run(std::string bench, std::string sweep, const Context& context);

// The time of day as runs and tables have it: "2026-01-01T00:00:00Z".
[[nodiscard]] std::string now_in_words();

// The process that is writing the run, where it lives.
[[nodiscard]] std::optional<std::string> living_owner(const harness::StoredRun& run);

}  // namespace tutti::cli
