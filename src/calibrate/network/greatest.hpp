// SPDX-License-Identifier: Apache-2.0
// What ranks that measure a network tell each other.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::calibrate {

// The greatest of each of these numbers on all ranks, which all call it with as many.
[[nodiscard]] inline Result<std::vector<double>> greatest_of(const std::vector<double>& mine,
                                                             Communicator& communicator) {
  std::vector<double> all(mine.size());
  TUTTI_TRY(communicator.run({.collective = Collective::all_reduce,
                              .input = mine.data(),
                              .output = all.data(),
                              .count = mine.size(),
                              .type = Type::f64,
                              .op = {static_cast<std::uint32_t>(Op::maximum)}}));
  return all;
}

}  // namespace tutti::calibrate
