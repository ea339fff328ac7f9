// SPDX-License-Identifier: Apache-2.0
// `tutti simulate --workload` as a user calls it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

Outcome run_simulate(std::vector<std::string> arguments) { return call(simulate_command(), std::move(arguments)); }

// The rows of a call in JSON.
nlohmann::json rows_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Outcome outcome = run_simulate(std::move(arguments));
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

constexpr const char* kWorkload = R"toml(version = 1
ranks = 4
[[entries]]
collective = "all_reduce"
bytes = "1M"
calls = 10
compute_us = 100
[[entries]]
collective = "broadcast"
bytes = 4096
root = 2
algorithm = "knomial(3)"
[[entries]]
collective = "all_reduce"
count = 262144
calls = 30
[[entries]]
collective = "barrier"
site = "end"
)toml";

TEST(Workloads, EachCallHasARowWithItsFastestAlgorithm) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("step.toml", kWorkload);
  const nlohmann::json calls = rows_of({"--fabric", "torus_2d:4x2", "--workload", path});
  ASSERT_EQ(calls.size(), 4U);
  const nlohmann::json all =
      rows_of({"--fabric", "torus_2d:4x2", "-n", "4", "--collective", "all_reduce", "--bytes", "1M"});
  const auto faster = [](const nlohmann::json& a, const nlohmann::json& b) { return a["time_us"] < b["time_us"]; };
  const nlohmann::json fastest = *std::min_element(all.begin(), all.end(), faster);
  EXPECT_EQ(calls[0]["algorithm"], fastest["algorithm"]);
  EXPECT_EQ(calls[0]["each_us"], fastest["time_us"]);
  EXPECT_EQ(calls[0]["calls"], 40) << "both entries";
  EXPECT_EQ(calls[0]["compute_us"], 1000.0);
  const nlohmann::json broadcast = rows_of({"--fabric", "torus_2d:4x2", "-n", "4", "--collective", "broadcast",
                                            "--algorithm", "knomial", "--radix", "3", "--root", "2", "--bytes", "4K"});
  EXPECT_EQ(calls[1]["algorithm"], "knomial(3)");
  EXPECT_EQ(calls[1]["each_us"], broadcast[0]["time_us"]);
  EXPECT_EQ(calls[2]["site"], "end");
  const nlohmann::json& total = calls[3];
  EXPECT_EQ(total["collective"], "total");
  EXPECT_EQ(total["calls"], 42);
  EXPECT_EQ(total["compute_us"], 1000.0);
  double communication = 0;
  double percent = 0;
  for (int row = 0; row < 3; ++row) {
    communication += calls[row]["communication_us"].get<double>();
    percent += calls[row]["percent"].get<double>();
  }
  EXPECT_DOUBLE_EQ(total["communication_us"].get<double>(), communication);
  EXPECT_DOUBLE_EQ(calls[0]["communication_us"].get<double>(), 40 * fastest["time_us"].get<double>());
  EXPECT_NEAR(percent, 100, 1e-9);
  const Outcome table = run_simulate({"--fabric", "torus_2d:4x2", "--workload", path});
  EXPECT_TRUE(contains(table.out, "42 calls take ")) << table.out;
  EXPECT_TRUE(contains(table.out, "), 1 ms computing\n")) << table.out;
}

// Two entries of one collective, and an algorithm for grids, of which six ranks make none.
TEST(Workloads, WhatIsLeftOutIsToldOnceAFabric) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("step.toml",
                                        "version = 1\nranks = 6\n[[entries]]\ncollective = \"all_reduce\"\nbytes = 64\n"
                                        "[[entries]]\ncollective = \"all_reduce\"\nbytes = 128\n");
  const Outcome outcome = run_simulate({"--fabric", "switch:6", "--fabric", "switch:8", "--workload", path});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(count_of(outcome.error, "tutti simulate: skipped bucket_2d, "), 2U) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "switch:8: 2 calls take ")) << outcome.out;
}

TEST(Workloads, MistakesAreMisuse) {
  const test::TemporaryFolder folder;
  const auto error = [&](const std::string& entry, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "--fabric", "switch:4", "--workload",
        folder.write("step.toml", "version = 1\nranks = 4\n[[entries]]\ncollective = \"all_reduce\"\n" + entry)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_simulate(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    return outcome.error;
  };
  EXPECT_TRUE(contains(error("bytes = 2"), "step.toml:5: entries[0].bytes: 2 bytes hold no f32"));
  EXPECT_TRUE(contains(error("bytes = 8\nalgorithm = \"rink\""), "step.toml:3: entries[0]: "));
  EXPECT_TRUE(contains(error("bytes = 8\nalgorithm = \"multicast_one_shot\""), "step.toml:3: entries[0]: "));
  EXPECT_TRUE(contains(error("bytes = 8", {"--bytes", "8"}), "--workload: the file says what is called"));
  EXPECT_TRUE(contains(error("bytes = 8", {"--fabric", "switch:3"}), "is of 4 ranks, and switch:3 has 3"));
}

}  // namespace
}  // namespace tutti::cli
