// SPDX-License-Identifier: Apache-2.0
// How good tables are where nothing was measured: a table is made without some cells, and judged in these. Pure;
// thread-safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tune/regret.hpp"

namespace tutti::tune {

// Every other size of each machine and case is left out, first those in even places and then the others, so that each
// cell is judged once, by a table of the sizes around it. In the order of the cells. Lack::section: it is the only
// size.
[[nodiscard]] std::vector<Taken> without_sizes(std::span<const MachineCell> cells, const MergeOptions& options);
// In which of the two folds each cell is left out: 0 or 1.
[[nodiscard]] std::vector<std::size_t> folds_of_sizes(std::span<const MachineCell> cells);

// Each number of ranks of a machine is left out in turn; the table of the others that is nearest answers for it.
// Lack::section: the machine has no other.
[[nodiscard]] std::vector<Taken> without_ranks(std::span<const MachineCell> cells, const MergeOptions& options);

// By a table of predicted times, judged by the measured ones of the same machine, case and size. Lack::section: nothing
// is predicted for it.
[[nodiscard]] std::vector<Taken> by_predictions(std::span<const MachineCell> cells,
                                                std::span<const MachineCell> predicted, const MergeOptions& options);

}  // namespace tutti::tune
