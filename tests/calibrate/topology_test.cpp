// SPDX-License-Identifier: Apache-2.0
// Machines in hwloc's words. What this machine has is only looked at.
#include "calibrate/topology.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "calibrate/measure.hpp"

namespace tutti::calibrate {
namespace {

// Without hwloc there are no such words, and all that is to be seen is that it says so.
class Topologies : public testing::Test {
 protected:
  void SetUp() override {
    if (const Result<Topology> any = topology_of("core:1 pu:1"); !any.ok()) {
      EXPECT_NE(any.status().message().find("libhwloc-dev"), std::string::npos);
      GTEST_SKIP() << any.status().to_string();
    }
  }
};

TEST_F(Topologies, CoresThatShareStandTogether) {
  const Topology machine = topology_of("pack:2 l3:2 core:2 pu:2").value();
  ASSERT_EQ(machine.cores.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(machine.cores[i].processor, static_cast<int>(2 * i)) << "the first of a core's two";
    EXPECT_EQ(machine.cores[i].cache, i / 2);
    EXPECT_EQ(machine.cores[i].package, i / 4);
  }
  ASSERT_EQ(machine.lines.size(), 6U);
  EXPECT_TRUE(machine.lines[0].starts_with("package 0")) << machine.lines[0];
  EXPECT_NE(machine.lines[2].find("2 cores: processors 4 6"), std::string::npos) << machine.lines[2];
  EXPECT_EQ(machine.pair(Apart::not_at_all)->second.processor, 2);
  EXPECT_EQ(machine.pair(Apart::caches)->second.processor, 4);
  EXPECT_EQ(machine.pair(Apart::packages)->second.processor, 8);
}

TEST_F(Topologies, WhereNothingIsSharedEachIsByItself) {
  const Topology machine = topology_of("pack:1 l2:4 core:1 pu:1").value();
  EXPECT_EQ(machine.cores.size(), 4U);
  EXPECT_FALSE(machine.pair(Apart::not_at_all).has_value());
  EXPECT_TRUE(machine.pair(Apart::caches).has_value());
  EXPECT_FALSE(machine.pair(Apart::packages).has_value());
}

TEST_F(Topologies, OfASinglePackageWithoutCaches) {
  const Topology machine = topology_of("core:3 pu:1").value();
  EXPECT_EQ(machine.cores.size(), 3U);
  EXPECT_FALSE(machine.pair(Apart::packages).has_value());
}

TEST_F(Topologies, WordsThatAreNone) {
  const Result<Topology> none = topology_of("pack:nonsense");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("hwloc"), std::string::npos);
}

TEST(Topology, OfThisMachineHasUsableProcessorsOnly) {
  const std::vector<int> usable = usable_cores();
  const Topology machine = topology_of_machine();
  ASSERT_FALSE(machine.cores.empty());
  EXPECT_LE(machine.cores.size(), usable.size());
  for (const CorePlace& core : machine.cores)
    EXPECT_TRUE(std::find(usable.begin(), usable.end(), core.processor) != usable.end()) << core.processor;
  EXPECT_FALSE(machine.lines.empty());
}

}  // namespace
}  // namespace tutti::calibrate
