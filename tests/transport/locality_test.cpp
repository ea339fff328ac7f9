// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/locality.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/shm/region.hpp"

namespace tutti::shm {
namespace {

// The policy of the page there, or -1 where the system does not say.
int policy_of(void* address) {
  int mode = -1;
  std::uint64_t nodes = 0;
  if (::syscall(SYS_get_mempolicy, &mode, &nodes, 65, address, MPOL_F_ADDR) != 0) return -1;
  return mode;
}

TEST(Locality, ConnectionsOfARankComeToLieNearItInOneDirectionOnly) {
  RegionShape shape;
  shape.num_ranks = 3;
  const std::unique_ptr<Region> region = std::move(Region::create(shape).value());
  void* const from_1 = region->connection(1, 2, Traffic::schedules).taken;
  void* const to_1 = region->connection(2, 1, Traffic::program).taken;
  if (policy_of(from_1) < 0) GTEST_SKIP() << "the system does not tell memory policies";
  if (const Status status = region->bring_near(1, true); !status.ok()) GTEST_SKIP() << status.to_string();
  EXPECT_EQ(policy_of(from_1), MPOL_PREFERRED);
  EXPECT_EQ(policy_of(to_1), MPOL_DEFAULT);
  ASSERT_TRUE(region->bring_near(1, false).ok());
  EXPECT_EQ(policy_of(to_1), MPOL_PREFERRED);
  EXPECT_EQ(policy_of(region->connection(0, 2, Traffic::program).taken), MPOL_DEFAULT);
}

TEST(Locality, LessThanAPageIsNobodysConcern) {
  RegionShape shape;
  const std::unique_ptr<Region> region = std::move(Region::create(shape).value());
  EXPECT_TRUE(prefer_node(region->staging(0) + 1, 4000, 0).ok());
  EXPECT_EQ(prefer_node(region->staging(0), 4096, 64).code(), Code::unsupported);
}

}  // namespace
}  // namespace tutti::shm
