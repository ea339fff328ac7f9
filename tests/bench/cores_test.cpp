// SPDX-License-Identifier: Apache-2.0
#include "bench/process/cores.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "../base/temporary_folder.hpp"
#include "base/system/spawn.hpp"

namespace tutti::harness {
namespace {

using Cores = std::vector<Core>;

// A machine of which thread t has these siblings.
void write_siblings(const std::string& folder, int thread, const std::string& list) {
  const std::string topology = fmt::format("{}/cpu{}/topology", folder, thread);
  std::filesystem::create_directories(topology);
  std::ofstream(topology + "/thread_siblings_list") << list << "\n";
}

TEST(Cores, AreWholeWithTheirThreads) {
  const test::TemporaryFolder folder;
  // Threads of a core are neighbours on some machines, and half the machine apart on others.
  for (int thread = 0; thread < 4; ++thread) write_siblings(folder.path(), thread, thread < 2 ? "0-1" : "2-3");
  for (int thread = 4; thread < 8; ++thread) write_siblings(folder.path(), thread, thread % 2 == 0 ? "4,6" : "5,7");
  EXPECT_EQ(cores_of({0, 1, 2, 3, 4, 5, 6, 7}, folder.path()), (Cores{{0, 1}, {2, 3}, {4, 6}, {5, 7}}));
  // Of which not all may be used.
  EXPECT_EQ(cores_of({1, 2, 3, 6}, folder.path()), (Cores{{1}, {2, 3}, {6}}));
  EXPECT_EQ(cores_of({}, folder.path()), Cores{});
}

TEST(Cores, AThreadOfWhichNothingIsKnownIsOne) {
  const test::TemporaryFolder folder;
  write_siblings(folder.path(), 1, "nonsense");
  EXPECT_EQ(cores_of({0, 1}, folder.path()), (Cores{{0}, {1}}));
}

TEST(Cores, OfThisMachineHoldEachThreadOnce) {
  std::vector<int> threads;
  for (const Core& core : allowed_whole_cores()) threads.insert(threads.end(), core.begin(), core.end());
  std::sort(threads.begin(), threads.end());
  EXPECT_EQ(threads, allowed_cores());
}

TEST(Cores, AreTakenRoundAndRoundByMoreRanks) {
  const Cores two = {{0, 2}, {1, 3}};
  EXPECT_EQ(cores_of_ranks(two, 1), (Cores{{0, 2}}));
  EXPECT_EQ(cores_of_ranks(two, 2), two);
  EXPECT_EQ(cores_of_ranks(two, 5), (Cores{{0, 2}, {1, 3}, {0, 2}, {1, 3}, {0, 2}}));
}

TEST(Cores, AThreadRunsOnItsOwn) {
  const std::vector<int> before = allowed_cores();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(run_on({before.back()}).ok());
  EXPECT_EQ(allowed_cores(), std::vector<int>{before.back()});
  ASSERT_TRUE(run_on(before).ok());
  EXPECT_FALSE(run_on({}).ok());
}

TEST(Bind, HasTwoNames) {
  EXPECT_EQ(bind_from_name("Core"), Bind::core);
  EXPECT_EQ(bind_from_name("none"), Bind::none);
  EXPECT_EQ(bind_from_name("socket"), std::nullopt);
}

}  // namespace
}  // namespace tutti::harness
