// SPDX-License-Identifier: Apache-2.0
// What `tutti simulate` predicts of machines that others have measured.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

Outcome simulate_there(const std::vector<std::string>& arguments) { return call(simulate_command(), arguments); }

using Json = nlohmann::json;

// The first row of what is asked for.
Json row_of(std::vector<std::string> words) {
  words.emplace_back("--json");
  const Outcome said = simulate_there(words);
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  return Json::parse(said.out).at(0);
}

// A node of GPUs has costs for kernels that load and store, and for both protocols of NCCL.
TEST(Predictions, CostsAreThoseOfTheSchedulesChannel) {
  const auto of = [](const char* fabric, const char* algorithm, const char* bytes) {
    return row_of({"--fabric", fabric, "--collective", "all_reduce", "--algorithm", algorithm, "--bytes", bytes});
  };
  EXPECT_EQ(of("h100_node:4", "ring", "64K")["costs"], "ll");
  EXPECT_EQ(of("h100_node:4", "ring", "64M")["costs"], "simple");
  EXPECT_TRUE(of("h100_node:4", "one_shot", "64K")["costs"].is_null());
  EXPECT_EQ(of("h100_node:4,costs=ll", "one_shot", "64K")["costs"], "gpu");
  EXPECT_TRUE(of("h100_node:4,costs=ll", "ring", "64M")["costs"].is_null());
  // Messages of so many bytes have never been seen to take less than 10 us there.
  EXPECT_GT(of("h100_node:4", "bucket_2d", "512K")["time_us"], 10);
  EXPECT_GT(of("h100_node:4", "ring_bidirectional", "512K")["time_us"], 10);
}

TEST(Predictions, PublishedTimesCorrectWhatIsNearThemAndSayHowSureThatIs) {
  const auto of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--collective", "all_reduce", "--algorithm", "one_shot",
                                      "--by-name",    "--bytes",    "4M"};
    words.insert(words.end(), more.begin(), more.end());
    return row_of(words);
  };
  // 70 us were published for 6 GPUs.
  const Json six = of({"--fabric", "h100_node:6"});
  EXPECT_NEAR(six["time_us"].get<double>(), 70, 1);
  EXPECT_LT(six["low_us"].get<double>(), 70);
  EXPECT_GT(six["high_us"].get<double>(), 70);
  const Json eight = of({"--fabric", "h100_node:8"});
  const auto width = [](const Json& row) { return row["high_us"].get<double>() / row["low_us"].get<double>(); };
  EXPECT_GT(width(eight), width(six) * 1.1);
  const Json bare = of({"--fabric", "h100_node:8", "--no-correction"});
  EXPECT_EQ(bare["time_us"].get<double>(), eight["simulated_us"].get<double>());
  EXPECT_TRUE(bare["low_us"].is_null());
  // Another machine is another machine.
  EXPECT_TRUE(of({"--fabric", "h100_node:8,bandwidth=1GB/s"})["low_us"].is_null());
  EXPECT_TRUE(of({"--fabric", "switch:8"})["low_us"].is_null());
}

TEST(Predictions, WhatIsLeftOutMustBeOfFigures) {
  const auto says = [](const std::vector<std::string>& words, const char* what) {
    const Outcome said = simulate_there(words);
    EXPECT_EQ(said.exit, Exit::misused);
    EXPECT_TRUE(contains(said.error, what)) << said.error;
  };
  const std::string file = TUTTI_SOURCE_DIR "/data/references/bidirectional_all_gather.toml";
  says({"--fabric", "switch:4", "--leave-out", "ranks"}, "--leave-out is of the figures of --against");
  says({"--against", file, "--leave-out", "colours"}, "'colours' is not ranks or sizes");
  says({"--against", file, "--leave-out", "ranks"}, "has nothing to leave out");
  says({"--against", file, "--leave-out", "ranks", "--figure", "x.svg"}, "draws no figure");
}

}  // namespace
}  // namespace tutti::cli
