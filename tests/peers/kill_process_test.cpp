// SPDX-License-Identifier: Apache-2.0
// A runner that is killed at any moment leaves nothing, loses no row that it has kept, and repeats none when the sweep
// is resumed.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox.hpp"

namespace tutti::peers {
namespace {

class Kill : public ::testing::TestWithParam<const char*> {};

TEST_P(Kill, AtAnyMomentLeavesNothingAndLosesNothing) {
  const std::vector<std::string> here = peers_here(TUTTI_PROGRAM);
  if (std::find(here.begin(), here.end(), GetParam()) == here.end()) GTEST_SKIP() << GetParam() << " was not built";
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  const Sandbox sandbox(TUTTI_PROGRAM);
  const std::string kept = fmt::format("--store '{}'", sandbox.store());
  // Two groups, since starting and ending one are moments of their own; and with barriers, since a machine that is busy
  // keeps no instant.
  const std::string sweep = fmt::format(
      "run --peer {} -a bytes=8:1K:x2 --env NOBODYS=1,2 --sync barrier --budget 100ms --least-samples 1000000 "
      "--json {}",
      GetParam(), kept);
  std::size_t num_rows = 0;
  for (int turn = 0; turn < 20; ++turn) {
    const pid_t runner = sandbox.begin(sweep + " --resume");
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution(0, 500)(random)));
    ::kill(runner, SIGKILL);
    static_cast<void>(sandbox.end(runner));
    EXPECT_EQ(sandbox.left_in_the_end(), "") << "turn " << turn;
    const Json rows = sandbox.run("show --json " + kept).rows;
    if (!rows.is_array()) continue;
    EXPECT_GE(rows.size(), num_rows) << "turn " << turn;
    num_rows = rows.size();
  }
  const auto resumed = sandbox.run(sweep + " --resume");
  EXPECT_EQ(resumed.exit, 0) << resumed.error << resumed.rows;
  std::set<std::pair<int, std::string>> seen;
  const Json rows = sandbox.run("show --json " + kept).rows;
  for (const Json& row : rows) seen.insert({row["bytes"].get<int>(), row["NOBODYS"].get<std::string>()});
  EXPECT_EQ(rows.size(), 16U) << "a row is lost, or there twice";
  EXPECT_EQ(seen.size(), 16U);
}

INSTANTIATE_TEST_SUITE_P(Each, Kill, ::testing::Values("tutti", "openmpi", "mpich", "gloo"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tutti::peers
