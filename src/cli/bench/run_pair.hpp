// SPDX-License-Identifier: Apache-2.0
// Runs of the store with their rows, and two of them side by side. Values; one thread at a time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"
#include "bench/store/store.hpp"
#include "cli/bench/bench_world.hpp"

namespace tutti::cli {

struct RunWithRows {
  harness::StoredRun run;
  std::vector<harness::Row> rows;

  [[nodiscard]] std::string name() const;  // its own, or "run 12"
};
using RunPair = std::array<RunWithRows, 2>;

// By number, by name, or "last".
[[nodiscard]] Result<RunWithRows> read_run(harness::Store& store, const std::string& name);

// What is to be known of them besides their rows: sentences without a full stop.
[[nodiscard]] std::vector<std::string> remarks_on(const RunPair& pair);

// Makes the rows match over what is ignored, or over the only variable or axis in which they differ, and says what
// differs.
[[nodiscard]] Result<std::vector<std::string>> match(RunPair& pair, const std::string& ignored);

[[nodiscard]] harness::Comparison comparison_of(const RunPair& pair);

// As in a live comparison: what stands in the column `algorithm` is who competes, but where the bench has an axis of
// that name.
[[nodiscard]] bool is_by_algorithm(const std::string& bench, const BenchWorld& world);
// Of whoever competes in one run.
[[nodiscard]] harness::Comparison comparison_of(const RunWithRows& run, const BenchWorld& world);

}  // namespace tutti::cli
