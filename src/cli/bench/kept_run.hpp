// SPDX-License-Identifier: Apache-2.0
// A run of the store that a command starts or continues, and the options that select it. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/store/store.hpp"
#include "cli/bench/run_label.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

// A run and the rows that it has. Without a store it keeps them in memory only.
struct KeptRun {
  std::optional<harness::Store> store;
  std::string path;
  std::int64_t run = 0;
  bool is_complete = false;    // it was when it was found: nothing is left to do
  std::set<std::string> done;  // the keys of rows that were there before
  std::vector<harness::Row> rows;

  // The first is an error where the run has such a row; the second deletes what the run has of the same cases, groups
  // and launches, since a program may print other rows the next time.
  [[nodiscard]] Status add(std::span<const harness::Row> rows_of_case);
  [[nodiscard]] Status replace(std::span<const harness::Row> rows_of_case, const SweepPlan& plan);
};

// How a sweep is kept.
struct Keeping {
  std::string store;  // the file; empty: the usual one
  bool no_store = false;
  bool resume = false;
  RunLabel label;  // of a run that begins
};
// --store, --no-store, --resume, --run-name and --note. The options must live as long as the application.
void add_keeping_options(CLI::App& app, Keeping& keeping);

// Starts the run in the store; or finds the last run of the same sweep, continues it, and measures again, as a whole,
// each case that has an error. An error if another process is running that one, or if the store that was named cannot
// be used; where the usual one cannot, a warning says so, and nothing is kept.
[[nodiscard]] Result<KeptRun> keep_run(const Keeping& keeping, const harness::StoredRun& run, const SweepPlan& plan,
                                       const Context& context);

// What the store knows of it; where nothing is kept, the run as it was begun.
[[nodiscard]] harness::StoredRun description_of(KeptRun& kept, const harness::StoredRun& begun);

// Cases of the plan of which the run has rows, launches counted apart.
[[nodiscard]] std::size_t num_done(const SweepPlan& plan, const KeptRun& kept);
// "3 groups, 42 cases, about 2 min; 12 of them are done already".
[[nodiscard]] std::string announcement_of(const SweepPlan& plan, const KeptRun& kept);

}  // namespace tutti::cli
