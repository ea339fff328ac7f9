// SPDX-License-Identifier: Apache-2.0
// Measuring, as little as can be: that numbers come, not which.
#include "calibrate/measure.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/fit.hpp"
#include "fabric/files/fabric_file.hpp"

namespace tutti::calibrate {
namespace {

constexpr Thoroughness kLeast{.passes = 1, .block_ns = 1000, .most_working_set = 2 << 20};

TEST(Measure, GivesNumbersThatMakeAFabric) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "ping-pong needs two cores";
  const std::vector<int> before = usable_cores();
  const Result<Measurements> measured = measure(Variables(), kLeast);
  ASSERT_TRUE(measured.ok()) << measured.status().to_string();
  EXPECT_EQ(usable_cores(), before);
  EXPECT_FALSE(measured->machine.empty());
  EXPECT_EQ(measured->date.size(), 10U);
  EXPECT_GT(measured->core_switch, 0);
  EXPECT_GT(measured->step, 0);
  ASSERT_GT(measured->hops.size(), 10U);
  EXPECT_EQ(measured->hops.front().bytes, 8U);
  EXPECT_EQ(measured->hops.back().bytes, measured->slot_bytes);
  for (const HopTimes& hop : measured->hops)
    for (const double time : {hop.copy, hop.fold, hop.forward, hop.fold_forward}) EXPECT_TRUE(std::isfinite(time));
  ASSERT_EQ(measured->swaps.size(), measured->hops.size());
  EXPECT_GT(measured->swaps.front().once, 0);
  ASSERT_FALSE(measured->shots.empty());
  EXPECT_EQ(measured->shots.back().bytes, kLeast.most_working_set / 4);
  for (const ShotTimes& shot : measured->shots) EXPECT_GT(std::min(shot.fold, shot.store), 0) << shot.bytes;
  // Every shipped profile takes small all-reduces in a way of its own, up to some size.
  ASSERT_GT(measured->small_end, 0U);
  ASSERT_FALSE(measured->small.empty());
  ASSERT_EQ(measured->own.size(), 7U);  // 32K to 2M
  for (const OwnRate& own : measured->own) EXPECT_GT(own.fold_bandwidth, 0);
  EXPECT_EQ(measured->own.front().exchange, 0);
  // What a call takes less what one without data takes: where so little is measured, noise may leave nothing of it.
  double exchange = measured->own.back().exchange;
  for (int again = 0; again < 2 && exchange == 0; ++again) {
    const Result<Measurements> more = measure(Variables(), kLeast);
    ASSERT_TRUE(more.ok()) << more.status().to_string();
    exchange = more->own.back().exchange;
  }
  EXPECT_GT(exchange, 0);
  const Result<fabric::Fabric> read = fabric::read_fabric(file_of(*measured, 2), "machine.toml", {});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  ASSERT_EQ(read->costs.size(), 5U);
  EXPECT_EQ(read->costs.back().channels, fabric::Channels::exchange);
  EXPECT_EQ(read->costs.back().up_to, measured->small_end - 1);
}

// From too little for the first thread to enough for both, though not for their buffers; somewhere between there is one
// thread only. Who measures is a child, which an alarm would end.
TEST(Measure, WithTooLittleMemoryItEndsAndSaysWhy) {
  if (TUTTI_IS_SANITIZED != 0) GTEST_SKIP() << "sanitizers want more memory than there is";
  if (usable_cores().size() < 2) GTEST_SKIP() << "ping-pong needs two cores";
  for (std::uint64_t more = 8; more <= 40; more += 4) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);
      std::uint64_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      rlimit limit{};
      getrlimit(RLIMIT_AS, &limit);
      limit.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (more << 20U);
      setrlimit(RLIMIT_AS, &limit);
      const Result<Measurements> measured = measure(Variables(), {.passes = 1, .block_ns = 1000});
      _exit(measured.ok() ? 2 : measured.status().code() == Code::system ? 0 : 3);
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    EXPECT_TRUE(WIFEXITED(state)) << more << ": " << state;
    EXPECT_EQ(WEXITSTATUS(state), 0) << more;
  }
}

TEST(Measure, VariablesOfRanksDoNotKeepItFromMeasuring) {
  if (usable_cores().size() < 2) GTEST_SKIP() << "ping-pong needs two cores";
  Environment environment;
  environment.set("TUTTI_STAGING_DEPTH", "2");
  environment.set("TUTTI_ALLREDUCE_ALGORITHM", "file:/nowhere.sched");
  const Result<Variables> variables = Variables::load(environment, {});
  ASSERT_TRUE(variables.ok()) << variables.status().to_string();
  const Result<Measurements> measured = measure(*variables, kLeast);
  ASSERT_TRUE(measured.ok()) << measured.status().to_string();
  EXPECT_FALSE(measured->small.empty());
}

TEST(Measure, OnOneCoreItSaysWhatItNeeds) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  pin_to(usable_cores().front());
  const Result<Measurements> measured = measure(Variables(), kLeast);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  ASSERT_FALSE(measured.ok());
  EXPECT_NE(measured.status().message().find("may run on 1 core only, and ping-pong needs two"), std::string::npos)
      << measured.status().to_string();
}

TEST(Measure, TheMedianIsTheMiddleOne) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({9, 1, 5}), 5);
  EXPECT_EQ(quantile_of({9, 1, 5, 7, 3}, 0.2), 3);
}

}  // namespace
}  // namespace tutti::calibrate
