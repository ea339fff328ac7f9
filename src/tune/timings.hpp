// SPDX-License-Identifier: Apache-2.0
// From results, one time each, to cells: the times of one case and size side by side, machine by machine. Pure;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/decision_table.hpp"
#include "tune/cells.hpp"
#include "tune/make_sections.hpp"

namespace tutti::tune {

// A result.
struct Timing {
  std::string machine;  // as the results call it; empty: they are all of one
  std::string peer;     // whose way it is; empty: it is not said
  CaseKey key;
  std::uint64_t bytes = 0;
  WayTime time;
};

struct MachineCell {
  std::string machine;
  Cell cell;
};

// By machine, case and size. Of several times of one way in one cell the middle one counts, of an even number the
// shorter of the two in the middle; `repeated` says how many others there were.
[[nodiscard]] std::vector<MachineCell> cells_of(std::span<const Timing> timings, std::size_t& repeated);

// A table for each machine, in the order of the cells; without evidence of when and where they were measured, which the
// caller knows. `machine` is the cells' name for it, and any machine may obey it. Of tutti's own peer, ways with
// settings are left out: tables cannot ask for them.
[[nodiscard]] std::vector<DecisionTable> tables_of(std::span<const MachineCell> cells, std::string_view peer,
                                                   const MergeOptions& options);

}  // namespace tutti::tune
