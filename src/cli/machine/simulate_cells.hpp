// SPDX-License-Identifier: Apache-2.0
// What `tutti simulate` is asked for, a row for each algorithm and size, and its answer. Values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/cases.hpp"
#include "base/status.hpp"
#include "cli/schedule/choice.hpp"
#include "fabric/fabric.hpp"
#include "schedule/schedule.hpp"
#include "simulate/copies.hpp"
#include "simulate/references/correction.hpp"
#include "simulate/simulate.hpp"
#include "workload/workload.hpp"

namespace tutti::cli {

struct CellOptions {
  ChoiceOptions choice;
  std::optional<std::uint32_t> ranks;
  std::uint32_t parts = 1;
  CaseFilter filter;
  std::string bytes = "8:64M:x4";
  std::string type = "f32";
  std::vector<std::uint32_t> weights;
  bool by_name = false;
  simulate::OwnCopies copies;
  std::vector<std::string> implementations;  // of the fabric; `all`: all that do the collective
  std::vector<std::string> files;            // of schedules, in place of algorithms
  std::vector<Schedule> schedules;           // what these hold
};

// One row.
struct SimulatedCell {
  std::string implementation = {};  // whose way it is, if of one
  fabric::Way way = {};             // its algorithm without parameters; of a file none
  bool staged = false;              // others read copies of what is exposed
  Schedule schedule;
  std::uint64_t bytes = 0;                 // as asked
  std::uint64_t count = 0;                 // elements of a block
  std::vector<std::uint64_t> counts = {};  // of each class of blocks, where they differ
  double moved = 0;                        // bytes of the whole elements, of which the rates are

  [[nodiscard]] const std::string& name() const { return implementation.empty() ? schedule.name : implementation; }
};

// Where implementations are asked for, a cell for each of their ways, and algorithms only if these are asked for, too.
// Algorithms without a grid and sizes that hold no element are left out, and `skipped` says which.
[[nodiscard]] Result<std::vector<SimulatedCell>> cells_of(const CellOptions& options, const fabric::Fabric& fabric,
                                                          std::set<std::string>& skipped);
// The one whose algorithm an entry of a workload names, with its parameters; ranks and type are those of the options.
[[nodiscard]] Result<std::vector<SimulatedCell>> cell_by_name(const CellOptions& options, const WorkloadEntry& entry,
                                                              const fabric::Fabric& fabric);

struct Simulated {
  std::string fabric;  // as asked for
  SimulatedCell cell;
  simulate::Answer answer;
  std::optional<simulate::Correction> correction;

  // What is expected, in nanoseconds.
  [[nodiscard]] double time() const { return answer.time * (correction ? correction->factor : 1); }
};

// With its links and ranks' times. `asked` is the fabric's name as it was asked for.
[[nodiscard]] Result<Simulated> simulate_cell(const CellOptions& options, const std::string& asked,
                                              const SimulatedCell& cell, const fabric::Fabric& fabric,
                                              simulate::Recorder* recorder,
                                              const std::optional<simulate::Corrections>& corrections);

}  // namespace tutti::cli
