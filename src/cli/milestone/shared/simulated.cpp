// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/shared/simulated.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/machine/simulate_cells.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"

namespace tutti::cli {

Result<simulate::Answer> simulate_all_reduce(const SimulatedWay& way, std::uint64_t bytes) {
  TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(way.fabric));
  CellOptions options;
  options.choice = {.algorithm = way.algorithm, .collective = "all_reduce"};
  options.parts = way.parts;
  options.filter.grid = way.grid;
  options.filter.corner = way.corner;
  options.bytes = std::to_string(bytes);
  options.type = way.type;
  std::set<std::string> skipped;
  TUTTI_TRY_ASSIGN(const std::vector<SimulatedCell> cells, cells_of(options, fabric, skipped));
  const SimulatedCell& cell = cells.front();
  return simulate::simulate(cell.schedule, fabric,
                            {.count = cell.count,
                             .element_size = size_of(*type_from_name(way.type)),
                             .staged = cell.staged,
                             .is_interrupted = Interrupt::has_come});
}

std::string with_memory(std::string_view machine, std::string_view memory) {
  return fmt::format("{},memory={},inner=packages:4x4x1", machine, memory);
}

SimulatedWay hierarchical(std::string fabric, bool from_corner) {
  return {.fabric = std::move(fabric),
          .algorithm = "centre",
          .grid = Grid{.width = 4, .height = 4},
          .corner = from_corner ? 1U : 0U};
}

Column time_column(std::string name) { return {.name = std::move(name), .digits = kTimeDigits}; }

}  // namespace tutti::cli
