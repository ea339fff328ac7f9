// SPDX-License-Identifier: Apache-2.0
// Runs of the simulator whose answer is held to what all answers are.
#pragma once

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulate {

inline Schedule schedule_of(Collective collective, std::string_view name, std::uint32_t num_ranks) {
  return find_algorithm(collective, name)->make({.collective = collective, .num_ranks = num_ranks});
}

// Where the time goes adds up to it.
inline Answer run(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
  const Result<Answer> answer = simulate(schedule, fabric, options);
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  if (!answer.ok()) return {};
  EXPECT_NEAR(answer->shares.total(), answer->time, answer->time * 1e-9);
  return *answer;
}

}  // namespace tutti::simulate
