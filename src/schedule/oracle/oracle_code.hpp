// SPDX-License-Identifier: Apache-2.0
// Schedules turned into code that the oracle can run: for each lane of each rank, and for each rank's caller, one row
// of small operations over all rounds of all operations, each of which touches one element at most or waits for one
// count.
//
// What docs/design/schedule.md says of steps is said here once more, without meaning.hpp, world.hpp or numbers.cpp: a
// step is not one event but many, between which others may come, so a race shows as a wrong element. Which cells are
// touched does not depend on who is quicker, so all of it can be written down before anything runs. Immutable once
// made; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/oracle/oracle_memory.hpp"

namespace tutti::oracle {

// No lane, no step, no copy.
inline constexpr std::uint32_t kNone = UINT32_MAX;

// How a schedule is run. Depth is given to the run: no cell depends on it.
struct Setting {
  Fusion fusion = Fusion::none;
  bool in_place = false;
  bool staged = true;
  std::uint32_t slots = 0;  // staging slots of each rank
  Sizes sizes;
};

[[nodiscard]] std::string to_string(const Setting& setting);

enum class Act : std::uint8_t {
  wait,      // until counter `at` has reached `number`
  credit,    // until counter `at` is less than a connection's depth below `number`
  taken,     // at rendezvous only: wait
  load,      // fold the operands from `at` to `at` + `number` into the lane's register
  store,     // the register into cell `at`
  scribble,  // garbage into cell `at`, which has been given up
  bump,      // counter `at` counts one more
  check,     // the caller reads its results of operation `number`
  fill,      // the caller overwrites its buffers for operation `number`
  verify,    // the caller finds its buffers as it has filled them
};

struct Operation {
  Act act = Act::wait;
  bool finishes = false;   // load: the final touch
  bool switched = false;   // load: in an order of the switch's own
  bool is_shared = false;  // touches what another lane may be touching as well: the order of the two matters
  std::uint32_t at = 0;
  std::uint32_t number = 0;
};

inline constexpr std::uint32_t kUnscaled = UINT32_MAX;
struct Operand {
  std::uint32_t cell = 0;
  std::uint32_t owner = kUnscaled;  // the rank whose input it is
};

// A row of operations; lanes of all ranks, rank by rank, then the callers.
struct Row {
  std::vector<Operation> operations;
  std::vector<std::uint32_t> steps;  // lanes: the index in the program of the step that each operation belongs to
  std::uint32_t rank = 0;
};

struct Code {
  std::string malformed;  // why there is none; empty where there is
  std::vector<Row> rows;
  std::vector<Operand> operands;
  std::vector<Program> programs;
  std::uint32_t num_lanes = 0;      // of each rank
  std::uint32_t num_cells = 0;      // of memory, with slots, and with messages from
  std::uint32_t first_message = 0;  // here on, each with cells of its own
  std::uint32_t num_counters = 0;   // of which the first are, row by row, how many steps lanes have passed, and then
  std::uint32_t first_begun = 0;    // how many operations each rank has begun
  bool is_barrier = false;
  bool compares_bits = false;     // several ranks have the same fold
  std::uint32_t num_results = 0;  // of an operation, where they do
  // By rank, by operation.
  std::vector<std::vector<std::vector<Filled>>> filled;
  std::vector<std::vector<std::vector<Filled>>> untouched;
  std::vector<std::vector<std::vector<Wanted>>> wanted;
};

// Sets Operation::is_shared; compile() does.
void mark_shared(Code& code);

[[nodiscard]] Code compile(const Schedule& schedule, const Setting& setting, std::uint64_t seed);

}  // namespace tutti::oracle
