// SPDX-License-Identifier: Apache-2.0
// What the steps of a trace have beside those of schedules: bytes of their own, time to compute, others that must have
// begun, and several cores a rank. Plain values; read-only while a simulation runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schedule/step.hpp"

namespace tutti::simulate {

struct Additions {
  struct OfStep {
    std::uint64_t bytes = 0;
    double compute = 0;  // nanoseconds that the core is busy with it
  };
  std::vector<OfStep> steps;       // lane by lane, rank by rank
  std::vector<std::size_t> first;  // of each lane, among them
  // By the same number: steps of the rank that must have begun, and need not be over.
  std::unordered_map<std::size_t, std::vector<After>> begun;
  // Of each lane: 0 is the core that the fabric gives the rank, others are further ones.
  std::vector<std::uint32_t> cores;
  std::uint32_t num_cores = 0;  // further ones

  [[nodiscard]] std::size_t number_of(std::size_t lane, const Step& step) const { return first[lane] + step.number; }
};

}  // namespace tutti::simulate
