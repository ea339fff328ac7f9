// SPDX-License-Identifier: Apache-2.0
// Milestones that are killed at any moment, and go on: what comes out is what comes out of one run.
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../in_folder.hpp"

namespace tutti {

const char* const test::kTuttiProgram = TUTTI_PROGRAM;

namespace {

class MilestoneKilled : public test::InFolder {
 protected:
  // All that does not say when it was made.
  [[nodiscard]] std::map<std::string, std::string> results_in(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(name))) {
      const std::string file = entry.path().filename().string();
      const bool has_times = file == "index.json" || file == "report.html" || file.ends_with(".jsonl");
      files[file] = has_times ? "" : folder_.read(fmt::format("{}/{}", name, file));
    }
    return files;
  }
  // Killed after so long, unless it has ended before. Its exit status, or 137.
  int run_for(double seconds, const std::string& name) {
    return tutti(fmt::format("{} -o {}", kRun, name), fmt::format("timeout -s KILL {:.3f}", seconds)).exit;
  }

  static constexpr const char* kRun = "run milestone-ccl --part latency,topologies,vllm";
  static constexpr int kKilled = 137;  // 128 and the signal, as shells say it
};

TEST_F(MilestoneKilled, AtTwentyRandomMomentsAndResumedTheResultIsEqual) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(tutti(fmt::format("{} -o whole", kRun)).exit, 0);
  const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::map<std::string, std::string> expected = results_in("whole");
  const std::random_device::result_type seed = std::random_device()();
  std::mt19937 random(seed);
  int num_killed = 0;
  for (int kill = 0; kill < 20; ++kill) {
    const double moment = std::uniform_real_distribution<double>(0.005, whole)(random);
    const std::string place = fmt::format("seed {}, killed after {:.3f} s of {:.3f}", seed, moment, whole);
    const int ended = run_for(moment, "cut");
    EXPECT_TRUE(ended == 0 || ended == kKilled) << place << ": " << ended << folder_.read("error");
    num_killed += ended == kKilled ? 1 : 0;
    // Every second one is killed once more while it goes on.
    if (kill % 2 == 1) run_for(std::uniform_real_distribution<double>(0.005, whole)(random), "cut");
    const test::Ended resumed = tutti(fmt::format("{} -o cut", kRun));
    EXPECT_EQ(resumed.exit, 0) << place << ": " << resumed.error;
    EXPECT_TRUE(results_in("cut") == expected) << place << ": what came out is not what one run gives";
    if (HasFailure()) return;
    std::filesystem::remove_all(folder_.file("cut"));
  }
  EXPECT_GT(num_killed, 0) << "seed " << seed;
}

}  // namespace
}  // namespace tutti
