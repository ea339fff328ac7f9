// SPDX-License-Identifier: Apache-2.0
// Workload files: what they say, and mistakes with file, line and key.
#include "workload/workload.hpp"

#include <random>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::string_view kWhole = R"toml(version = 1
about = "two calls"
ranks = 4

[[entries]]
collective = "all_gather"
count = 10
type = "f64"
calls = 1000
compute_us = 2.5
site = "train.py:12"

[[entries]]
collective = "broadcast"
bytes = "2K"
root = 3
algorithm = "knomial(4)"

[[entries]]
collective = "barrier"
)toml";

TEST(Workload, SaysWhatIsCalled) {
  const Result<Workload> read = read_workload(kWhole, "w.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->about, "two calls");
  EXPECT_EQ(read->ranks, 4U);
  ASSERT_EQ(read->entries.size(), 3U);
  const WorkloadEntry& first = read->entries[0];
  EXPECT_EQ(first.collective, Collective::all_gather);
  EXPECT_EQ(first.bytes, 10U * 8 * 4) << "the blocks of all ranks";
  EXPECT_EQ(first.type, Type::f64);
  EXPECT_EQ(first.calls, 1000U);
  EXPECT_EQ(first.compute_us, 2.5);
  EXPECT_EQ(first.site, "train.py:12");
  EXPECT_EQ(first.algorithm, "");
  EXPECT_EQ(first.place, "w.toml:5: entries[0]");
  const WorkloadEntry& second = read->entries[1];
  EXPECT_EQ(second.bytes, 2048U);
  EXPECT_EQ(second.type, Type::f32);
  EXPECT_EQ(second.root, 3U);
  EXPECT_EQ(second.calls, 1U);
  EXPECT_EQ(second.algorithm, "knomial(4)");
  EXPECT_EQ(read->entries[2].bytes, 0U);
}

std::string problem_of(std::string_view text) {
  const Result<Workload> read = read_workload(text, "w.toml");
  return read.ok() ? "none" : std::string(read.status().message());
}

TEST(Workload, MistakesHaveFileLineAndKey) {
  struct Mistake {
    std::string_view entry;
    std::string_view message;
  };
  const Mistake mistakes[] = {
      {"bytes = 8", "w.toml:3: entries[0]: it has no collective"},
      {"collective = \"all_reduse\"\nbytes = 8",
       "w.toml:4: entries[0].collective: there is no 'all_reduse'; there are all_reduce, all_gather and others ('tutti "
       "algorithms' lists them)"},
      {"collective = \"all_reduce\"", "w.toml:3: entries[0]: it has neither bytes nor count"},
      {"collective = \"all_reduce\"\nbytes = 8\ncount = 2",
       "w.toml:6: entries[0].count: there are bytes as well; say one of the two"},
      {"collective = \"all_reduce\"\nbytes = -1",
       "w.toml:5: entries[0].bytes: this is -1; write a whole number from 0 on, or a size such as \"25M\""},
      {"collective = \"all_reduce\"\nbytes = 2.5",
       "w.toml:5: entries[0].bytes: this is a number; write a whole number from 0 on, or a size such as \"25M\""},
      {"collective = \"all_gather\"\nbytes = 12",
       "w.toml:5: entries[0].bytes: 12 bytes hold no f32 for each of 4 ranks"},
      {"collective = \"all_gather\"\nbytes = 9000000000000000000",
       "w.toml:5: entries[0].bytes: 9000000000000000000 is too many; 1125899906842624 is the most"},
      {"collective = \"all_gather\"\ncount = 1125899906842624",
       "w.toml:5: entries[0].count: 1125899906842624 is too many; 70368744177664 is the most"},
      {"collective = \"barrier\"\nbytes = 8", "w.toml:5: entries[0].bytes: a barrier moves nothing; leave it out"},
      {"collective = \"all_reduce\"\nbytes = 8\nroot = 1", "w.toml:6: entries[0].root: all_reduce has none"},
      {"collective = \"broadcast\"\nbytes = 8\nroot = 4", "w.toml:6: entries[0].root: 4 is not 0 to 3"},
      {"collective = \"all_reduce\"\nbytes = 8\ncalls = 0", "w.toml:6: entries[0].calls: 0 is too few; 1 is the least"},
      {"collective = \"all_reduce\"\nbytes = 8\ncompute_us = -1", "w.toml:6: entries[0].compute_us: -1 is below 0"},
      {"collective = \"all_reduce\"\nbytes = 8\nmeasured_us = -1", "w.toml:6: entries[0].measured_us: -1 is below 0"},
      {"collective = \"all_reduce\"\nbytes = 8\nranks = 5", "w.toml:6: entries[0].ranks: 5 is not 0 to 4"},
      {"collective = \"all_reduce\"\nbytes = 8\nranks = 0", "w.toml:6: entries[0].ranks: 0 is too few; 1 is the least"},
      {"collective = \"all_gather\"\nbytes = 8\nranks = 3",
       "w.toml:5: entries[0].bytes: 8 bytes hold no f32 for each of 3 ranks"},
      {"collective = \"all_reduce\"\nbytes = 8\nsize = 1",
       "w.toml:6: entries[0].size: there is no such key; the nearest that is known is 'site'; there are collective, "
       "ranks, bytes, count, type, root, calls, compute_us, measured_us, site, algorithm"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(problem_of(fmt::format("version = 1\nranks = 4\n[[entries]]\n{}\n", mistake.entry)), mistake.message);
  EXPECT_EQ(problem_of("version = 2\nranks = 4\n"), "w.toml:1: version: this is 2; 1 is known");
  EXPECT_EQ(problem_of("version = 1\n"), "w.toml:1: ranks: it is missing; write how many there are");
  EXPECT_EQ(problem_of("version = 1\nranks = 4\n"), "w.toml:1: entries: there are none; write [[entries]]");
  EXPECT_EQ(problem_of("version = 1\nranks = 4\nentries = 3\n"),
            "w.toml:3: entries: this is a whole number; write tables, each under [[entries]]");
}

TEST(Workload, ChangedAnywhereItIsReadOrRefused) {
  ASSERT_EQ(problem_of(kWhole), "none");
  std::mt19937 random(20261125);
  constexpr std::string_view kBytes = "019\"=[].\n -x\xff";
  int refused = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::string text(kWhole);
    text[random() % text.size()] = kBytes[random() % kBytes.size()];
    const std::string problem = problem_of(text);
    refused += problem == "none" ? 0 : 1;
    EXPECT_TRUE(problem == "none" || problem.starts_with("w.toml:")) << text << problem;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tutti
