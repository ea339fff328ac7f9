// SPDX-License-Identifier: Apache-2.0
// A peer that goes wrong costs its own cases: each has a row that says how, and the others come out right.
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_json.hpp"

namespace tutti::peers {
namespace {

// One group that is told to misbehave, and one that is not.
Outcome run(const std::string& variable, const std::string& value, const std::string& bench = "barrier",
            const std::string& limit = "1s") {
  return run_json(fmt::format(
      "'{}' run --bench {} --peer null --env {}={},unset --sync meeting --no-store --json --budget 50ms --timeout {} "
      "--start-timeout 10s",
      TUTTI_PROGRAM, bench, variable, value, limit));
}

struct Deed {
  const char* variable;
  const char* value;
  const char* words;  // of the row's note
};

class Misbehaviour : public ::testing::TestWithParam<Deed> {};

TEST_P(Misbehaviour, CostsItsOwnCaseAndIsTold) {
  const Deed& deed = GetParam();
  const Outcome outcome = run(deed.variable, deed.value);
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_EQ(outcome.rows[0]["check"], "error") << outcome.rows[0];
  EXPECT_NE(outcome.rows[0]["note"].dump().find(deed.words), std::string::npos) << outcome.rows[0];
  EXPECT_EQ(outcome.rows[1]["check"], "unchecked") << outcome.rows[1];
  EXPECT_TRUE(outcome.rows[1]["time_us"].is_number());
}

INSTANTIATE_TEST_SUITE_P(Each, Misbehaviour,
                         ::testing::Values(Deed{"TUTTI_NULL_CRASH", "1@3", "rank 1 was killed by signal"},
                                           Deed{"TUTTI_NULL_HANG", "1@3", "has not answered within 1s"},
                                           Deed{"TUTTI_NULL_EXIT", "1", "rank 1"},
                                           Deed{"TUTTI_NULL_RANK", "1", "says that it is rank 1"},
                                           Deed{"TUTTI_NULL_TWICE", "1", "rank 1"},
                                           Deed{"TUTTI_NULL_GARBAGE", "1", "no JSON object"},
                                           Deed{"TUTTI_NULL_OVERSIZED", "1", "was announced"},
                                           Deed{"TUTTI_NULL_SILENT", "1", "has not answered within 1s"}),
                         [](const auto& each) { return std::string(each.param.variable).substr(11); });

TEST(NullPeer, AWrongResultIsAWrongRow) {
  const Outcome outcome = run("TUTTI_NULL_WRONG", "1", "all_reduce -a bytes=64");
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.rows[0]["check"], "wrong");
  EXPECT_NE(outcome.rows[0]["note"].dump().find("expected"), std::string::npos) << outcome.rows[0];
}

TEST(NullPeer, AStrangerIsShownOutAndTold) {
  const Outcome outcome = run("TUTTI_NULL_STRANGER", "0");
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
  EXPECT_NE(outcome.rows[0]["note"].dump().find("1 connection without the token was turned away"), std::string::npos);
  EXPECT_EQ(outcome.rows[1]["note"].dump().find("token"), std::string::npos) << outcome.rows[1];
}

TEST(NullPeer, ConnectionsThatSayNothingKeepNobodyOut) {
  const Outcome outcome = run("TUTTI_NULL_CROWDED", "1");
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
}

// The others wait for a rank that has failed; the limit is not waited for, and the reason is told.
TEST(NullPeer, ARankThatFailsAloneEndsTheGroupWithItsWords) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run("TUTTI_NULL_FAIL", "1@50", "barrier", "60s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_NE(outcome.rows[0]["note"].dump().find("rank 1: the body threw: failed as it is told"), std::string::npos)
      << outcome.rows[0];
  EXPECT_EQ(outcome.rows[1]["check"], "unchecked") << outcome.rows[1];
}

TEST(NullPeer, HowLongABackendTakesToBeginIsTheStartsAffair) {
  const Outcome outcome = run("TUTTI_NULL_BEGIN", "1500ms");
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
}

TEST(NullPeer, EveryLauncherGivesItsRanksTheirPlaces) {
  for (const char* variable : {"RANK", "BENCH_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) ::setenv(variable, "7", 1);
  for (const char* variable : {"WORLD_SIZE", "BENCH_NUM_RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    ::setenv(variable, "99", 1);
  for (const char* launcher : {"local", "mpirun.openmpi", "mpirun.mpich"}) {
    const Outcome outcome = run("TUTTI_NULL_CRASH", "1@3", fmt::format("barrier --launcher {}", launcher));
    if (outcome.error.find("there is no mpirun") != std::string::npos) continue;
    ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
    EXPECT_EQ(outcome.rows[0]["check"], "error") << launcher << ": rank 1 does not know that it is";
    EXPECT_EQ(outcome.rows[1]["check"], "unchecked") << launcher << outcome.rows[1];
  }
}

}  // namespace
}  // namespace tutti::peers
