// SPDX-License-Identifier: Apache-2.0
// What a rank can say of others that keep it waiting, by the region alone.
#include "runtime/failure/lateness.hpp"

#include <chrono>
#include <memory>
#include <optional>
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

TEST(Lateness, RanksElsewhereAreNamedByThoseWhoWaitForThem) {
  const shm::RegionShape shape{.num_ranks = 9, .num_here = 3};
  const auto region = std::move(
      shm::Region::map(std::move(shm::make_memory(shm::region_bytes(shape)).value()), shape, {0, 1, 2}).value());
  const auto waits_now = [&](std::uint32_t rank) {
    region->call(rank).operation.store(4);
    region->doorbell(rank).looked.store(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  };
  const auto late = [&] { return find_late(*region, 0, std::chrono::seconds(30), false); };
  for (const std::uint32_t rank : {0U, 1U, 2U}) waits_now(rank);
  EXPECT_EQ(late().words, "all ranks of rank 0's host have come to it, and some of another host is late");
  EXPECT_TRUE(late().ranks.empty());
  tell_awaited_elsewhere(*region, 0, 7);
  tell_awaited_elsewhere(*region, 1, 5);
  tell_awaited_elsewhere(*region, 2, 7);
  EXPECT_EQ(late().words,
            "all ranks of rank 0's host have come to it, and wait for ranks 5 and 7, which may be waiting themselves");
  EXPECT_TRUE(late().ranks.empty());
  tell_awaited_elsewhere(*region, 1, std::nullopt);
  EXPECT_EQ(late().words,
            "all ranks of rank 0's host have come to it, and wait for rank 7, which may be waiting itself");
  // One that has gone on waits for something else.
  tell_awaited_elsewhere(*region, 1, 4);
  region->call(1).operation.store(5);
  EXPECT_EQ(late().words,
            "all ranks of rank 0's host have come to it, and wait for rank 7, which may be waiting itself");
  // A rank that does not wait is blamed first; what it told before is out of date.
  region->doorbell(2).looked.store(0);
  EXPECT_EQ(late().words, "rank 2 is late: begun, but does not go on");
}

}  // namespace
}  // namespace tutti
