// SPDX-License-Identifier: Apache-2.0
// A number of ranks for which a machine has no times: the simulator's predictions of them as cells, for a table. Pure;
// thread-safe.
#pragma once

#include <span>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/blind.hpp"
#include "tune/timings.hpp"

namespace tutti::cli {

// Of what blind.hpp has predicted of the references; of each way that they have names for (names_of()).
[[nodiscard]] std::vector<tune::MachineCell> predicted_cells(const simulate::References& references,
                                                             std::span<const simulate::BlindTime> times,
                                                             simulate::Predictor predictor);

}  // namespace tutti::cli
