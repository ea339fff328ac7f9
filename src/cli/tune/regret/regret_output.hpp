// SPDX-License-Identifier: Apache-2.0
// What `tutti regret` says: rules side by side, cell by cell and in sum. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/views/table.hpp"
#include "tune/regret.hpp"

namespace tutti::cli {

// A rule, and what it takes in each cell.
struct Contestant {
  std::string name;
  std::vector<tune::Taken> taken;
};

// A row for each contestant and cell. `left_out`: with what each cell is left out; empty where nothing is.
[[nodiscard]] Table table_of_regrets(std::span<const tune::MachineCell> cells, std::span<const Contestant> contestants,
                                     std::span<const std::string> left_out);

// A row for each contestant.
[[nodiscard]] Table summary_of_regrets(std::span<const tune::MachineCell> cells,
                                       std::span<const Contestant> contestants);

// "vllm: 3 of 40 cells are not judged: 3 take a way that has no time there (ring)"; empty where all are.
[[nodiscard]] std::string lacks_of(const Contestant& contestant);

// "H100, 6 ranks, 512K".
[[nodiscard]] std::string place_of(const tune::MachineCell& cell);

}  // namespace tutti::cli
