// SPDX-License-Identifier: Apache-2.0
// All-reduces in virtual time, as `tutti simulate` does them, and the sizes and fabrics that several parts share. Pure;
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/patterns/grid.hpp"
#include "base/status.hpp"
#include "bench/views/table.hpp"
#include "simulate/simulate.hpp"

namespace tutti::cli {

struct SimulatedWay {
  std::string fabric;  // in a line
  std::string algorithm;
  std::optional<Grid> grid = {};
  std::optional<std::uint32_t> corner = {};
  std::uint32_t parts = 1;
  std::string type = "f16";
};
[[nodiscard]] Result<simulate::Answer> simulate_all_reduce(const SimulatedWay& way, std::uint64_t bytes);

// Elements of 2 bytes on a PE in the published sweep, and 16, which the sweep's simulator cannot do.
inline constexpr std::array<int, 13> kSweptElements = {8,    16,   32,   64,    128,   512,  1024,
                                                       2048, 4096, 8192, 16384, 32768, 49152};
inline constexpr int kElementBytes = 2;

// How packages are wired to each other.
struct Topology {
  std::string_view name;      // in tables: "torus_2d 2x3"
  std::string_view file;      // in names of files
  std::string_view packages;  // a fabric in which a rank is a package
  std::string_view machine;   // the accelerator's fabric: packages of 4x4 cubes
};
inline constexpr std::array<Topology, 3> kTopologies = {
    {{"ring_1d 6", "ring_1d", "ring_1d:6", "accelerator_ring"},
     {"torus_2d 2x3", "torus_2d", "torus_2d:2x3", "accelerator_torus"},
     {"mesh_2d_no_wrap 2x3", "mesh_2d_no_wrap", "mesh_2d_no_wrap:2x3", "accelerator_mesh"}}};

// The machine with one PE of each cube, as in the published sweeps, and its buffers in that memory.
[[nodiscard]] std::string with_memory(std::string_view machine, std::string_view memory);
// The hierarchical algorithm on it: from the corner of each package's grid, or from its centre.
[[nodiscard]] SimulatedWay hierarchical(std::string fabric, bool from_corner);

// Columns of times, and cells of them.
[[nodiscard]] Column time_column(std::string name);
[[nodiscard]] inline Cell whole_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace tutti::cli
