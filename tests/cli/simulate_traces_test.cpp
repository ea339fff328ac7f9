// SPDX-License-Identifier: Apache-2.0
// `tutti schedule --format goal`, and `tutti simulate` of traces, as a user calls them.
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

Outcome simulated(std::vector<std::string> arguments) { return call(simulate_command(), std::move(arguments)); }

class Traces : public testing::Test {
 protected:
  // The rows of a call in JSON.
  static nlohmann::json rows(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = simulated(std::move(arguments));
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Traces, AScheduleAsGoalTakesTheTimeOfItsAlgorithm) {
  const std::string path = folder_.file("ring.goal");
  const Outcome written = call(schedule_command(), {"--algorithm", "ring", "--collective", "all_reduce", "--format",
                                                    "goal", "--bytes", "1M", "--fabric", "torus_2d:4x2", "-o", path});
  ASSERT_EQ(written.exit, Exit::done) << written.error;
  const nlohmann::json trace = rows({"--fabric", "torus_2d:4x2", "--fabric", "switch:9", "--file", path});
  const nlohmann::json itself =
      rows({"--fabric", "torus_2d:4x2", "--algorithm", "ring", "--collective", "all_reduce", "--bytes", "1M"});
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_EQ(trace[0]["time_us"], itself[0]["time_us"]);
  EXPECT_EQ(trace[0]["ranks"], 8) << "all of --fabric";
  EXPECT_EQ(trace[0]["messages"], itself[0]["messages"]);
  EXPECT_EQ(trace[0]["bytes"], 14 << 20U);
  EXPECT_EQ(trace[0]["file"], path);
  EXPECT_EQ(trace[1]["fabric"], "switch:9");
  EXPECT_NE(trace[1]["time_us"], trace[0]["time_us"]);
}

TEST_F(Traces, GoalNeedsASizeAndMessages) {
  const auto error = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--collective", "all_reduce"});
    return call(schedule_command(), arguments).error;
  };
  EXPECT_TRUE(contains(error({"--algorithm", "ring", "--format", "goal"}), "say --bytes SIZE"));
  EXPECT_TRUE(contains(error({"--algorithm", "ring", "--bytes", "8"}), "--bytes and --fabric are of --format goal"));
  EXPECT_TRUE(
      contains(error({"--algorithm", "ring", "--format", "goal", "--bytes", "2"}), "--bytes: 2 bytes hold no f32"));
  EXPECT_TRUE(contains(error({"--algorithm", "one_shot", "--format", "goal", "--bytes", "8"}),
                       "GOAL has messages, and no access to other ranks' memory"));
  EXPECT_TRUE(
      contains(error({"--algorithm", "ring", "--format", "goal", "--bytes", "8", "-n", "4", "--fabric", "switch:3"}),
               "--fabric: switch:3 has 3 ranks; the schedule is for 4"));
}

constexpr const char* kPing =
    "num_ranks 2\nrank 0 {\nl1: calc 500\nl2: send 100b to 1 tag 4\nl2 requires l1\n}\nrank 1 {\nl1: recv 100b from 0 "
    "tag "
    "4\n}\n";

TEST_F(Traces, ATranscriptHasTheOperationsOfTheFile) {
  const Outcome outcome = simulated({"--fabric", "ring_1d:2,latency=1us,bandwidth=100GB/s", "--file",
                                     folder_.write("ping.txt", kPing), "--transcript"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(outcome.out,
            "  ns  rank  what happens\n"
            "   0  0.0   begins l1: calc 500 (line 3)\n"
            " 500  0.0   ends l1: calc 500 (line 3)\n"
            " 500  0.0   does l2: send 100b to 1 tag 4 (line 4)\n"
            " 500  0     message to 1: 100 B leave\n"
            " 500  0     is done\n"
            "1501  1     message from 0: 100 B are here\n"
            "1501  1.0   does l1: recv 100b from 0 tag 4 (line 8)\n"
            "1501  1     is done\n");
}

TEST_F(Traces, MistakesAreMisuse) {
  const std::string ping = folder_.write("ping.goal", kPing);
  const auto error = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = simulated(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_EQ(outcome.out, "");
    return outcome.error;
  };
  const std::string wrong = folder_.write("wrong.goal", "num_ranks 1\nrank 0 {\nsend 1b to 0\n}\n");
  EXPECT_TRUE(
      contains(error({"--fabric", "switch:2", "--file", wrong}), wrong + ":3: found rank 0's send 1b to 0 tag 0"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:1", "--file", ping}), "is of 2 ranks, and switch:1 has 1"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:2", "--file", ping, "--bytes", "8"}), "a trace says all"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:2", "--file", ping, "--file", ping, "--transcript"}),
                       "--transcript: it is of one trace on one fabric"));
  EXPECT_TRUE(contains(
      error({"--fabric", "switch:4", "--file", ping, "--file", TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched"}),
      "some are schedules and some traces"));
  EXPECT_TRUE(contains(call(prove_command(), {"--file", ping}).error, "is a trace in GOAL"));
}

}  // namespace
}  // namespace tutti::cli
