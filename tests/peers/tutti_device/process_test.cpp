// SPDX-License-Identifier: Apache-2.0
// The whole worker over a fake device and a stand-in for Tutti on it, run by the program as a user runs it.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../../base/temporary_folder.hpp"
#include "../run_json.hpp"

namespace tutti::peers {
namespace {

// Beside the worker that has the stand-in. The program looks for workers from where it is itself: no symbolic link.
class ProgramWithFakes {
 public:
  ProgramWithFakes() : path_(fmt::format("{}/tutti-{}", FAKES, ::getpid())) {
    std::filesystem::create_hard_link(TUTTI_PROGRAM, path_);
  }
  ~ProgramWithFakes() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  ProgramWithFakes(const ProgramWithFakes&) = delete;
  ProgramWithFakes& operator=(const ProgramWithFakes&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};
const std::string& program_with_fakes() {
  static const ProgramWithFakes program;
  return program.path();
}

// `words` are of the shell.
Outcome tutti(const std::string& words, const std::string& variables = "",
              const std::string& libraries = FAKE_LIBRARIES, const std::string& program = program_with_fakes()) {
  return run_json(fmt::format("LD_LIBRARY_PATH='{}' {} '{}' {}", libraries, variables, program, words));
}

constexpr const char* kQuick =
    " --no-store --budget 1ms --precision 90% --least-samples 1 --timeout 10s --sync barrier";

Outcome run(const std::string& words, const std::string& variables = "") {
  return tutti("run --json --peer tutti_device " + words + kQuick, variables);
}

// What is wrong with rows that should all be right.
std::string troubles(const Outcome& outcome, std::size_t num_rows) {
  if (!outcome.rows.is_array() || outcome.rows.size() != num_rows) return outcome.rows.dump() + outcome.error;
  std::string wrong;
  for (const Json& row : outcome.rows)
    if (row["check"] != "ok") wrong += row.dump() + "\n";
  return wrong;
}

bool has(const Json& field, const std::string& words) { return field.dump().find(words) != std::string::npos; }

TEST(TuttiDevice, ResultsOfAllCollectivesAreRightInBothMemories) {
  const std::string swept = " -a num_ranks=1,2,4 -a bytes=64,4K --env BENCH_MEMORY=ordinary,symmetric";
  for (const char* bench : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"})
    EXPECT_EQ(troubles(run(fmt::format("--bench {} -a in_place=0,1{}", bench, swept)), 24), "") << bench;
  EXPECT_EQ(troubles(run("--bench all_to_all" + swept), 12), "");
  EXPECT_EQ(troubles(run("--bench reduce -a root=1 -a bytes=64 -a type=f16,i8,f64"), 3), "");
}

TEST(TuttiDevice, ARowHasTheDevicesTimeAndWhatRan) {
  const Outcome outcome = run("-a bytes=4K --env BENCH_MEMORY=symmetric");
  ASSERT_EQ(troubles(outcome, 1), "");
  EXPECT_GT(outcome.rows[0]["device_us"], 0) << outcome.rows;
  EXPECT_TRUE(has(outcome.rows, "all_reduce one_shot (the first that can)")) << outcome.rows;
  EXPECT_TRUE(has(outcome.rows, "fake device")) << outcome.rows;
  EXPECT_FALSE(has(outcome.rows, "in turns"));
}

TEST(TuttiDevice, EveryAlgorithmIsForcedOrSkipped) {
  const Outcome symmetric = run("-a algorithm=default,all -a bytes=64 --env BENCH_MEMORY=symmetric");
  EXPECT_EQ(troubles(symmetric, 5), "");
  EXPECT_TRUE(has(symmetric.rows, "two_shot_pull (asked for)")) << symmetric.rows;
  const Outcome ordinary = run("-a algorithm=two_shot -a bytes=64");
  ASSERT_TRUE(ordinary.rows.is_array() && ordinary.rows.size() == 1) << ordinary.error;
  EXPECT_EQ(ordinary.rows[0]["check"], "skipped");
  EXPECT_TRUE(has(ordinary.rows, "two_shot wants symmetric memory")) << ordinary.rows;
}

TEST(TuttiDevice, WhatIsNotThereIsSkipped) {
  const Outcome outcome = run("--bench scan -a bytes=64");
  EXPECT_EQ(outcome.rows[0]["check"], "skipped") << outcome.error;
  EXPECT_TRUE(has(outcome.rows, "Tutti has no scan on devices")) << outcome.rows;
}

TEST(TuttiDevice, RanksShareADeviceOnlyIfAsked) {
  const Outcome refused = run("-a num_ranks=3 -a bytes=64", "FAKE_DEVICES=2");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(has(refused.rows, "3 ranks need a device each, and there are 2; BENCH_DEVICES=shared")) << refused.rows;
  const Outcome shared = run("-a num_ranks=3 -a bytes=64", "FAKE_DEVICES=2 BENCH_DEVICES=shared");
  EXPECT_EQ(troubles(shared, 1), "");
  EXPECT_TRUE(has(shared.rows, "2 processes share a device and run in turns")) << shared.rows;
}

TEST(TuttiDevice, ErrorsAreTold) {
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuMemAlloc_v2", "cuMemcpyHtoD_v2", "cuStreamSynchronize"}) {
    const Outcome outcome = run("-a num_ranks=1 -a bytes=64", fmt::format("FAKE_FAIL={}", call));
    EXPECT_EQ(outcome.rows[0]["check"], "error") << call << outcome.rows;
    EXPECT_TRUE(has(outcome.rows, "CUDA cannot")) << call << outcome.rows;
  }
  const Outcome late = run("-a num_ranks=2 -a bytes=64", "FAKE_LATE_FAULT=1");
  EXPECT_EQ(late.rows[0]["check"], "error") << late.rows;
  EXPECT_TRUE(has(late.rows, "the device has ended it")) << late.rows;
}

TEST(TuttiDevice, WhatIsMissingIsSaidBeforeAnythingStarts) {
  const auto refused = [](const Outcome& outcome, const std::string& words) {
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.error.find(words), std::string::npos) << outcome.error;
  };
  refused(run("-a bytes=8", "FAKE_NO_CUDA=1"),
          "peer tutti_device cannot run here: this libtutti was built without CUDA");
  refused(run("-a bytes=8", "FAKE_DEVICES=0"), "there is no CUDA device");
  // The worker as it is built.
  const Outcome real = tutti("run --json --peer tutti_device -a bytes=8", "", NO_DRIVER, TUTTI_PROGRAM);
  refused(real, HAS_CUDA ? "it comes with NVIDIA's driver" : "this libtutti was built without CUDA");
}

TEST(TuttiDevice, IsListedWithWhatThereIs) {
  int found = 0;
  for (const Json& row : tutti("list peers --json").rows) {
    if (row["peer"] != "tutti_device") continue;
    EXPECT_TRUE(has(row["about"], "4 devices (fake device)")) << row;
    ++found;
  }
  EXPECT_EQ(found, 1);
}

TEST(TuttiDevice, IsTunedAndItsTableIsForDevicesAlone) {
  const test::TemporaryFolder folder;
  const std::string table = folder.path() + "/it.toml";
  const Outcome tuned = tutti(
      "tune --peer tutti_device --ranks 2 --memory both --bytes 64,4K --budget 2s --no-store "
      "--anyway -o " +
      table);
  EXPECT_EQ(tuned.exit, 0) << tuned.error;
  EXPECT_NE(tuned.error.find("TUTTI_DEVICE_TABLE=" + table), std::string::npos) << tuned.error;
  const std::string text = text_of(table);
  EXPECT_NE(text.find("on = \"devices\""), std::string::npos) << text;
  EXPECT_NE(text.find("memory = \"symmetric\""), std::string::npos) << text;
  EXPECT_EQ(text.find("cores ="), std::string::npos) << text;
  // The host's part does not take it.
  const Outcome host = run("-a bytes=64", "TUTTI_TABLE=" + table);
  EXPECT_TRUE(has(host.rows, "name it in TUTTI_DEVICE_TABLE, not in TUTTI_TABLE")) << host.rows << host.error;
}

}  // namespace
}  // namespace tutti::peers
