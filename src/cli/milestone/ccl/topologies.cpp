// SPDX-License-Identifier: Apache-2.0
// Pictures of the fabrics that the other parts simulate (row C6), and what they are in numbers.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/machine/fabric_tables.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "fabric/files/load.hpp"
#include "report/fabric/fabric_svg.hpp"

namespace tutti::cli {

namespace {

struct Pictured {
  std::string_view fabric;
  std::string_view file;
  std::string_view of_parts;  // what uses it
};
constexpr std::array<Pictured, 5> kPictured = {
    {{"ring_1d:6", "ring_1d", {}},
     {"torus_2d:2x3", "torus_2d", {}},
     {"mesh_2d_no_wrap:2x3", "mesh_2d_no_wrap", {}},
     {"accelerator_torus,inner=packages:4x4x1", "accelerator_torus",
      "The fabric of the parts latency and comparison: packages of 4x4 cubes, one PE a cube, as a torus 2x3."},
     {"packages:4x4x8", "package",
      "A package of the accelerator with all its PEs, as the default fabric of the part correctness has six."}}};

// The plain fabrics have a rank in place of a package, and cables of their own.
std::string words_of(const Pictured& pictured) {
  const auto topology = std::find_if(kTopologies.begin(), kTopologies.end(),
                                     [&](const Topology& each) { return each.packages == pictured.fabric; });
  if (topology == kTopologies.end()) return std::string(pictured.of_parts);
  return fmt::format(
      "The fabric of the parts correctness and api. The part latency has {}: packages of 16 ranks in these places, and "
      "other cables between them, as in the picture topology_accelerator_torus.",
      topology->machine);
}

std::vector<Column> fabric_columns() {
  return {{"fabric"}, {"ranks"}, {"cores"}, {"nodes"}, {"switches"}, {"links"}, {"most_hops"}, {"most_latency_us"}};
}

// What the summary of `tutti fabric` has in these columns.
PartRow row_of(const Table& summary) {
  PartRow row;
  for (const Column& column : fabric_columns()) {
    const std::vector<Column>& all = summary.columns();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Column& each) { return each.name == column.name; });
    row.push_back(found == all.end() ? Cell() : summary.rows().front()[static_cast<std::size_t>(found - all.begin())]);
  }
  return row;
}

Result<std::vector<PartRow>> rows_of_fabric(std::string_view words) {
  TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(words));
  return std::vector<PartRow>{row_of(fabric_summary(fabric))};
}

Result<std::vector<PartCase>> topology_cases(const PartWorld&) {
  std::vector<PartCase> cases;
  for (const Pictured& each : kPictured)
    cases.push_back({.name = std::string(each.fabric), .make = [&each] { return rows_of_fabric(each.fabric); }});
  return cases;
}

Result<PartShown> show_topologies(const PartRows& rows) {
  PartShown shown;
  for (const CaseRows& one : rows.cases()) {
    const auto pictured =
        std::find_if(kPictured.begin(), kPictured.end(), [&](const Pictured& each) { return each.fabric == one.name; });
    if (pictured == kPictured.end() || one.rows.empty()) continue;
    TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(one.name));
    shown.figures.push_back({.file = fmt::format("topology_{}", pictured->file),
                             .title = fmt::format("The fabric {}", one.name),
                             .svg = report::fabric_to_svg(fabric, words_of(*pictured))});
  }
  shown.answer = {"Discs are ranks, squares are switches; colors tell what cables cost."};
  shown.tables.push_back({.file = "topologies", .table = {.title = "Fabrics", .table = rows.table()}});
  return shown;
}

}  // namespace

Part topologies_part() {
  return {.name = "topologies",
          .title = "Topologies",
          .about = "diagrams of the simulated fabrics",
          .columns = fabric_columns(),
          .cases = topology_cases,
          .show = show_topologies};
}

}  // namespace tutti::cli
