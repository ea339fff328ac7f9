// SPDX-License-Identifier: Apache-2.0
// Generators: how many nodes and links there are, how many links a node has, and how long routes are, against closed
// forms; what sizes mean; and what is said of wrong ones.
#include "fabric/generators/generate.hpp"

#include <set>

#include <gtest/gtest.h>

#include "fabric/routes.hpp"

namespace tutti::fabric {
namespace {

std::string refusal_of(std::string_view text) {
  const Result<Fabric> fabric = generate(text);
  return fabric.ok() ? "" : fabric.status().to_string();
}

struct Shape {
  int ranks;
  int nodes;
  int links;
  int diameter;  // the most links between two ranks
  int total;     // of all pairs of ranks

  friend bool operator==(const Shape&, const Shape&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.ranks << " ranks, " << shape.nodes << " nodes, " << shape.links << " links, diameter "
               << shape.diameter << ", total " << shape.total;
  }
};

Shape shape_of(std::string_view text) {
  const Result<Fabric> fabric = generate(text);
  if (!fabric.ok()) {
    ADD_FAILURE() << fabric.status().to_string();
    return {};
  }
  Shape shape{static_cast<int>(fabric->num_ranks()), static_cast<int>(fabric->nodes.size()),
              static_cast<int>(fabric->links.size()), 0, 0};
  Routes routes(*fabric);
  for (const RankPlacement& from : fabric->ranks)
    for (const RankPlacement& to : fabric->ranks) {
      const auto length = static_cast<int>(routes.between(from.node, to.node).size());
      shape.diameter = std::max(shape.diameter, length);
      shape.total += length;
    }
  return shape;
}

TEST(Generate, CountsAndRoutesAreThoseOfClosedForms) {
  // A ring of n: n * sum over the distances to the others.
  EXPECT_EQ(shape_of("ring_1d:6"), (Shape{6, 6, 12, 3, 6 * (1 + 2 + 3 + 2 + 1)}));
  EXPECT_EQ(shape_of("ring_1d:5"), (Shape{5, 5, 10, 2, 5 * (1 + 2 + 2 + 1)}));
  EXPECT_EQ(shape_of("ring_1d:2"), (Shape{2, 2, 2, 1, 2}));
  EXPECT_EQ(shape_of("ring_1d:1"), (Shape{1, 1, 0, 0, 0}));
  // Of a torus: along each dimension by itself. Its 2 columns have one cable between them, not two.
  EXPECT_EQ(shape_of("torus_2d:2x3"), (Shape{6, 6, 6 + 12, 2, 6 * (3 * 1 + 2 * 2)}));
  EXPECT_EQ(shape_of("torus_2d:5x4"), (Shape{20, 20, 80, 4, 20 * (4 * 6 + 5 * 4)}));
  EXPECT_EQ(shape_of("torus_3d:4x4x4"), (Shape{64, 64, 64 * 6, 6, 64 * 3 * 16 * 4}));
  EXPECT_EQ(shape_of("torus_3d:3x2x1"), (Shape{6, 6, 12 + 6, 2, 6 * (2 * 2 + 3 * 1)}));
  // Of a mesh: the sum of |a - b| over pairs of n is n (n^2 - 1) / 3.
  EXPECT_EQ(shape_of("mesh_2d:2x3"), (Shape{6, 6, 14, 3, 9 * 2 + 4 * 8}));
  EXPECT_EQ(shape_of("mesh_2d_no_wrap:4x5"), (Shape{20, 20, 2 * (3 * 5 + 4 * 4), 7, 25 * 20 + 16 * 40}));
  EXPECT_EQ(shape_of("switch:8"), (Shape{8, 9, 16, 2, 8 * 7 * 2}));
  // 4 leaves with 3 ranks and 2 spines: 2 links within a leaf, 4 between leaves.
  EXPECT_EQ(shape_of("fat_tree:4x3,uplinks=2"), (Shape{12, 12 + 4 + 2, 2 * (12 + 8), 4, 12 * (2 * 2 + 9 * 4)}));
  // Of Al-Fares with 4 ports: 16 ranks, 8 leaves, 8 aggregation switches, 4 cores.
  EXPECT_EQ(shape_of("fat_tree:4x2x2"), (Shape{16, 36, 2 * (16 + 16 + 16), 6, 16 * (1 * 2 + 2 * 4 + 12 * 6)}));
  // Each group has as many global links as there are others.
  const Shape dragonfly = shape_of("dragonfly:9x4x2");
  EXPECT_EQ((std::tuple(dragonfly.ranks, dragonfly.nodes, dragonfly.links, dragonfly.diameter)),
            (std::tuple(72, 72 + 36, 2 * 72 + 36 * 3 + 9 * 8, 5)));
  // On the same node 2, on the same rail 2, else 4.
  EXPECT_EQ(shape_of("rail:3x4"), (Shape{12, 12 + 4 + 3, 48, 4, 12 * (3 * 2 + 2 * 2 + 6 * 4)}));
  EXPECT_EQ(shape_of("rail:3x1"), (Shape{3, 3 + 1, 6, 2, 3 * 2 * 2}));
  // Between cubes as on a mesh, and 2 more to a PE of another cube or the same.
  EXPECT_EQ(shape_of("packages:3x2x1"), (Shape{6, 6 + 6 + 1, 2 * (6 + 7 + 3), 5, 4 * 8 + 9 * 2 + 6 * 5 * 2}));
  EXPECT_EQ(shape_of("packages:1x1x4"), (Shape{4, 6, 2 * (4 + 1), 2, 4 * 3 * 2}));
  // Two ranks of a core are no link apart.
  EXPECT_EQ(shape_of("host:4x2"), (Shape{4, 3, 4, 2, 4 * 2 * 2}));
}

TEST(Generate, InnerFabricsTakeThePlacesOfRanks) {
  // Within a copy as inside; else to the gateway, to the port, over the switch, and back in the same way.
  EXPECT_EQ(shape_of("switch:3,inner=switch:2"),
            (Shape{6, 4 + 3 * 3, 6 + 3 * (4 + 2), 6, 6 * (1 * 2 + 4 * (1 + 1 + 2 + 1 + 1))}));
  EXPECT_EQ(shape_of("ring:3,gateway=node 1.1,inner=mesh_2d:2x2").diameter, 2 + 1 + 1 + 1 + 2);
  const Fabric fabric = *generate("ring:2,bandwidth=1GB/s,inner=switch:2,bandwidth=2GB/s,inner=host:2x1,latency=9ns");
  EXPECT_EQ(fabric.num_ranks(), 8U);
  EXPECT_EQ(fabric.generator, "ring_1d:2,bandwidth=1GB/s,inner=switch:2,bandwidth=2GB/s,inner=host:2x1,latency=9ns");
  EXPECT_EQ(fabric.nodes[fabric.ranks[7].node].name, "1/1/core 0");
  EXPECT_EQ(fabric.cores.size(), 4U);
  EXPECT_EQ(fabric.ranks[0].core, fabric.ranks[1].core);
  EXPECT_NE(fabric.ranks[1].core, fabric.ranks[2].core);
}

constexpr std::string_view kKinds[] = {
    "ring_1d:6",
    "ring_1d:7",
    "torus_2d:4x3",
    "torus_2d:1x5",
    "torus_3d:3x2x5",
    "mesh_2d:3x4",
    "switch:5",
    "fat_tree:3x2",
    "fat_tree:1x3",
    "fat_tree:3x2x4,uplinks=3",
    "fat_tree:1x2x2",
    "dragonfly:5x2x2",
    "rail:3x4",
    "dragonfly:3x1x2",
    "dragonfly:1x4x1",
    "rail:2x1",
    "packages:4x3x2",
    "host:5x3",
    "torus_2d:2x3,inner=packages:2x2x2",
    "switch:2,inner=ring:4,inner=switch:2",
};

// Whatever the ends, switches as well.
TEST(Generate, ArithmeticRoutesArriveAndMeetNoNodeTwice) {
  for (const std::string_view text : kKinds) {
    const Fabric fabric = *generate(text);
    ASSERT_TRUE(fabric.next_link) << text;
    Routes routes(fabric);
    for (std::uint32_t from = 0; from < fabric.nodes.size(); ++from)
      for (std::uint32_t to = 0; to < fabric.nodes.size(); ++to) {
        std::uint32_t at = from;
        std::set<std::uint32_t> met = {from};
        for (const std::uint32_t link : routes.between(from, to)) {
          ASSERT_EQ(fabric.links[link].from, at) << text << ": " << from << " to " << to;
          at = fabric.links[link].to;
          ASSERT_TRUE(met.insert(at).second) << text << ": " << from << " to " << to << " meets " << at;
        }
        ASSERT_EQ(at, to) << text;
      }
  }
}

// Between ranks; but for packages, whose io leads nowhere within them.
TEST(Generate, ArithmeticRoutesAreShortest) {
  for (const std::string_view text : kKinds) {
    if (text.find("packages") != std::string_view::npos) continue;
    const Fabric fabric = *generate(text);
    Fabric plain = fabric;
    plain.next_link = nullptr;
    for (Link& link : plain.links) link.latency = 1;
    Routes routes(fabric);
    Routes shortest(plain);
    for (const RankPlacement& from : fabric.ranks)
      for (const RankPlacement& to : fabric.ranks)
        ASSERT_EQ(routes.between(from.node, to.node).size(), shortest.between(from.node, to.node).size())
            << text << ": " << from.node << " to " << to.node;
  }
}

TEST(Generate, AllLinksHaveTheirReverse) {
  for (const std::string_view text : kKinds) {
    const Fabric fabric = *generate(text);
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> there;
    std::multiset<std::pair<std::uint32_t, std::uint32_t>> back;
    std::set<std::string> names;
    for (const Link& link : fabric.links) {
      there.emplace(link.from, link.to);
      back.emplace(link.to, link.from);
    }
    EXPECT_EQ(there, back) << text;
    for (const Node& node : fabric.nodes) EXPECT_TRUE(names.insert(node.name).second) << text << ": " << node.name;
    EXPECT_FALSE(find_apart(fabric)) << text;
  }
}

TEST(Generate, HalfWayAroundARingIsThePositiveWayFromEvenNodes) {
  const Fabric fabric = *generate("ring:4");
  Routes routes(fabric);
  EXPECT_EQ(fabric.links[routes.next(0, 2)].to, 1U);
  EXPECT_EQ(fabric.links[routes.next(2, 0)].to, 3U);
  EXPECT_EQ(fabric.links[routes.next(1, 3)].to, 0U);
  EXPECT_EQ(fabric.links[routes.next(3, 1)].to, 2U);
  EXPECT_EQ(fabric.links[routes.next(0, 3)].to, 3U);
}

// A message from every rank to every other. Where an extent is twice an odd number, an odd number of messages half-way
// around shares a link, of which one way has one more.
TEST(Generate, LinksOfATorusCarryTheSameOfAllToAll) {
  struct Torus {
    const char* words;
    std::vector<std::uint32_t> lengths;
  };
  for (const Torus& torus :
       {Torus{"ring_1d:4", {4}}, Torus{"ring_1d:6", {6}}, Torus{"ring_1d:7", {7}}, Torus{"ring_1d:16", {16}},
        Torus{"torus_2d:4x4", {4, 4}}, Torus{"torus_2d:8x4", {8, 4}}, Torus{"torus_2d:5x4", {5, 4}},
        Torus{"torus_2d:6x6", {6, 6}}, Torus{"torus_3d:4x4x4", {4, 4, 4}}, Torus{"torus_3d:4x3x6", {4, 3, 6}}}) {
    const Fabric fabric = *generate(torus.words);
    Routes routes(fabric);
    std::vector<std::uint32_t> loads(fabric.links.size());
    for (std::uint32_t from = 0; from < fabric.nodes.size(); ++from)
      for (std::uint32_t to = 0; to < fabric.nodes.size(); ++to)
        for (const std::uint32_t link : routes.between(from, to)) ++loads[link];
    const auto ports = static_cast<std::uint32_t>(2 * torus.lengths.size());
    for (std::uint32_t link = 0; link < loads.size(); ++link) {
      const std::uint32_t length = torus.lengths[link % ports / 2];
      const auto others = static_cast<std::uint32_t>(fabric.nodes.size()) / length;
      // Of a ring both ways carry the distances to all: a quarter of the square of its length each, or less by one.
      const std::uint32_t both_ways = others * (length * length / 4);
      const std::uint32_t more = length % 4 == 2 ? others : 0;
      EXPECT_LE(2 * loads[link], both_ways + more) << torus.words << ", link " << link;
    }
  }
}

TEST(Generate, FirstDimensionFirst) {
  const Fabric fabric = *generate("mesh_2d:3x3");
  Routes routes(fabric);
  std::vector<std::string> met;
  for (const std::uint32_t link : routes.between(0, 8)) met.push_back(fabric.nodes[fabric.links[link].to].name);
  EXPECT_EQ(met, (std::vector<std::string>{"node 1.0", "node 2.0", "node 2.1", "node 2.2"}));
}

TEST(Generate, SomeHaveAGrid) {
  using Sizes = std::vector<std::uint32_t>;
  const auto grid = [](std::string_view words) { return generate(words)->grid; };
  EXPECT_EQ(grid("ring_1d:6"), Sizes({6}));
  EXPECT_EQ(grid("torus_2d:8x4"), Sizes({8, 4}));
  EXPECT_EQ(grid("torus_2d:16"), Sizes({4, 4}));
  EXPECT_EQ(grid("torus_3d:4x2x3"), Sizes({4, 2, 3}));
  EXPECT_EQ(grid("mesh_2d:2x3"), Sizes({2, 3}));
  EXPECT_EQ(grid("packages:4x2x1"), Sizes({4, 2}));
  EXPECT_EQ(grid("switch:3,inner=packages:4x2x1"), Sizes({4, 2})) << "of each copy";
  for (const char* none : {"switch:4", "packages:4x2x8", "torus_2d:2x2,inner=switch:4", "fat_tree:2x2", "host:4x4"})
    EXPECT_EQ(grid(none), Sizes()) << none;
}

TEST(Generate, RailsAreReachedThroughTheNodeFirst) {
  const Fabric fabric = *generate("rail:2x2");
  Routes routes(fabric);
  std::vector<std::string> met;
  for (const std::uint32_t link : routes.between(0, 3)) met.push_back(fabric.nodes[fabric.links[link].to].name);
  EXPECT_EQ(met, (std::vector<std::string>{"node 0", "gpu 0.1", "rail 1", "gpu 1.1"}));
}

TEST(Generate, SwitchesMayMulticast) {
  EXPECT_FALSE(generate("switch:4")->nodes[4].multicast);
  EXPECT_TRUE(generate("switch:4,multicast")->nodes[4].multicast);
  EXPECT_FALSE(generate("switch:4,multicast=false")->nodes[4].multicast);
}

TEST(Generate, ParametersGoWhereTheyBelong) {
  const Fabric fabric = *generate(
      "rail:2x2,bandwidth=1GB/s,network_latency=5us,network_gap=7ns,send_overhead=3ns,memory_bandwidth=2TB/s,"
      "memory_fold=1GB/s,queue_slots=4,queue_slot_bytes=4K,queue_back_pressure=sleep,switch_cost=2us");
  EXPECT_EQ(fabric.generator, "rail:2x2,bandwidth=1GB/s,network_latency=5us,network_gap=7ns");
  const Link& network = fabric.links[0];
  const Link& inside = fabric.links[8];
  EXPECT_EQ(std::tuple(network.bandwidth, network.latency, network.gap), std::tuple(50, 5000, 7));
  EXPECT_EQ(std::tuple(inside.bandwidth, inside.latency, inside.gap), std::tuple(1, 250, 0));
  EXPECT_EQ(fabric.costs[0].send_overhead, 3);
  EXPECT_EQ(std::tuple(fabric.memories[0].bandwidth, fabric.memories[0].fold), std::tuple(2000, 1));
  EXPECT_EQ(std::tuple(fabric.queue.slots, fabric.queue.slot_bytes), std::tuple(4U, 4096U));
  EXPECT_EQ(fabric.queue.back_pressure, BackPressure::sleep);
  for (const Core& core : fabric.cores) EXPECT_EQ(core.switch_cost, 2000);
}

TEST(Generate, ASizeIsASquareOrWrittenOut) {
  EXPECT_EQ(generate("torus_2d:16")->generator, "torus_2d:4x4");
  EXPECT_EQ(generate("mesh_2d:1")->generator, "mesh_2d:1x1");
  EXPECT_EQ(generate("torus_3d:27")->generator, "torus_3d:3x3x3");
  EXPECT_EQ(refusal_of("torus_2d:6"),
            "torus_2d:6: 6 is no square, so each size must be there; write torus_2d:WxH, such as torus_2d:2x3");
  EXPECT_EQ(refusal_of("mesh_2d_no_wrap:6"),
            "mesh_2d_no_wrap:6: 6 is no square, so each size must be there; write mesh_2d:WxH, such as mesh_2d:2x3");
  EXPECT_EQ(refusal_of("torus_3d:16"),
            "torus_3d:16: 16 is no cube, so each size must be there; write torus_3d:WxHxD, such as torus_3d:4x4x4");
}

TEST(Generate, WhatIsWrongIsSaid) {
  EXPECT_EQ(refusal_of("tours_2d:2x3"), "tours_2d:2x3: there is no generator 'tours_2d'; the nearest is 'torus_2d'");
  EXPECT_EQ(refusal_of("ring_1d"), "ring_1d: it has no size; write ring_1d:N, such as ring_1d:6");
  EXPECT_EQ(refusal_of("ring_1d:2x3"), "ring_1d:2x3: it has 2 sizes; write ring_1d:N, such as ring_1d:6");
  EXPECT_EQ(refusal_of("torus_3d:2x3"), "torus_3d:2x3: it has 2 sizes; write torus_3d:WxHxD, such as torus_3d:4x4x4");
  EXPECT_EQ(refusal_of("fat_tree:16"),
            "fat_tree:16: it has 1 size; write fat_tree:[PODSx]LEAVESxNODES, such as "
            "fat_tree:4x8,uplinks=4");
  EXPECT_EQ(refusal_of("switch:1000000"),
            "switch:1000000: 1000000 ports on one node are more than the 65536 that there may be");
  EXPECT_EQ(refusal_of("torus_2d:2000x2000"),
            "torus_2d:2000x2000: 4000000 ranks are more than the 1048576 that there may be");
  EXPECT_EQ(refusal_of("packages:1048576x1048576x1048576").substr(0, 66),
            "packages:1048576x1048576x1048576: 1152921504606846976 ranks are mo");
  EXPECT_EQ(refusal_of("ring:3,band-width=5GB/s"),
            "band-width: ring_1d has no such parameter; the nearest is 'bandwidth'");
  EXPECT_EQ(refusal_of("ring:3,latency=5"),
            "latency: '5' is not a time: it has no unit; write a number and ns, us, ms or s, such as 1.5us");
  EXPECT_EQ(refusal_of("ring:3,latency"),
            "latency: '' is not a time: there is nothing; write a number and ns, us, ms or s, such as 1.5us");
  EXPECT_EQ(refusal_of("switch:3,multicast=maybe"), "multicast: 'maybe' is neither true nor false");
  EXPECT_EQ(refusal_of("fat_tree:2x2,uplinks=0"), "uplinks: 0 is too few; 1 is the least");
  EXPECT_EQ(refusal_of("fat_tree:2x2,uplinks=-1"), "uplinks: '-1' is no whole number from 0 on");
  EXPECT_EQ(refusal_of("fat_tree:2x2,uplinks=99999999999999999999"),
            "uplinks: '99999999999999999999' is too large; 4294967295 is the most");
  EXPECT_FALSE(generate("fat_tree:1024x1024,uplinks=4294967295").ok());
  EXPECT_EQ(refusal_of("ring:3,gateway=node 0"), "gateway: there is no gateway without an inner fabric (inner=...)");
  EXPECT_EQ(refusal_of("ring:3,inner=ring:3,gateway=node 0"),
            "inner: gateway: there is no gateway without an inner "
            "fabric (inner=...)");
  EXPECT_EQ(refusal_of("ring:3,gateway=io,inner=ring:3"),
            "gateway: ring:3 has no node 'io'; its nodes are such as 'node 0' and 'node 2'");
  EXPECT_EQ(refusal_of("ring:1,inner=ring:1,inner=ring:1,inner=ring:1,inner=ring:1"),
            "inner: inner: inner: inner: 4 fabrics within one another are the most");
  EXPECT_EQ(refusal_of("ring:1000,inner=ring:2000"),
            "ring:1000,inner=ring:2000: 2000000 ranks are more than the 1048576 that there may be");
  EXPECT_EQ(refusal_of("ring:3,memory=hbm"), "memory: there is no memory 'hbm' here; there is memory");
  EXPECT_EQ(refusal_of("ring:3,costs=fast"), "costs: there is no kind of costs 'fast' here; there is costs");
  EXPECT_EQ(refusal_of("ring:3,queue_long_messages=x"), "queue_long_messages: 'x' is neither rounds nor slots");
  EXPECT_EQ(refusal_of("ring:3,queue_back_pressure=wait"), "queue_back_pressure: 'wait' is neither poll nor sleep");
}

TEST(Generate, MemoriesOfAPackageAreChosenByName) {
  EXPECT_EQ(generate("packages:2x2x2")->ranks[3].memory, 0U);
  EXPECT_EQ(generate("packages:2x2x2,memory=hbm")->ranks[3].memory, 2U);
  EXPECT_EQ(generate("ring:2,memory=sram,inner=packages:2x2x2")->ranks[9].memory, 1U);
}

TEST(Generate, LargeOnesAreMade) {
  for (const char* text : {"ring_1d:65536", "torus_3d:40x40x40", "switch:65536", "fat_tree:64x32x32",
                           "dragonfly:65x32x16", "rail:8192x8", "switch:512,inner=packages:4x4x8"}) {
    const Result<Fabric> fabric = generate(text);
    ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
    EXPECT_GE(fabric->num_ranks(), 33280U) << text;
    Routes routes(*fabric);
    EXPECT_FALSE(routes.between(fabric->ranks.front().node, fabric->ranks.back().node).empty()) << text;
  }
}

}  // namespace
}  // namespace tutti::fabric
