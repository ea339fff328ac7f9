// SPDX-License-Identifier: Apache-2.0
#include "fabric/figures.hpp"

#include <gtest/gtest.h>

#include "fabric/generators/generate.hpp"

namespace tutti::fabric {
namespace {

double halves(std::string_view text) { return between_halves(*generate(text)).value_or(-1); }

TEST(Figures, BetweenHalvesIsTheLeastCut) {
  EXPECT_EQ(halves("ring:6,bandwidth=10GB/s"), 2 * 10);
  // Of 4 rows of 4 the first two: 4 columns, each both ways around.
  EXPECT_EQ(halves("torus_2d:4x4,bandwidth=10GB/s"), 8 * 10);
  EXPECT_EQ(halves("mesh_2d:4x4,bandwidth=10GB/s"), 4 * 10);
  EXPECT_EQ(halves("switch:8,bandwidth=10GB/s"), 4 * 10);
  // 2 of 4 leaves, each with 2 uplinks of 5.
  EXPECT_EQ(halves("fat_tree:4x4,uplinks=2,bandwidth=10GB/s,up_bandwidth=5GB/s"), 2 * 2 * 5);
  // One link between each pair of the 2 + 2 groups.
  EXPECT_EQ(halves("dragonfly:4x3x2,global_bandwidth=7GB/s,bandwidth=1TB/s,local_bandwidth=1TB/s"), 4 * 7);
  EXPECT_EQ(halves("switch:8,bandwidth=unlimited"), 0);
  EXPECT_EQ(halves("ring:1"), -1);
  EXPECT_EQ(halves("host:4x2"), -1) << "each core has ranks of both halves";
  EXPECT_EQ(halves("ring:100000"), -1);
}

TEST(Figures, LongestWayIsOverAllPairs) {
  const std::optional<LongestWay> way = longest_way(*generate("rail:2x4,latency=1ns,network_latency=100ns"));
  ASSERT_TRUE(way);
  EXPECT_EQ(way->links, 4U);
  EXPECT_EQ(way->latency, 2 * 1 + 2 * 100);
  EXPECT_FALSE(longest_way(*generate("ring:2000")));
}

TEST(Figures, LinkCostsAreCounted) {
  EXPECT_EQ(link_costs(*generate("rail:2x4,network_gap=1ns")), "16 of 50GB/s, 500ns, gap 1ns; 16 of 450GB/s, 250ns");
  EXPECT_EQ(link_costs(*generate("ring:1")), "");
  Fabric fabric = *generate("ring:6,bandwidth=1GB/s");
  for (std::size_t link = 0; link < fabric.links.size(); ++link) fabric.links[link].latency = static_cast<double>(link);
  EXPECT_TRUE(link_costs(fabric).ends_with("; 1 of 1GB/s, 7ns; 4 of others")) << link_costs(fabric);
}

}  // namespace
}  // namespace tutti::fabric
