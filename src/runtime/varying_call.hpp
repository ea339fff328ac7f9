// What a communicator keeps for calls whose blocks differ in size, so that they allocate nothing once they have been
// made: see communicator_varying.cpp. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/block_table.hpp"
#include "runtime/bound_call.hpp"
#include "runtime/count_statement.hpp"

namespace tutti {

// The algorithm's number in what ranks say of such a call before they have chosen one.
inline constexpr std::uint32_t kNotChosenYet = CallDescription::kMostAlgorithm;

// The count in what they say when their counts have turned out to differ.
inline constexpr std::uint64_t kFurtherStep = 1;

struct VaryingCall {
  BlockTable table;
  std::vector<CountStatement> statements;  // by rank
  BoundCall stating;                       // the exchange of statements
  BoundCall bound;
};

}  // namespace tutti
