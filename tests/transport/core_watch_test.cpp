// SPDX-License-Identifier: Apache-2.0
// The watch over a shared core, on a made-up scheduler: nothing sleeps and no clock runs.
#include "transport/shm/core_watch.hpp"

#include <gtest/gtest.h>

namespace tutti::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// One core. Each yield takes `yield_time`, of which the other ranks have `ranks_share`.
struct Core {
  nanoseconds now{0};
  nanoseconds of_ranks{0};
  nanoseconds yield_time = microseconds(2);
  double ranks_share = 1.0;
  bool tells_times = true;
  int num_clocks = 0;
  int num_left = 0;

  CoreWatch watch() {
    return CoreWatch({.now =
                          [this] {
                            ++num_clocks;
                            return now;
                          },
                      .time_of_ranks = [this] { return tells_times ? std::optional(of_ranks) : std::nullopt; },
                      .yield =
                          [this] {
                            now += yield_time;
                            of_ranks += nanoseconds(
                                static_cast<std::int64_t>(static_cast<double>(yield_time.count()) * ranks_share));
                          },
                      .leave = [this] { ++num_left; }});
  }
};

void yield(CoreWatch& watch, int times) {
  for (int each = 0; each < times; ++each) watch.yield();
}

TEST(CoreWatch, StaysWhereYieldsAreShort) {
  Core core;
  CoreWatch watch = core.watch();
  yield(watch, 100'000);
  EXPECT_FALSE(watch.has_left());
}

TEST(CoreWatch, ReadsTheClockRarelyWhereYieldsAreShort) {
  Core core;
  CoreWatch watch = core.watch();
  yield(watch, 16'000);
  EXPECT_EQ(core.num_clocks, 2 * 1'000);
}

TEST(CoreWatch, LeavesOnceWhereAForeignProcessHasTheCore) {
  Core core{.yield_time = milliseconds(2), .ranks_share = 0.01};
  CoreWatch watch = core.watch();
  int yields = 0;
  while (!watch.has_left() && yields < 1'000) {
    watch.yield();
    ++yields;
  }
  // A sample, and a window of 50 ms.
  EXPECT_LE(yields, 16 + 26);
  yield(watch, 1'000);
  EXPECT_EQ(core.num_left, 1);
}

TEST(CoreWatch, StaysWhereRanksComputeForLong) {
  Core core{.yield_time = milliseconds(20), .ranks_share = 1.0};
  CoreWatch watch = core.watch();
  yield(watch, 1'000);
  EXPECT_EQ(core.num_left, 0);
}

TEST(CoreWatch, StaysAfterOneLongYield) {
  Core core{.yield_time = milliseconds(3), .ranks_share = 0.0};
  CoreWatch watch = core.watch();
  yield(watch, 16);  // the last of them is the sample
  core.yield_time = microseconds(2);
  yield(watch, 100'000);
  EXPECT_EQ(core.num_left, 0);
}

TEST(CoreWatch, StaysWhereAForeignProcessHasLittleOfTheWindow) {
  Core core{.yield_time = milliseconds(1), .ranks_share = 0.8};
  CoreWatch watch = core.watch();
  yield(watch, 1'000);
  EXPECT_EQ(core.num_left, 0);
}

TEST(CoreWatch, StaysWhereTheSystemTellsNoTimes) {
  Core core{.yield_time = milliseconds(2), .ranks_share = 0.0, .tells_times = false};
  CoreWatch watch = core.watch();
  yield(watch, 1'000);
  EXPECT_EQ(core.num_left, 0);
}

}  // namespace
}  // namespace tutti::shm
