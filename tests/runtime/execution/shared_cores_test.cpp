// SPDX-License-Identifier: Apache-2.0
// What ranks on these and those cores make of it; nothing runs.
#include "runtime/execution/shared_cores.hpp"

#include <initializer_list>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "runtime/communicator/settings.hpp"

namespace tutti {
namespace {

using Cores = std::vector<std::uint32_t>;

// A region whose ranks have told these.
std::unique_ptr<shm::Region> region_on(const std::vector<Cores>& ranks) {
  Result<std::unique_ptr<shm::Region>> region =
      shm::Region::create(Settings().region_for(static_cast<std::uint32_t>(ranks.size())));
  EXPECT_TRUE(region.ok()) << region.status().to_string();
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
    for (const std::uint32_t core : ranks[rank])
      (*region)->cores(rank, core / 64).fetch_or(std::uint64_t{1} << core % 64, std::memory_order_relaxed);
  return std::move(*region);
}

TEST(SharedCores, AreCountedOnce) {
  const auto region = region_on({{0, 1}, {1, 2}, {200}});
  EXPECT_EQ(cores_of(*region, 1), 2U);
  EXPECT_EQ(cores_of(*region, 2), 3U);
  EXPECT_EQ(cores_of(*region, 3), 4U);
  EXPECT_EQ(cores_of(*region_on({{}, {}}), 2), 1U);
}

TEST(SharedCores, AreThoseOfMoreRanks) {
  EXPECT_TRUE(shares_cores(*region_on({{0, 1}, {0, 1}, {0, 1}})));
  EXPECT_TRUE(shares_cores(*region_on({{0}, {0}})));
  EXPECT_TRUE(shares_cores(*region_on({{}, {}})));
  EXPECT_FALSE(shares_cores(*region_on({{0, 1}, {0, 1}})));
  EXPECT_FALSE(shares_cores(*region_on({{0}, {1}, {2}})));
  EXPECT_FALSE(shares_cores(*region_on({{0, 1, 2}, {0, 1, 2}, {0}})));
}

// Though there are cores enough elsewhere.
TEST(SharedCores, AreThoseThatTooManyAreBoundTo) {
  EXPECT_TRUE(shares_cores(*region_on({{0}, {1, 2, 3}, {0}})));
  EXPECT_TRUE(shares_cores(*region_on({{1, 2, 3, 4}, {70}, {70}})));
  EXPECT_TRUE(shares_cores(*region_on({{8, 9}, {8, 9}, {0, 1, 2}, {8, 9}})));
  EXPECT_FALSE(shares_cores(*region_on({{8, 9}, {8, 9}, {0, 1, 2}, {8, 9, 10}})));
}

TEST(SharedCores, HaveARankEachThatFolds) {
  EXPECT_EQ(ranks_to_fold(*region_on({{0, 1}, {0, 1}})), 0U);
  EXPECT_EQ(ranks_to_fold(*region_on({{0, 1}, {0, 1}, {0, 1}})), 2U);
  // The first two are on one.
  EXPECT_EQ(ranks_to_fold(*region_on({{0}, {0}, {1}, {1}})), 0U);
  EXPECT_EQ(ranks_to_fold(*region_on({{0}, {1}, {0}, {1}})), 2U);
  Cores all;
  for (std::uint32_t core = 0; core < kMostRadix; ++core) all.push_back(core);
  EXPECT_EQ(ranks_to_fold(*region_on(std::vector<Cores>(kMostRadix + 1, all))), kMostRadix);
  all.push_back(kMostRadix);
  EXPECT_EQ(ranks_to_fold(*region_on(std::vector<Cores>(kMostRadix + 2, all))), 0U);
}

}  // namespace
}  // namespace tutti
