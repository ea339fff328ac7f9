// SPDX-License-Identifier: Apache-2.0
// The oracle: says of a schedule, by running it, whether it does what is claimed of it. It shares nothing with prove
// but the question: it has its own interpreter of steps, its own words for what collectives are, and numbers instead of
// expressions. What it does not find in the interleavings that it tries may still be wrong; what it finds is.
//
// Every run has several rounds and a following operation, memory that is poisoned, callers that overwrite their buffers
// in between, first touches that scale and final touches that divide. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/oracle/oracle_run.hpp"
#include "schedule/schedule.hpp"

namespace tutti::oracle {

// What is claimed of a schedule; of Proof's fields those that say how it may be run.
struct Claims {
  OrderClass order = OrderClass::free;
  std::uint32_t depth = 1;        // as written, and
  std::uint32_t depth_fused = 1;  // fused
  std::uint32_t slots = 0;
  bool name_safe_out_of_place = false;
  bool name_safe_in_place = false;
};

struct Effort {
  std::uint32_t interleavings = 100;  // of each way to run it, at the least depth; a quarter more at greater ones
  std::uint32_t most_states = 0;      // of each way, in search of all interleavings; 0 where none is made
  std::uint64_t seed = 0;
  bool tells = true;
};

struct Findings {
  std::optional<Trouble> trouble;
  std::uint32_t runs = 0;
  std::uint32_t ways = 0;           // written or fused, in place or not, staged or by name
  std::uint32_t ways_explored = 0;  // of which all interleavings have been seen
};

// Runs it in every way that is claimed to be right, with the least depth and slots claimed and with more.
[[nodiscard]] Findings examine(const Schedule& schedule, const Claims& claims, const Effort& effort);

}  // namespace tutti::oracle
