// SPDX-License-Identifier: Apache-2.0
// `tutti record` with programs that call collectives: counts are exact, whichever way a collective is called.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "recorded.hpp"

namespace tutti {

const char* const test::kTuttiProgram = TUTTI_PROGRAM;

namespace {

using Outcome = test::Ended;
using test::counts_of;

class Record : public test::RecordInFolder {};

constexpr const char* kProgram = RECORDED_PROGRAM;

TEST_F(Record, CountsEveryWayOfCallingExactly) {
  const Outcome said = tutti(fmt::format("record -n 3 -- '{}'", kProgram));
  ASSERT_EQ(said.exit, 0) << said.error;
  const Workload recorded = workload();
  EXPECT_EQ(recorded.ranks, 3U);
  const std::map<std::string, std::uint64_t> expected = {
      {"all_reduce 3 8", 1000},     {"broadcast 3 400", 7}, {"all_gather 3 120", 20}, {"all_reduce 3 1200", 10},
      {"reduce_scatter 3 600", 11}, {"barrier 3 0", 3},     {"all_reduce 2 64", 9}};
  EXPECT_EQ(counts_of(recorded), expected);
  for (const WorkloadEntry& each : recorded.entries) {
    EXPECT_GT(each.measured_us, 0) << name_of(each.collective);
    EXPECT_EQ(each.root, each.collective == Collective::broadcast ? 1U : 0U);
    EXPECT_EQ(each.site.starts_with("step+0x"), each.bytes == 8 || each.bytes == 400) << each.site;
  }
  EXPECT_NE(said.error.find("left out 2 sends and receives"), std::string::npos) << said.error;
  EXPECT_NE(said.error.find("wrote workload.toml"), std::string::npos) << said.error;
  EXPECT_EQ(said.error.find("disagree"), std::string::npos) << said.error;
}

TEST_F(Record, LaunchersAndFoldersOfPartsWorkAlike) {
  ASSERT_EQ(tutti(fmt::format("record -o a.toml -- '{}' launch -n 2 -- '{}'", TUTTI_PROGRAM, kProgram)).exit, 0);
  ASSERT_EQ(tutti(fmt::format("launch -n 2 -- '{}'", kProgram), "TUTTI_RECORD=\"$PWD/parts\"").exit, 0);
  const Outcome merged = tutti("record --from parts -o b.toml");
  ASSERT_EQ(merged.exit, 0) << merged.error;
  EXPECT_EQ(counts_of(workload("a.toml")), counts_of(workload("b.toml")));
  EXPECT_EQ(counts_of(workload("a.toml"))["all_reduce 2 8"], 1000U);
  // What is no part, and a part that is cut off, are said and left out.
  folder_.write("parts/x.part.toml", "part_version = 1\nranks =");
  const Outcome damaged = tutti("record --from parts -o c.toml");
  EXPECT_EQ(damaged.exit, 0);
  EXPECT_NE(damaged.error.find("x.part.toml"), std::string::npos) << damaged.error;
  EXPECT_EQ(counts_of(workload("c.toml")), counts_of(workload("b.toml")));
}

TEST_F(Record, ARankThatDiesLeavesTheOthersCounts) {
  const Outcome said = tutti(fmt::format("record -n 3 -- '{}' dies", kProgram));
  EXPECT_NE(said.exit, 0);
  EXPECT_EQ(counts_of(workload())["all_reduce 3 8"], 1000U);
  EXPECT_NE(said.error.find("the program ended with exit status"), std::string::npos) << said.error;
}

TEST_F(Record, MistakesAreSaid) {
  const Outcome nothing = tutti("record -- true");
  EXPECT_EQ(nothing.exit, 1);
  EXPECT_NE(nothing.error.find("It sees collectives of Tutti's library"), std::string::npos) << nothing.error;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("workload.toml")));
  EXPECT_EQ(tutti("record -- ./nowhere").exit, 127);
  EXPECT_NE(tutti("record").error.find("there is no program to run"), std::string::npos);
  EXPECT_NE(tutti("record -n 0 -- true").error.find("-n is '0'"), std::string::npos);
  EXPECT_NE(tutti("record --from nowhere").error.find("cannot read the folder"), std::string::npos);
  EXPECT_NE(tutti("record --no-mpi --from nowhere").error.find("no --no-mpi"), std::string::npos);
  const Outcome several = tutti("record --print-preload -- true");
  EXPECT_EQ(several.exit, 2);
  EXPECT_NE(several.error.find("--print-preload goes with nothing else"), std::string::npos) << several.error;
  EXPECT_NE(tutti("record -o nowhere/w.toml -- true").exit, 0);
  EXPECT_EQ(tutti("record -- sh -c 'exit 7'").exit, 7);
}

// The program runs as if it were not recorded.
TEST_F(Record, AFolderThatCannotBeWrittenIsAWarning) {
  folder_.write("file", "");
  const Outcome said = tutti(fmt::format("launch -n 2 -- '{}'", kProgram), "TUTTI_RECORD=\"$PWD/file\"");
  EXPECT_EQ(said.exit, 0) << said.error;
  EXPECT_NE(said.error.find("TUTTI_RECORD: cannot write"), std::string::npos) << said.error;
}

}  // namespace
}  // namespace tutti
