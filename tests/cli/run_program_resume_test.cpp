// SPDX-License-Identifier: Apache-2.0
// Sweeps and comparisons of programs that are interrupted and resumed, as a user calls them.
#include <string>

#include <gtest/gtest.h>

#include "run_program.hpp"

namespace tutti {
namespace {

TEST_F(RunProgram, AnInterruptedSweepGoesOnWhereItStopped) {
  write_program("p",
                "echo $A >>started\n"
                "test $A = 2 && ! test -e mark && { touch mark; kill -INT $PPID; sleep 1000; }\n"
                "echo took $A; echo took 1$A\n");
  const std::string sweep = "--env A=1,2,3 --read 'regex:took (?<time_us>.*)' -- ./p";
  const Outcome first = tutti("run " + sweep);
  EXPECT_EQ(first.exit, 130);
  EXPECT_NE(first.error.find("interrupted: 1 of 3 cases is done and kept"), std::string::npos) << first.error;
  const Outcome second = tutti("run --resume --json " + sweep);
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_NE(second.error.find("1 of them are done already"), std::string::npos) << second.error;
  EXPECT_EQ(second.rows().size(), 6U);
  EXPECT_EQ(folder_.read("started"), "1\n2\n2\n3\n");
}

TEST_F(RunProgram, ACaseThatCrashedBehindItsFirstRowsIsResumed) {
  write_program("p",
                "echo $A >>started\n"
                "n=$(wc -l <started)\n"
                "test $n = 2 && { kill -INT $PPID; sleep 1000; }\n"
                "echo took $A; test $n = 1 && exit 3\n"
                "echo took 1$A\n");
  const std::string sweep = "run --resume --json --env A=1,2 --read 'regex:took (?<time_us>.*)' -- ./p";
  EXPECT_EQ(tutti(sweep).exit, 130);
  ASSERT_EQ(tutti("show last --json").rows().size(), 2U) << "a row and the error";
  const Outcome second = tutti(sweep);
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_EQ(second.error.find("are done already"), std::string::npos) << second.error;
  EXPECT_EQ(folder_.read("started"), "1\n2\n1\n2\n");
  ASSERT_EQ(second.rows().size(), 4U) << second.out;
  for (const Json& row : second.rows()) EXPECT_TRUE(row["time_us"].is_number()) << row;
}

TEST_F(RunProgram, AComparedCaseThatIsRunAgainKeepsNoRowOfTheFirstTime) {
  write_program("p",
                "echo $X >>started\n"
                "n=$(wc -l <started)\n"
                "test $n = 3 && { kill -INT $PPID; sleep 1000; }\n"
                "echo took $X\n"
                "test $n -le 2 && echo took 1$X\n"
                "test $n -gt 2 || test $X = 16\n");
  const std::string settings = "compare --resume --launches 2 --env X=16,32 --read 'regex:took (?<time_us>.*)' -- ./p";
  EXPECT_EQ(tutti(settings).exit, 130);
  EXPECT_EQ(tutti("show last --json").rows().size(), 5U) << "two rows each, and the error";
  const Outcome second = tutti(settings);
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_EQ(folder_.read("started").size(), 3U * (3 + 4));
  const Json rows = tutti("show last --json").rows();
  ASSERT_EQ(rows.size(), 2U) << rows;
  for (const Json& row : rows) EXPECT_EQ(row["samples"], 2) << "a launch each: " << row;
}

TEST_F(RunProgram, ResumeStartsContinuesOrShowsARun) {
  write_program("p", "echo $A >>started; echo took $A\n");
  const std::string sweep = "run --resume --json --env A=1,2 --read 'regex:took (?<time_us>.*)' -- ./p";
  const Outcome first = tutti(sweep);
  EXPECT_EQ(first.exit, 0) << first.error;
  EXPECT_EQ(first.rows().size(), 2U);
  const Outcome second = tutti(sweep);
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_EQ(second.out, first.out);
  EXPECT_NE(second.error.find("run 1 has all of its 2 cases already"), std::string::npos) << second.error;
  EXPECT_EQ(folder_.read("started"), "1\n2\n");
}

TEST_F(RunProgram, SettingsOfAProgramAreComparedInTurns) {
  write_program("p", "echo $X >>started; test $X = 32 && echo took 10 || echo took 20\n");
  const std::string settings = "--env X=16,32 --json --read 'regex:took (?<time_us>.*)' -- ./p";
  const Outcome outcome = tutti("compare " + settings);
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  const Json rows = outcome.rows();
  ASSERT_EQ(rows.size(), 1U) << outcome.out;
  EXPECT_EQ(rows[0]["X=16_us"], 20.0);
  EXPECT_EQ(rows[0]["X=32_us"], 10.0);
  EXPECT_EQ(rows[0]["X=32_verdict"], "faster");
  EXPECT_EQ(rows[0]["X=32_interval"], "2.000-2.000");
  EXPECT_EQ(rows[0]["launches"], 8);
  // Each launch has both, and not all in the same order.
  const std::string started = folder_.read("started");
  ASSERT_EQ(started.size(), 8U * 6) << started;
  int num_swapped = 0;
  for (std::size_t launch = 0; launch < 7; ++launch) {
    const std::string pair = started.substr(launch * 6, 6);
    EXPECT_TRUE(pair == "16\n32\n" || pair == "32\n16\n") << started;
    num_swapped += pair == "32\n16\n" ? 1 : 0;
  }
  EXPECT_GT(num_swapped, 0);
  EXPECT_LT(num_swapped, 7);
  const Outcome once = tutti("compare --launches 1 --no-store " + settings);
  EXPECT_EQ(once.exit, 0) << once.error;
  EXPECT_EQ(once.rows()[0]["X=32_verdict"], "undecided");
  EXPECT_NE(once.error.find("1 launch: no interval over launches and so no verdict; a verdict needs 6 or more"),
            std::string::npos)
      << once.error;
  EXPECT_EQ(tutti("compare --launches 1 --fail-on slower:3% " + settings).exit, 2);
  EXPECT_EQ(tutti("compare --env X=16 -- ./p").exit, 2);
  EXPECT_EQ(tutti("compare --env X=16,32 --").exit, 2);
  EXPECT_EQ(tutti("compare --env X=16,32 --ignore X -- ./p").exit, 2);
}

TEST_F(RunProgram, AnInterruptedComparisonOfSettingsGoesOn) {
  write_program("p",
                "echo $X >>started\n"
                "test $(wc -l <started) = 4 && { kill -INT $PPID; sleep 1000; }\n"
                "echo took $X\n");
  const std::string settings = "--launches 6 --env X=16,32 --json --read 'regex:took (?<time_us>.*)' -- ./p";
  const Outcome first = tutti("compare --resume " + settings);
  EXPECT_EQ(first.exit, 130);
  EXPECT_NE(first.error.find("interrupted: 2 of 12 cases are done and kept"), std::string::npos) << first.error;
  EXPECT_EQ(first.rows()[0]["X=32_verdict"], "undecided");
  const Outcome second = tutti("compare --resume " + settings);
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_NE(second.error.find("2 of them are done already"), std::string::npos) << second.error;
  EXPECT_EQ(second.rows()[0]["X=32_verdict"], "slower");
  EXPECT_EQ(folder_.read("started").size(), 3U * (4 + 10));
}

}  // namespace
}  // namespace tutti
