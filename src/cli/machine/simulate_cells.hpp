// SPDX-License-Identifier: Apache-2.0
// What `tutti simulate` is asked for: a row for each algorithm and size. Values; thread-safe.
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
  std::vector<std::string> files;  // of schedules, in place of algorithms
};

// One row.
struct SimulatedCell {
  std::string algorithm;  // without its parameters; of a file none
  bool staged = false;    // others read copies of what is exposed
  Schedule schedule;
  std::uint64_t bytes = 0;                 // as asked
  std::uint64_t count = 0;                 // elements of a block
  std::vector<std::uint64_t> counts = {};  // of each class of blocks, where they differ
  double moved = 0;                        // bytes of the whole elements, of which the rates are
};

// Algorithms without a grid and sizes that hold no element are left out, and `skipped` says which.
[[nodiscard]] Result<std::vector<SimulatedCell>> cells_of(const CellOptions& options, const fabric::Fabric& fabric,
                                                          std::set<std::string>& skipped);

}  // namespace tutti::cli
