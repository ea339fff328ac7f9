// SPDX-License-Identifier: Apache-2.0
// The rows of all generators, with the costs that links have where nothing is said.
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

// Where nothing is said, links are as a port of InfiniBand NDR, which carries 400 Gb/s each way, and two of them with a
// switch between take a microsecond, which is what two nodes measure. (Inside machines: see the rows.)
constexpr double kPort = 50;
constexpr double kPortLatency = 500;

constexpr auto kCables = std::to_array<LinkClass>({{"", "between neighbours", kPort, kPortLatency}});
constexpr auto kSpokes = std::to_array<LinkClass>({{"", "between nodes and the switch", kPort, kPortLatency}});
constexpr auto kMulticast =
    std::to_array<Setting>({{"multicast", "the switch copies to many and folds what comes from many", true}});
constexpr auto kTreeLinks = std::to_array<LinkClass>(
    {{"", "between nodes and leaves", kPort, kPortLatency}, {"up_", "between switches", kPort, kPortLatency}});
constexpr auto kTreeSettings =
    std::to_array<Setting>({{"uplinks", "of a leaf; as many as it has nodes where nothing is said", false}});
constexpr auto kDragonflyLinks =
    std::to_array<LinkClass>({{"", "between nodes and routers", kPort, kPortLatency},
                              {"local_", "between routers of a group", kPort, kPortLatency},
                              {"global_", "between groups", kPort, kPortLatency}});
// NVLink 4 carries 450 GB/s each way (NVIDIA H100 data sheet: 900 GB/s both); the latency is assumed.
constexpr auto kRailLinks = std::to_array<LinkClass>({{"", "between GPUs and the switch of their node", 450, 250},
                                                      {"network_", "between GPUs and rails", kPort, kPortLatency}});
constexpr auto kRailSettings =
    std::to_array<Setting>({{"multicast", "the switches of nodes copy to many and fold what comes from many", true}});
// A UCIe port takes 8 ns, and a link between two cubes has one at each end; what it carries is fitted to times on
// accelerator_torus (data/references/accelerator.toml), and the rest is assumed.
constexpr auto kPackageLinks = std::to_array<LinkClass>({{"", "between PEs and their cube", 512, 2},
                                                         {"cube_", "between cubes", 85, 16},
                                                         {"io_", "between cubes and io", 128, 16}});
// A core copies about 10 GB/s, and a line comes from another core in about 100 ns, by memory and back.
constexpr auto kHostLinks = std::to_array<LinkClass>({{"", "between cores and their memory", 10, 50}});
constexpr auto kGenerators = std::to_array<Generator>({
    {"ring_1d", "ring", "N", "ring_1d:6", "a ring", 1, 1, false, kCables, {}, make_torus},
    {"torus_2d",
     "torus",
     "WxH",
     "torus_2d:2x3",
     "a grid that is closed both ways",
     2,
     2,
     true,
     kCables,
     {},
     make_torus},
    {"torus_3d", "", "WxHxD", "torus_3d:4x4x4", "the same in three dimensions", 3, 3, true, kCables, {}, make_torus},
    {"mesh_2d", "mesh_2d_no_wrap", "WxH", "mesh_2d:2x3", "a grid with borders", 2, 2, true, kCables, {}, make_mesh},
    {"switch", "", "N", "switch:8,multicast", "one switch", 1, 1, false, kSpokes, kMulticast, make_switch},
    {"fat_tree", "", "[PODSx]LEAVESxNODES", "fat_tree:4x8,uplinks=4",
     "leaves with nodes, and spines; or pods of leaves and aggregation switches, and cores", 2, 3, false, kTreeLinks,
     kTreeSettings, make_fat_tree},
    {"dragonfly",
     "",
     "GROUPSxROUTERSxNODES",
     "dragonfly:9x4x2",
     "groups of routers that are all linked, and so are they",
     3,
     3,
     false,
     kDragonflyLinks,
     {},
     make_dragonfly},
    {"rail", "", "NODESxGPUS", "rail:8x8", "nodes of GPUs with a switch each, and a rail for each GPU of a node", 2, 2,
     false, kRailLinks, kRailSettings, make_rail},
    {"packages",
     "package",
     "WxHxPES",
     "packages:4x4x8",
     "a package: a grid of cubes, each with processing elements",
     3,
     3,
     false,
     kPackageLinks,
     {},
     make_packages},
    {"host",
     "",
     "RANKSxCORES",
     "host:4x2",
     "ranks that take turns on the cores of one machine with shared memory",
     2,
     2,
     false,
     kHostLinks,
     {},
     make_host},
});

}  // namespace

std::span<const Generator> generators() { return kGenerators; }

const Generator* find_generator(std::string_view name) {
  for (const Generator& generator : kGenerators)
    if (same_name(generator.name, name) || (!generator.alias.empty() && same_name(generator.alias, name)))
      return &generator;
  return nullptr;
}

Status check(const Extent& extent) {
  struct Limit {
    std::uint64_t number;
    std::uint64_t most;
    std::string_view noun;
  };
  for (const auto& [number, most, noun] : std::to_array<Limit>({{extent.ranks, kMostRanks, "ranks"},
                                                                {extent.ports, kMostPorts, "ports on one node"},
                                                                {extent.nodes, kMostNodes, "nodes"},
                                                                {extent.links, kMostLinks, "links"}}))
    if (number > most)
      return {Code::invalid_argument, fmt::format("{} {} are more than the {} that there may be", number, noun, most)};
  return {};
}

}  // namespace tutti::fabric
