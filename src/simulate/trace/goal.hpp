// SPDX-License-Identifier: Apache-2.0
// GOAL, the language in which LogGOPSim and its like have what every rank of a program sends, receives and computes.
// docs/formats/goal.md has the form. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "schedule/schedule.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::simulate {

// What a text may hold at most; what is written keeps to it.
namespace goal_text {
inline constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20U;
inline constexpr std::uint32_t kMostRanks = 1U << 16U;
inline constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t kMostDependencies = std::uint64_t{1} << 24U;
inline constexpr std::size_t kMostOfALabel = 256;
}  // namespace goal_text

struct GoalOptions {
  std::uint64_t count = 0;  // elements of a block
  std::uint64_t element_size = 1;
  // Its memories and cores say how long folds and copies take; null: they take no time. Borrowed.
  const fabric::Fabric* fabric = nullptr;
};

// The messages of a schedule, in one round, its neighbouring steps fused as the runtime and the simulator do.
// Code::unsupported where it has steps that are no messages, or too many.
[[nodiscard]] Result<std::string> write_goal(const Schedule& schedule, const GoalOptions& options);

// The error is "file:line:column: found X, expected Y". Whether receives find their messages is for match() to say.
[[nodiscard]] Result<Trace> read_goal(std::string_view text, std::string_view file);

// Whether a text begins as GOAL does: with num_ranks or rank, behind blanks and comments.
[[nodiscard]] bool looks_like_goal(std::string_view text);

}  // namespace tutti::simulate
