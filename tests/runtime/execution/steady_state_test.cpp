// SPDX-License-Identifier: Apache-2.0
// In its steady state an all-reduce up to 64 KB makes no system call and no allocation, whatever its pointers and
// counts. steady_state_program.cpp shows it, with the kernel as the judge; here it is started and asked.
//
// TUTTI_SPIN is long here: a rank whose peer is late may yield and sleep, which are system calls, and on a machine that
// others use as well a peer is late now and then. With it all waiting is spinning, and what is left is Tutti's path.
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

namespace tutti {
namespace {

struct Outcome {
  int exit = -1;
  std::string out;
};

// `options` go to tutti launch, `arguments` to the program. Both streams are read as one.
Outcome run(const std::string& options, const std::string& arguments = "") {
  const std::string command =
      fmt::format("'{}' launch -n 2 --tag --timeout 90s --env TUTTI_SPIN=50s {} -- '{}' {} 2>&1", TUTTI_PROGRAM,
                  options, TUTTI_STEADY_STATE_PROGRAM, arguments);
  Outcome outcome;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> bytes{};
  for (std::size_t got = 0; (got = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;)
    outcome.out.append(bytes.data(), got);
  const int status = ::pclose(pipe);
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class SteadyState : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < 2)
      GTEST_SKIP() << "two ranks on one core cannot but give it to each other";
  }
};

TEST_P(SteadyState, MakesNoSystemCallAndNoAllocation) {
  const Outcome outcome = run(GetParam());
  if (contains(outcome.out, "no seccomp filter is to be had")) GTEST_SKIP() << outcome.out;
  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  for (const char* rank : {"[0]", "[1]"})
    EXPECT_TRUE(contains(outcome.out, fmt::format("{} calls 16384 result 0 wrong 0 allocations 0\n", rank)))
        << outcome.out;
}

// What chooses the path: the size and the memory where nothing is forced, and then each algorithm, also for what it
// would not be chosen for; and the walker that takes every plan.
INSTANTIATE_TEST_SUITE_P(Each, SteadyState,
                         testing::Values("", "--env TUTTI_ALLREDUCE_ALGORITHM=one_shot",
                                         "--env TUTTI_ALLREDUCE_ALGORITHM=two_shot",
                                         "--env TUTTI_ALLREDUCE_ALGORITHM=ring", "--env TUTTI_WALKER=generic"),
                         [](const auto& each) {
                           const std::string text = each.param;
                           return text.empty() ? "automatic" : text.substr(text.find('=') + 1);
                         });

class SteadyStateJudge : public SteadyState {};

TEST_P(SteadyStateJudge, Notices) {
  const bool allocates = std::string(GetParam()) == "allocation";
  const Outcome outcome = run("", fmt::format("--sin {}", GetParam()));
  if (contains(outcome.out, "no seccomp filter is to be had")) GTEST_SKIP() << outcome.out;
  EXPECT_NE(outcome.exit, 0);
  // malloc and free.
  EXPECT_TRUE(contains(outcome.out, allocates ? "allocations 2\n" : " in the steady state\n")) << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(A, SteadyStateJudge, testing::Values("syscall", "allocation"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tutti
