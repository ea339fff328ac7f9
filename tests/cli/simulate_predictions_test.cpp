// SPDX-License-Identifier: Apache-2.0
// What `tutti simulate` predicts of machines that others have measured.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

Outcome simulate(const std::vector<std::string>& arguments) { return call(simulate_command(), arguments); }

// Of a row of CSV by the name of its column.
std::string column_of(const std::string& csv, std::size_t row, const std::string& name) {
  const std::vector<std::string_view> lines = split(csv, '\n');
  const std::vector<std::string_view> names = split(lines.at(0), ',');
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end()
             ? "none"
             : std::string(split(lines.at(row), ',').at(static_cast<std::size_t>(found - names.begin())));
}

double number_of(const std::string& csv, std::size_t row, const std::string& name) {
  return std::stod(column_of(csv, row, name));
}

// A node of GPUs has costs for kernels that load and store, and for both protocols of NCCL.
TEST(Predictions, CostsAreThoseOfTheSchedulesChannel) {
  const auto of = [](const std::string& fabric, const std::string& algorithm, const std::string& bytes) {
    const Outcome said = simulate({"--fabric", fabric, "--collective", "all_reduce", "--algorithm", algorithm,
                                   "--bytes", bytes, "--format", "csv"});
    EXPECT_EQ(said.exit, Exit::done) << said.error;
    return said.out;
  };
  EXPECT_EQ(column_of(of("h100_node:4", "ring", "64K"), 1, "costs"), "ll");
  EXPECT_EQ(column_of(of("h100_node:4", "ring", "64M"), 1, "costs"), "simple");
  EXPECT_EQ(column_of(of("h100_node:4", "one_shot", "64K"), 1, "costs"), "");
  EXPECT_EQ(column_of(of("h100_node:4,costs=ll", "one_shot", "64K"), 1, "costs"), "gpu");
  EXPECT_EQ(column_of(of("h100_node:4,costs=ll", "ring", "64M"), 1, "costs"), "");
  // Messages of so many bytes have never been seen to take less than 10 us there.
  EXPECT_GT(number_of(of("h100_node:4", "bucket_2d", "512K"), 1, "time_us"), 10);
  EXPECT_GT(number_of(of("h100_node:4", "ring_bidirectional", "512K"), 1, "time_us"), 10);
}

TEST(Predictions, PublishedTimesCorrectWhatIsNearThemAndSayHowSureThatIs) {
  const auto of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--collective", "all_reduce", "--algorithm", "one_shot", "--by-name",
                                      "--format",     "csv",        "--bytes",     "4M"};
    words.insert(words.end(), more.begin(), more.end());
    return simulate(words).out;
  };
  // 70 us were published for 6 GPUs.
  const std::string six = of({"--fabric", "h100_node:6"});
  EXPECT_NEAR(number_of(six, 1, "time_us"), 70, 1);
  EXPECT_LT(number_of(six, 1, "low_us"), 70);
  EXPECT_GT(number_of(six, 1, "high_us"), 70);
  const std::string eight = of({"--fabric", "h100_node:8"});
  const auto width = [](const std::string& csv) { return number_of(csv, 1, "high_us") / number_of(csv, 1, "low_us"); };
  EXPECT_GT(width(eight), width(six) * 1.1);
  const std::string bare = of({"--fabric", "h100_node:8", "--no-correction"});
  EXPECT_EQ(number_of(bare, 1, "time_us"), number_of(eight, 1, "simulated_us"));
  EXPECT_EQ(column_of(bare, 1, "low_us"), "");
  // Another machine is another machine.
  EXPECT_EQ(column_of(of({"--fabric", "h100_node:8,bandwidth=1GB/s"}), 1, "low_us"), "");
  EXPECT_EQ(column_of(of({"--fabric", "switch:8"}), 1, "low_us"), "");
}

TEST(Predictions, WhatIsLeftOutMustBeOfFigures) {
  const auto says = [](const std::vector<std::string>& words, const char* what) {
    const Outcome said = simulate(words);
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
