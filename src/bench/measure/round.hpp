// SPDX-License-Identifier: Apache-2.0
// A round: iterations that all ranks of a group do in a row, and what becomes of their times. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/process/connection.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

struct Round {
  std::vector<double> samples;  // nanoseconds of the iterations that all ranks began in time
  std::uint64_t invalid = 0;    // the others
  // Nanoseconds that an iteration took about, late ones too, with what ranks waited for before it: a barrier that spins
  // where ranks share cores takes a thousand times as long as a small call. Without waiting for an agreed instant.
  double around = 0;

  [[nodiscard]] bool is_mostly_late() const { return invalid > samples.size(); }
};

// Of the ranks' answers to an order of so many iterations: over ranks first. Throws where they are malformed.
[[nodiscard]] Round round_of(const std::vector<Json>& answers, std::size_t iterations, Sync sync);

}  // namespace tutti::harness
