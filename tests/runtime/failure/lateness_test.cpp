// SPDX-License-Identifier: Apache-2.0
// What a rank can say of others that keep it waiting, by the region alone.
#include "runtime/failure/lateness.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "transport/shm/region.hpp"

namespace tutti {
namespace {

// Lines of ranks on other hosts have no memory, and reading them would give them some.
TEST(Lateness, OfRanksElsewhereNothingIsRead) {
  const shm::RegionShape shape{.num_ranks = 1000, .num_here = 2};
  const auto region =
      std::move(shm::Region::map(std::move(shm::make_memory(shm::region_bytes(shape)).value()), shape, {0, 1}).value());
  const auto blocks = [&] {
    struct stat found {};
    EXPECT_EQ(fstat(region->descriptor(), &found), 0);
    return found.st_blocks;
  };
  region->call(0).operation.store(1);
  region->call(1).operation.store(1);
  const auto before = blocks();
  EXPECT_EQ(find_late_partner(*region, 0, 999, true).words, "rank 999 is late: not there yet");
  EXPECT_FALSE(find_late(*region, 0, std::chrono::seconds(30), true).words.empty());
  EXPECT_FALSE(find_lost(*region, 0));
  EXPECT_FALSE(region->has_left(998));
  // The lines of the two ranks here, and the words of who has left elsewhere, may have got pages.
  EXPECT_LE(blocks() - before, 128);
}

}  // namespace
}  // namespace tutti
