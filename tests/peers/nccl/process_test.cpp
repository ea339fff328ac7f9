// SPDX-License-Identifier: Apache-2.0
// The whole worker over a fake NCCL and a fake device, run by the program as a user runs it.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../run_json.hpp"

namespace tutti::peers {
namespace {

constexpr const char* kFakes = FAKES "/whole";

// `words` are of the shell.
Outcome tutti(const std::string& words, const std::string& variables = "", const std::string& libraries = kFakes) {
  return run_json(fmt::format("LD_LIBRARY_PATH='{}' {} '{}' {} --json", libraries, variables, TUTTI_PROGRAM, words));
}

constexpr const char* kQuick = " --no-store --budget 1ms --precision 90% --least-samples 1 --timeout 10s";

Outcome run(const std::string& words, const std::string& variables = "", const std::string& libraries = kFakes) {
  return tutti("run --peer nccl " + words + kQuick, variables, libraries);
}

// What is wrong with rows that should all be right.
std::string troubles(const Outcome& outcome, int num_rows) {
  if (!outcome.rows.is_array() || outcome.rows.size() != static_cast<std::size_t>(num_rows))
    return fmt::format("{} rows: {}{}", outcome.rows.size(), outcome.rows.dump(), outcome.error);
  std::string wrong;
  for (const Json& row : outcome.rows)
    if (row["check"] != "ok") wrong += row.dump() + "\n";
  return wrong;
}

TEST(Nccl, AllReducesOfAllTypesAndOperatorsAreRight) {
  EXPECT_EQ(troubles(run("--sync barrier -a num_ranks=1,2,4 -a bytes=8,4K -a "
                         "type=i8,u8,i32,u32,i64,u64,f16,bf16,f8e4m3,f8e5m2,f32,f64 -a in_place=0,1"),
                     3 * 2 * 12 * 2),
            "");
  EXPECT_EQ(troubles(run("--sync barrier -a num_ranks=4 -a bytes=256 -a type=i32,f32 -a "
                         "op=sum,product,maximum,minimum,average"),
                     2 * 5),
            "");
}

TEST(Nccl, TheOtherCollectivesAreRight) {
  const std::string swept = " --sync barrier -a num_ranks=1,2,4 -a bytes=16,4K -a type=f32,u16,f8e5m2";
  EXPECT_EQ(troubles(run("--bench all_gather -a in_place=0,1" + swept), 3 * 2 * 3 * 2), "");
  EXPECT_EQ(troubles(run("--bench broadcast -a root=0 -a in_place=0,1" + swept), 3 * 2 * 3 * 2), "");
  EXPECT_EQ(troubles(run("--bench all_to_all" + swept), 3 * 2 * 3), "");
  const std::string reduced = " --sync barrier -a num_ranks=1,2,4 -a bytes=64,4K -a in_place=0,1 -a op=sum,maximum";
  EXPECT_EQ(troubles(run("--bench reduce_scatter" + reduced), 3 * 2 * 2 * 2), "");
  EXPECT_EQ(troubles(run("--bench reduce" + reduced), 3 * 2 * 2 * 2), "");
  EXPECT_EQ(troubles(run("--bench reduce --sync barrier -a root=1 -a bytes=64"), 1), "");
}

TEST(Nccl, RcclIsTheSameWithOtherNames) {
  const Outcome outcome = tutti(std::string("run --peer rccl --sync barrier -a num_ranks=2 -a bytes=64") + kQuick);
  EXPECT_EQ(troubles(outcome, 1), "");
}

TEST(Nccl, VariablesThatNobodyReadsBackAreUnverifiable) {
  const Outcome outcome =
      tutti(std::string("run --peer rccl --sync barrier -a bytes=64 --env HSA_NO_SCRATCH_RECLAIM=1 "
                        "--env-zip 'RCCL_WARP_SPEED_ENABLE,RCCL_WARP_SPEED_CU_COUNT=[[0,unset],[1,16]]'") +
            kQuick);
  ASSERT_EQ(troubles(outcome, 2), "");
  EXPECT_EQ(outcome.rows[1]["RCCL_WARP_SPEED_CU_COUNT"], "16");
  EXPECT_NE(outcome.rows[1]["note"].dump().find("RCCL_WARP_SPEED_CU_COUNT unverifiable"), std::string::npos);
  EXPECT_NE(outcome.rows[1]["note"].dump().find("HSA_NO_SCRATCH_RECLAIM unverifiable"), std::string::npos);
}

TEST(Nccl, ARowHasTheDevicesTime) {
  const Outcome outcome = run("-a bytes=4K --sync barrier");
  ASSERT_EQ(troubles(outcome, 1), "");
  EXPECT_TRUE(outcome.rows[0]["device_us"].is_number()) << outcome.rows;
  EXPECT_GT(outcome.rows[0]["device_us"], 0);
}

TEST(Nccl, WhatItHasNotGotIsSkipped) {
  const auto skipped = [](const std::string& words, const std::string& why, const std::string& variables = "") {
    const Outcome outcome = run(words, variables);
    ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 1) << outcome.rows << outcome.error;
    EXPECT_EQ(outcome.rows[0]["check"], "skipped") << outcome.rows;
    EXPECT_NE(outcome.rows[0]["note"].dump().find(why), std::string::npos) << outcome.rows;
  };
  skipped("--bench barrier", "NCCL 2.28.9 has no barrier");
  skipped("-a bytes=8 -a type=i16", "NCCL 2.28.9 has no type i16");
  skipped("-a bytes=8 -a type=i32 -a op=bit_and", "NCCL 2.28.9 has no operator bit_and");
  skipped("-a bytes=8 -a type=f8e4m3", "NCCL 2.21.5 has no type f8e4m3", "FAKE_VERSION=22105");
  skipped("--bench all_to_all -a bytes=8 -a in_place=1", "want two buffers");
}

TEST(Nccl, AveragesThatItRoundsAreNotCompared) {
  const Outcome outcome = run("-a num_ranks=3,4 -a bytes=64 -a op=average --sync barrier");
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.error;
  EXPECT_EQ(outcome.rows[0]["check"], "unchecked") << "a third is no float";
  EXPECT_EQ(outcome.rows[1]["check"], "ok");
}

TEST(Nccl, AWrongResultIsNoticed) {
  const Outcome outcome = run("-a bytes=64 --sync barrier", "FAKE_WRONG=1");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.rows[0]["check"], "wrong") << outcome.rows << outcome.error;
  EXPECT_NE(outcome.rows[0]["note"].dump().find("rank 1: element 0 of 16"), std::string::npos) << outcome.rows;
}

TEST(Nccl, EveryCallsErrorIsTold) {
  for (const char* call :
       {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
        "cuStreamSynchronize", "cuEventCreate", "ncclGetUniqueId", "ncclCommInitRank", "ncclAllReduce"}) {
    const Outcome outcome = run("-a num_ranks=1 -a bytes=64 --sync barrier", fmt::format("FAKE_FAIL={}", call));
    EXPECT_EQ(outcome.exit, 1) << call << outcome.error;
    ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 1) << call << outcome.rows << outcome.error;
    EXPECT_EQ(outcome.rows[0]["check"], "error") << call << outcome.rows;
    const std::string note = outcome.rows[0]["note"].dump();
    EXPECT_NE(note.find("told to fail"), std::string::npos) << call << note;
    EXPECT_NE(note.find(call[0] == 'n' ? call : "CUDA cannot"), std::string::npos) << call << note;
  }
}

TEST(Nccl, ADeviceIsForOneRank) {
  const Outcome outcome = run("-a num_ranks=2,3 -a bytes=8 --sync barrier", "FAKE_DEVICES=2");
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_EQ(outcome.rows[0]["check"], "ok") << outcome.rows;
  EXPECT_NE(outcome.rows[1]["note"].dump().find("3 ranks want a device each, and there are 2"), std::string::npos)
      << outcome.rows;
}

// Of a peer that is named and cannot run: nothing is started, and the error has these words.
void expect_refused(const std::string& variables, const std::string& libraries, const std::string& words) {
  const Outcome outcome = run("-a bytes=8", variables, libraries);
  EXPECT_EQ(outcome.exit, 2) << outcome.error;
  EXPECT_NE(outcome.error.find(words), std::string::npos) << outcome.error;
}

TEST(Nccl, WhatIsMissingIsSaidBeforeAnythingStarts) {
  expect_refused("", FAKES "/half", "peer nccl cannot run here: libnccl.so.2 has no ncclGetUniqueId");
  expect_refused("FAKE_VERSION=2708", kFakes, "NCCL 2.7.8 is too old; 2.10.0 or later");
  expect_refused("FAKE_DEVICES=0", kFakes, "there is no CUDA device");
  expect_refused("FAKE_FAIL=cuInit", kFakes, "CUDA cannot start: told to fail (2)");
  expect_refused("", FAKES "/no_driver", "file too short); it comes with NVIDIA's driver");
}

TEST(Nccl, IsListedWithWhatThereIs) {
  const auto about = [](const std::string& variables) {
    const Outcome outcome = tutti("list peers", variables);
    for (const Json& row : outcome.rows)
      if (row["peer"] == "nccl") return row;
    return Json();
  };
  EXPECT_EQ(about("")["about"], "NCCL 2.28.9, 4 devices (fake device)");
  EXPECT_EQ(about("")["here"], true);
  EXPECT_EQ(about("FAKE_DEVICES=0")["here"], false);
  EXPECT_NE(about("FAKE_DEVICES=0")["about"].dump().find("there is no CUDA device"), std::string::npos);
  const Outcome all = tutti("run --peer all --dry-run -a bytes=8", "FAKE_DEVICES=0");
  EXPECT_EQ(all.exit, 0) << all.error;
}

TEST(Nccl, ItsAlgorithmsAreASweep) {
  const Outcome outcome = run("-a algorithm=default,tree_ll,nvls -a bytes=8,64 --env NCCL_MIN_CTAS=2 --sync barrier");
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 6) << outcome.rows << outcome.error;
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(outcome.rows[row]["algorithm"], row < 2 ? "default" : "tree_ll");
    EXPECT_EQ(outcome.rows[row]["check"], "ok") << outcome.rows[row];
    EXPECT_EQ(outcome.rows[row]["note"].dump().find("unverifiable"), std::string::npos) << "all are confirmed";
    EXPECT_FALSE(outcome.rows[row].contains("NCCL_ALGO")) << "the name stands for it";
  }
  EXPECT_EQ(outcome.exit, 0) << "what it refuses is no failure";
  EXPECT_EQ(outcome.rows[4]["check"], "skipped");
  EXPECT_NE(outcome.rows[4]["note"].dump().find("no algorithm/protocol available"), std::string::npos);
}

TEST(Nccl, AlgorithmsOfEveryCollectiveAreConfirmed) {
  for (const char* bench : {"all_gather", "reduce"}) {
    const Outcome outcome =
        run(fmt::format("--bench {} -a algorithm=ring_ll,ring_simple -a bytes=64 --sync barrier", bench));
    ASSERT_EQ(troubles(outcome, 2), "");
    for (const Json& row : outcome.rows) EXPECT_EQ(row["note"].dump().find("unverifiable"), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace tutti::peers
