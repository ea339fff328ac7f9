// SPDX-License-Identifier: Apache-2.0
// Every peer that was built does every collective of it rightly, and leaves nothing behind however its run ends.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "sandbox.hpp"

namespace tutti::peers {
namespace {

// One of three attempts takes less: whatever else the machine does only makes them longer.
void within(std::chrono::milliseconds limit, const std::function<std::chrono::nanoseconds()>& attempt) {
  std::chrono::nanoseconds least = std::chrono::nanoseconds::max();
  for (int number = 0; number < 3 && least >= limit && !::testing::Test::HasFailure(); ++number)
    least = std::min(least, attempt());
  EXPECT_LT(least, limit);
}

class Peers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::vector<std::string> here = peers_here(TUTTI_PROGRAM);
    if (std::find(here.begin(), here.end(), GetParam()) == here.end()) GTEST_SKIP() << GetParam() << " was not built";
  }

  // A sweep that goes on for longer than the test, once it has kept its first row.
  [[nodiscard]] pid_t begin_long() const {
    const std::size_t before = num_kept();
    const pid_t runner =
        sandbox_.begin(fmt::format("run --peer {} -a bytes=8:64K:+8 --budget 50ms --least-samples 1000000 --store '{}'",
                                   GetParam(), sandbox_.store()));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (num_kept() == before && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GE(sandbox_.processes().size(), 3U) << "a runner and two ranks";
    return runner;
  }
  [[nodiscard]] std::size_t num_kept() const {
    return sandbox_.look(fmt::format("show --json --store '{}'", sandbox_.store())).size();
  }

  Sandbox sandbox_{TUTTI_PROGRAM};
};

// Leaves this process, and what it starts, so many of its processors at most.
class FewProcessors {
 public:
  explicit FewProcessors(int most) {
    CPU_ZERO(&before_);
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t few;
    CPU_ZERO(&few);
    for (int processor = 0; processor < CPU_SETSIZE && number_ < most; ++processor) {
      if (!CPU_ISSET(processor, &before_)) continue;
      CPU_SET(processor, &few);
      ++number_;
    }
    EXPECT_EQ(::sched_setaffinity(0, sizeof few, &few), 0);
  }
  FewProcessors(const FewProcessors&) = delete;
  FewProcessors& operator=(const FewProcessors&) = delete;
  ~FewProcessors() { ::sched_setaffinity(0, sizeof before_, &before_); }

  [[nodiscard]] int number() const { return number_; }

 private:
  cpu_set_t before_{};
  int number_ = 0;
};

TEST_P(Peers, DoesEveryCollective) {
  for (const char* bench : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather",
                            "scatter", "scan", "exclusive_scan", "barrier"}) {
    const std::string axes = std::string(bench) == "barrier" ? "" : "-a bytes=64,8K";
    // Not by agreed instants, which ranks miss where others have the cores.
    const auto outcome = sandbox_.run(fmt::format(
        "run --bench {} --peer {} {} --sync meeting --no-store --json --budget 20ms", bench, GetParam(), axes));
    EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
    ASSERT_TRUE(outcome.rows.is_array() && !outcome.rows.empty()) << outcome.error;
    for (const Json& row : outcome.rows) {
      if (row["check"] == "skipped") {
        if (row["note"].dump().find("Gloo is not asked for") != std::string::npos) continue;
        EXPECT_STREQ(GetParam(), "tutti") << row;
        EXPECT_STRNE(bench, "all_reduce") << row;
        continue;
      }
      EXPECT_EQ(row["check"], axes.empty() ? "unchecked" : "ok") << row;
      EXPECT_GT(row["time_us"].get<double>(), 0) << row;
      EXPECT_LT(row["time_us"].get<double>(), 1e6) << row;
    }
  }
  EXPECT_EQ(sandbox_.left(), "");
}

// In one piece and in tiles; 13 rows are no multiple of 4.
TEST_P(Peers, AddsTheProductsOfALayer) {
  const auto outcome = sandbox_.run(fmt::format(
      "run --bench layer --peer {} -a num_ranks=2,3 -a tokens=1,13 -a width=66 -a tiles=1,4 --sync meeting --no-store "
      "--json --budget 10ms --least-samples 1",
      GetParam()));
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
  ASSERT_EQ(outcome.rows.size(), 8U);
  int right = 0;
  for (const Json& row : outcome.rows) {
    const std::string note = row["note"].dump();
    if (row["check"] == "skipped") {
      EXPECT_TRUE(note.find("tiles go from 1 to tokens, 1") != std::string::npos ||
                  note.find("only measured as blocking calls") != std::string::npos ||
                  note.find("there is no BLAS") != std::string::npos)
          << row;
      continue;
    }
    EXPECT_EQ(row["check"], "ok") << row;
    EXPECT_GT(row["gemm_us"].get<double>(), 0) << row;
    ++right;
  }
  // Of Gloo only what blocks.
  EXPECT_EQ(right, std::string(GetParam()) == "gloo" ? 4 : 6) << outcome.rows;
}

TEST_P(Peers, RunsWithMoreRanksThanCores) {
  const FewProcessors few(2);
  const auto outcome = sandbox_.run(
      fmt::format("run --peer {} -a num_ranks={} -a bytes=64 --no-store --json --budget 20ms --least-samples 1",
                  GetParam(), few.number() + 1));
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
  EXPECT_NE(outcome.rows[0]["note"].dump().find("more ranks than cores"), std::string::npos) << outcome.rows;
  EXPECT_EQ(outcome.rows[0]["check"], "ok") << outcome.rows;
  EXPECT_LT(outcome.rows[0]["time_us"].get<double>(), 1e7) << outcome.rows;
}

// A worker compares what it finds with what was ordered, so a row that is right is the proof.
TEST_P(Peers, VariablesComeThroughItsLauncher) {
  const auto outcome = sandbox_.run(fmt::format(
      "run --peer {} -a bytes=64 --env 'NOBODYS=[\"a b\",\"=,;\",\"\",unset]' --sync meeting --no-store --json "
      "--budget 10ms",
      GetParam()));
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
  ASSERT_EQ(outcome.rows.size(), 4U);
  for (const Json& row : outcome.rows) {
    EXPECT_EQ(row["check"], "ok") << row;
    EXPECT_NE(row["note"].dump().find("NOBODYS unverifiable"), std::string::npos) << row;
  }
}

TEST_P(Peers, LeavesNothingAfterATimeLimit) {
  const auto outcome = sandbox_.run(
      fmt::format("run --peer {} -a bytes=64M --timeout 1ms --start-timeout 20s --no-store --json", GetParam()));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_NE(outcome.rows[0]["note"].dump().find("has not answered within 1ms"), std::string::npos) << outcome.rows;
  EXPECT_EQ(outcome.rows[0]["note"].dump().find("mpirun"), std::string::npos) << "it tells of its own doing";
  EXPECT_EQ(sandbox_.left(), "");
}

TEST_P(Peers, StopsWithinASecondOfAnInterruptAndLeavesNothing) {
  within(std::chrono::seconds(1), [&] {
    const pid_t runner = begin_long();
    const auto begin = std::chrono::steady_clock::now();
    ::kill(runner, SIGINT);
    const auto outcome = sandbox_.end(runner);
    const auto taken = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(outcome.exit, 130) << outcome.error;
    EXPECT_NE(outcome.error.find("and kept"), std::string::npos) << outcome.error;
    EXPECT_GE(num_kept(), 1U);
    EXPECT_EQ(sandbox_.left(), "");
    return taken;
  });
}

TEST_P(Peers, LeavesNothingWhenItsRunnerIsKilled) {
  const pid_t runner = begin_long();
  ::kill(runner, SIGKILL);
  EXPECT_EQ(sandbox_.end(runner).exit, -1);
  EXPECT_EQ(sandbox_.left_in_the_end(), "");
}

// In place and not, with blocks and roots: buffers lie in the symmetric memory as they did in the program's own.
TEST(PeerTutti, HasItsBuffersInSymmetricMemoryWhereItIsAsked) {
  const Sandbox sandbox{TUTTI_PROGRAM};
  for (const char* bench : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"}) {
    const auto outcome =
        sandbox.run(fmt::format("run --bench {} --peer tutti --env BENCH_MEMORY=symmetric -a num_ranks=2,3 "
                                "-a bytes=4092,1M -a in_place=0,1 --sync barrier --no-store --json --budget 10ms",
                                bench));
    EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
    ASSERT_EQ(outcome.rows.size(), 8U) << outcome.error;
    for (const Json& row : outcome.rows) {
      EXPECT_EQ(row["check"], "ok") << row;
      EXPECT_EQ(row["note"].dump().find("BENCH_MEMORY"), std::string::npos) << "not confirmed: " << row;
    }
  }
  // What wants such memory is the proof that it is there.
  const std::string two_shot =
      "run --peer tutti -a algorithm=two_shot -a bytes=64K --sync barrier --no-store --json --budget 10ms --env "
      "BENCH_MEMORY=";
  EXPECT_EQ(sandbox.run(two_shot + "ordinary").rows[0]["check"], "skipped");
  EXPECT_EQ(sandbox.run(two_shot + "symmetric").rows[0]["check"], "ok");
  const auto refused = sandbox.run("run --peer tutti -a bytes=8 --no-store --json --env BENCH_MEMORY=shared");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.error.find("BENCH_MEMORY: 'shared' is not one of the choices; allowed: ordinary, symmetric"),
            std::string::npos)
      << refused.error;
}

INSTANTIATE_TEST_SUITE_P(Each, Peers, ::testing::Values("tutti", "openmpi", "mpich", "gloo"),
                         [](const auto& each) { return std::string(each.param); });

// As the runtime says it: which algorithm does the case, and why.
TEST(Tutti, WhatRanIsToldAndItsVariableIsConfirmed) {
  const Sandbox sandbox(TUTTI_PROGRAM);
  const auto outcome = sandbox.run(
      "run --peer tutti -a bytes=64 --env TUTTI_ALLREDUCE_ALGORITHM=unset,auto,one-shot,ring,two_shot --no-store "
      "--json --sync meeting --budget 10ms");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  ASSERT_EQ(outcome.rows.size(), 5U) << outcome.error;
  const auto expect = [&](std::size_t place, const std::string& ran, const std::string& evidence) {
    const Json& row = outcome.rows[place];
    EXPECT_EQ(row["check"], "ok") << row;
    EXPECT_EQ(row["ran"], ran) << row;
    EXPECT_EQ(row["evidence"], "TUTTI_ALLREDUCE_ALGORITHM confirmed: " + evidence) << row;
  };
  expect(0, "all_reduce one_shot (by size)", "one_shot ran: by size");
  expect(1, "all_reduce one_shot (by size)", "one_shot ran: by size");
  expect(2, "all_reduce one_shot (forced)", "one_shot ran: forced");
  expect(3, "all_reduce ring (forced)", "ring ran: forced");
  EXPECT_EQ(outcome.rows[4]["check"], "skipped") << "its buffers are not in symmetric memory";
  EXPECT_EQ(outcome.rows[4]["note"],
            "TUTTI_ALLREDUCE_ALGORITHM cannot be followed: it needs both buffers in symmetric memory; one_shot "
            "would run");
}

class OpenMpi : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> here = peers_here(TUTTI_PROGRAM);
    if (std::find(here.begin(), here.end(), "openmpi") == here.end()) GTEST_SKIP() << "openmpi was not built";
  }
  [[nodiscard]] Json row(const std::string& bench, const std::string& variables) const {
    const auto outcome = sandbox_.run(fmt::format(
        "run --bench {} --peer openmpi -a bytes=4K --env OMPI_MCA_coll_tuned_use_dynamic_rules=1 {} --no-store --json "
        "--sync meeting --budget 10ms",
        bench, variables));
    EXPECT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 1) << outcome.error;
    return outcome.rows[0];
  }

  Sandbox sandbox_{TUTTI_PROGRAM};
};

TEST_F(OpenMpi, ManyGroupsStopWithinASecondOfAnInterrupt) {
  constexpr std::size_t kNumGroups = 6;
  within(std::chrono::seconds(1), [&] {
    const pid_t runner = sandbox_.begin(
        "compare --bench broadcast --peer openmpi -a algorithm=default,chain,pipeline,binary_tree,binomial,knomial "
        "-a bytes=8:64K:+8 --launches 1 --no-store");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (sandbox_.processes().size() < 1 + 4 * kNumGroups && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GE(sandbox_.processes().size(), 1 + 4 * kNumGroups)
        << "a runner; an mpirun, its guard and two ranks of each";
    const auto begin = std::chrono::steady_clock::now();
    ::kill(runner, SIGINT);
    const auto outcome = sandbox_.end(runner);
    const auto taken = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(outcome.exit, 130) << outcome.error;
    EXPECT_EQ(sandbox_.left(), "");
    return taken;
  });
}

// Neither has the time to end by itself, so both are waited for: at once.
TEST_F(OpenMpi, AGroupThatIsStartingIsEndedTogetherWithTheOthers) {
  within(std::chrono::milliseconds(1400), [&] {
    const pid_t runner = sandbox_.begin("compare --peer openmpi,openmpi -a bytes=64 --launches 1 --no-store");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (sandbox_.processes_called("mpirun").size() < 2 && std::chrono::steady_clock::now() < deadline) continue;
    const std::vector<pid_t> mpiruns = sandbox_.processes_called("mpirun");
    EXPECT_EQ(mpiruns.size(), 2U);
    for (const pid_t mpirun : mpiruns) ::kill(mpirun, SIGSTOP);
    const auto begin = std::chrono::steady_clock::now();
    ::kill(runner, SIGINT);
    EXPECT_EQ(sandbox_.end(runner).exit, 130);
    return std::chrono::steady_clock::now() - begin;  // more where it is one after the other
  });
  EXPECT_EQ(sandbox_.left(), "");
}

// Stopped where it has a folder and no ranks yet, as on a machine that has no time for it; so it has to be killed.
TEST_F(OpenMpi, AnMpirunThatIsKilledWhileItBeginsLeavesNothing) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const pid_t runner = sandbox_.begin("run --peer openmpi -a bytes=64 --no-store");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (sandbox_.left().find("/ompi.") == std::string::npos && std::chrono::steady_clock::now() < deadline) continue;
    const std::vector<pid_t> mpiruns = sandbox_.processes_called("mpirun");
    ASSERT_EQ(mpiruns.size(), 1U);
    ::kill(mpiruns[0], SIGSTOP);
    EXPECT_NE(sandbox_.left().find("/ompi."), std::string::npos) << "it was faster";
    ::kill(runner, signal);
    static_cast<void>(sandbox_.end(runner));
    EXPECT_EQ(sandbox_.left_in_the_end(), "") << "signal " << signal;
  }
}

TEST_F(OpenMpi, AnAlgorithmIsConfirmed) {
  const Json row = this->row("all_reduce", "--env OMPI_MCA_coll_tuned_allreduce_algorithm=4");
  EXPECT_EQ(row["check"], "ok") << row;
  EXPECT_EQ(row["ran"], "coll/tuned allreduce 4 (ring)") << row;
  EXPECT_EQ(row["note"].dump().find("verifiable"), std::string::npos) << row;
}

TEST_F(OpenMpi, WhatIsUnsetIsConfirmedWhereItsDefaultIsKnown) {
  const Json row = this->row(
      "all_reduce", "--env OMPI_MCA_coll_tuned_allreduce_algorithm=unset --env OMPI_MCA_coll_tuned_priority=unset");
  EXPECT_EQ(row["check"], "ok") << row;
  EXPECT_EQ(row["note"].dump().find("allreduce_algorithm unverifiable"), std::string::npos) << row;
  EXPECT_NE(row["note"].dump().find("OMPI_MCA_coll_tuned_priority unverifiable"), std::string::npos) << row;
}

TEST_F(OpenMpi, AnAlgorithmOfAnotherCollectiveIsNot) {
  const Json row = this->row("broadcast", "--env OMPI_MCA_coll_tuned_allreduce_algorithm=4");
  EXPECT_EQ(row["check"], "ok") << row;
  EXPECT_NE(row["note"].dump().find("OMPI_MCA_coll_tuned_allreduce_algorithm unverifiable"), std::string::npos) << row;
}

TEST_F(OpenMpi, AnAlgorithmIsNotConfirmedWhereAnotherComponentGoesFirst) {
  const Json row =
      this->row("all_reduce", "--env OMPI_MCA_coll_tuned_allreduce_algorithm=4 --env OMPI_MCA_coll_tuned_priority=5");
  EXPECT_NE(row["note"].dump().find("OMPI_MCA_coll_tuned_allreduce_algorithm unverifiable"), std::string::npos) << row;
}

TEST_F(OpenMpi, ARulesFileThatItLeavesAsideIsNoticed) {
  // One collective (2: all-reduce), one communicator size, two message sizes of which the second is missing.
  const std::string malformed = sandbox_.write("rules", "1\n2\n1\n2\n2\n0 4 0 0\n");
  const std::string variable = "--env OMPI_MCA_coll_tuned_dynamic_rules_filename=";
  Json row = this->row("all_reduce", variable + malformed);
  EXPECT_EQ(row["check"], "error") << row;
  EXPECT_NE(row["note"].dump().find("leaves a rules file aside in silence"), std::string::npos) << row;
  const std::string whole = sandbox_.write("rules", "1\n2\n1\n2\n2\n0 4 0 0\n8192 3 0 0\n");
  row = this->row("all_reduce", variable + whole);
  EXPECT_EQ(row["check"], "ok") << row;
}

// A ring in segments of 1 KiB takes far longer than what Open MPI chooses by itself. The other range has no evidence
// and is not measured, so it remains.
TEST_F(OpenMpi, AnExportLeavesWhatIsSlowerToItAndMeasuresThatAgain) {
  const std::string table = sandbox_.write("table.toml", R"(version = 1
peer = "openmpi"
[machine]
fingerprint = "any"
[[section]]
collective = "all_reduce"
ranks = 2
[[section.range]]
most_bytes = "64K"
algorithm = "recursive_doubling"
[[section.range]]
algorithm = "segmented_ring"
settings = { OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize = "1024" }
evidence = [{ bytes = "128K", us = 1, low_us = 1, high_us = 1, samples = 1 }]
)");
  const std::string rules = sandbox_.file("rules");
  const auto outcome =
      sandbox_.run(fmt::format("export --to openmpi '{}' --verify -o '{}' --budget 200ms --launches 6", table, rules));
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("in the last range: slower than the library's own choice at 128K, to which it is left"),
            std::string::npos)
      << outcome.error;
  const std::size_t again = outcome.out.find("With the rules that remain");
  ASSERT_NE(again, std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("segmented_ring"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("the library's own", again), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("segmented_ring", again), std::string::npos) << outcome.out;
  // Recursive doubling is 3; from 65537 bytes on it is Open MPI's own choice.
  std::ifstream file(rules);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\n0 3 "), std::string::npos) << text;
  EXPECT_NE(text.find("\n65537 0 0 0\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 1024\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::peers
