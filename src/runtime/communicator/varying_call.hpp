// SPDX-License-Identifier: Apache-2.0
// A call whose blocks differ in size, which is done in several steps, each a call by itself (communicator_varying.cpp).
// It needs nothing of the caller's but the buffers, and allocates nothing where it is used again. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "runtime/communicator/count_statement.hpp"
#include "runtime/plan/block_table.hpp"
#include "runtime/plan/bound_call.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// The algorithm's number in what ranks say of such a call before they have chosen one.
inline constexpr std::uint32_t kNotChosenYet = CallDescription::kMostAlgorithm;

// The count in what they say when their counts have turned out to differ.
inline constexpr std::uint64_t kFurtherStep = 1;

struct VaryingCall {
  enum class Step : std::uint8_t {
    stating,  // the ranks tell each other their statements
    telling,  // where those contradict each other: all counts
    moving,   // else what was asked for
  };

  Invocation asked;  // whose counts the table has
  const Operator* operation = nullptr;
  Schedule header;  // the collective's buffers, without steps
  BlockTable table;
  std::uint64_t about = 0;  // what the ranks say of it before an algorithm is chosen
  Status refusal;           // what this rank has against its arguments
  CountStatement statement;
  std::vector<CountStatement> statements;  // by rank
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> all_counts;

  Step step = Step::stating;
  BoundCall stating;
  BoundCall telling;
  BoundCall moving;
};

}  // namespace tutti
