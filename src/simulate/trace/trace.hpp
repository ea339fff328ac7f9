// SPDX-License-Identifier: Apache-2.0
// What every rank of a program sends, receives and computes, and in which order: what GOAL says. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::simulate {

enum class Action : std::uint8_t { send, receive, compute };

inline constexpr std::uint32_t kAnyTag = UINT32_MAX;

struct TraceOperation {
  Action action = Action::compute;
  std::uint8_t cpu = 0;
  std::uint32_t peer = 0;    // to whom, or from whom
  std::uint32_t tag = 0;     // a receive may take any
  std::uint64_t amount = 0;  // bytes, or nanoseconds of computing
  std::uint32_t line = 0;
  std::string label;  // may be empty
};

// Operations of one rank, by number.
struct Dependency {
  std::uint32_t operation = 0;
  std::uint32_t on = 0;
  bool when_begun = false;  // it need not have ended
};

struct RankTrace {
  std::vector<TraceOperation> operations;  // in the order of the file
  std::vector<Dependency> dependencies;
};

struct Trace {
  std::string file;  // for messages
  std::vector<RankTrace> ranks;

  [[nodiscard]] std::uint32_t num_ranks() const { return static_cast<std::uint32_t>(ranks.size()); }
  [[nodiscard]] std::uint64_t num_operations() const {
    std::uint64_t count = 0;
    for (const RankTrace& rank : ranks) count += rank.operations.size();
    return count;
  }
};

// "l2: recv 8b from 1 tag 0": as the file has it.
[[nodiscard]] std::string in_goal(const TraceOperation& operation);

}  // namespace tutti::simulate
