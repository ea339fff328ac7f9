// SPDX-License-Identifier: Apache-2.0
// `tutti launch`: the processes it starts, what it tells them, and how it ends them.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"
#include "base/system/spawn.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace tutti::cli {
namespace {

struct Outcome {
  int code = 0;
  std::string out;
  std::string error;
};

Outcome launch(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "launch");
  const std::array commands{launch_command()};
  const Environment environment = Environment::of_this_process();
  std::ostringstream out;
  std::ostringstream error;
  const Exit exit = run_program(commands, arguments, {environment, out, error});
  return {static_cast<int>(exit), out.str(), error.str()};
}

// Tagged, so that the output comes to the test.
Outcome launch_script(int num_ranks, const std::string& script, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"-n", fmt::format("{}", num_ranks), "--tag", "--", "sh", "-c", script});
  return launch(std::move(options));
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A zombie has ended: that nobody has reaped it yet is the affair of whoever adopted it.
bool runs(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z';
}

// Whether it comes true within ten seconds.
template <typename Condition>
bool eventually(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    poll(nullptr, 0, 5);
  }
  return true;
}

TEST(Launch, TellsEachRankWhoItIs) {
  const Outcome outcome = launch_script(3, "echo $TUTTI_RANK of $TUTTI_NUM_RANKS ${#TUTTI_UNIQUE_ID}");
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(sorted_lines(outcome.out),
            (std::vector<std::string>{"[0] 0 of 3 128", "[1] 1 of 3 128", "[2] 2 of 3 128"}));
  EXPECT_EQ(outcome.error, "");
}

TEST(Launch, GivesAllTheSameIdAndLeavesItsOwnEnvironmentAlone) {
  const Outcome outcome = launch_script(2, "echo $TUTTI_UNIQUE_ID");
  const std::vector<std::string> lines = sorted_lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(4), lines[1].substr(4));
  EXPECT_TRUE(UniqueId::from_text(lines[0].substr(4)).ok());
  EXPECT_EQ(getenv("TUTTI_RANK"), nullptr);
  EXPECT_EQ(getenv("TUTTI_UNIQUE_ID"), nullptr);
}

TEST(Launch, SetsVariablesThatItIsAskedFor) {
  const Outcome outcome = launch_script(1, "echo $TUTTI_SPIN,$B,$TUTTI_RANK",
                                        {"--env", "TUTTI_SPIN=1us", "--env", "B=x=y", "--env", "TUTTI_RANK=9"});
  EXPECT_EQ(outcome.out, "[0] 1us,x=y,0\n") << outcome.error;
}

TEST(Launch, BindsRanksToCoresInTurn) {
  const std::vector<int> cores = allowed_cores();
  ASSERT_FALSE(cores.empty());
  const std::string script = "echo $TUTTI_LOCAL_CORE $(sed -n 's/Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)";
  const int num_ranks = static_cast<int>(cores.size()) + 1;
  const Outcome bound = launch_script(num_ranks, script);
  std::vector<std::string> expected;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const int core = cores[static_cast<std::size_t>(rank) % cores.size()];
    expected.push_back(fmt::format("[{}] {} {}", rank, core, core));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted_lines(bound.out), expected) << bound.error;
  const Outcome free = launch_script(1, "echo $TUTTI_LOCAL_CORE", {"--bind", "none"});
  EXPECT_EQ(free.out, "[0] -1\n");
}

TEST(Launch, TagsWholeLinesOfBothStreams) {
  const Outcome outcome = launch_script(
      2, "for i in 1 2 3; do printf 'a%s' $i; printf 'b\\n'; done; echo >&2 to error; printf 'no newline'");
  const std::vector<std::string> expected = {"[0] a1b", "[0] a2b", "[0] a3b", "[0] no newline",
                                             "[1] a1b", "[1] a2b", "[1] a3b", "[1] no newline"};
  EXPECT_EQ(sorted_lines(outcome.out), expected);
  EXPECT_EQ(sorted_lines(outcome.error), (std::vector<std::string>{"[0] to error", "[1] to error"}));
}

TEST(Launch, GivesInputToRank0Only) {
  const UniqueFd saved(dup(STDIN_FILENO));
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  ASSERT_EQ(write(ends[1], "hello\n", 6), 6);
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  const Outcome outcome = launch_script(3, "echo \"<$(cat)>\"");
  dup2(saved.get(), STDIN_FILENO);
  EXPECT_EQ(sorted_lines(outcome.out), (std::vector<std::string>{"[0] <hello>", "[1] <>", "[2] <>"}));
}

TEST(Launch, NamesTheRankThatFailsAndPassesItsCodeOn) {
  const Outcome outcome = launch_script(3, "if [ $TUTTI_RANK = 1 ]; then echo $$; exit 7; fi");
  EXPECT_EQ(outcome.code, 7);
  const std::string pid = outcome.out.substr(4, outcome.out.find('\n') - 4);
  EXPECT_EQ(outcome.error, fmt::format("tutti launch: rank 1 (process {}) ended with exit code 7\n", pid));
}

TEST(Launch, NamesTheSignalThatKilledARank) {
  const Outcome outcome = launch_script(2, "[ $TUTTI_RANK = 1 ] && kill -SEGV $$; exit 0");
  EXPECT_EQ(outcome.code, 128 + SIGSEGV);
  EXPECT_TRUE(contains(outcome.error, "was killed by SIGSEGV")) << outcome.error;
}

TEST(Launch, EndsTheOthersAfterTheGrace) {
  // The rank that fails does so once the others are ready to be ended.
  const test::TemporaryFolder folder;
  const Outcome outcome = launch_script(
      4,
      fmt::format("cd '{}'; if [ $TUTTI_RANK = 2 ]; then until [ -e 0 -a -e 1 -a -e 3 ]; do sleep 0.01; done; exit 3; "
                  "fi; trap 'echo ended; exit 0' TERM; : >$TUTTI_RANK; while :; do sleep 0.01; done",
                  folder.path()),
      {"--grace", "500ms"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(sorted_lines(outcome.out), (std::vector<std::string>{"[0] ended", "[1] ended", "[3] ended"}));
  EXPECT_TRUE(contains(outcome.error, "ranks 0, 1 and 3 still ran 500ms after that; sent SIGTERM")) << outcome.error;
  EXPECT_FALSE(contains(outcome.error, "killed")) << outcome.error;
}

TEST(Launch, KillsWhatDoesNotHeedAndWhatItStarted) {
  const test::TemporaryFolder folder;
  const Outcome outcome = launch_script(
      2,
      fmt::format("cd '{}'; if [ $TUTTI_RANK = 1 ]; then until [ -e ready ]; do sleep 0.01; done; exit 3; fi; "
                  "trap '' TERM; sleep 1000 & echo $!; : >ready; wait; while :; do sleep 0.01; done",
                  folder.path()),
      {"--grace", "100ms"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.error, "rank 0 did not heed it; killed")) << outcome.error;
  const pid_t grandchild = std::stoi(outcome.out.substr(4));
  EXPECT_TRUE(eventually([&] { return !runs(grandchild); }));
}

TEST(Launch, EndsAllAtTheTimeout) {
  const Outcome outcome = launch_script(2, "exec sleep 1000", {"--timeout", "200ms", "--grace", "10s"});
  EXPECT_EQ(outcome.code, 124);
  EXPECT_EQ(outcome.error, "tutti launch: ranks 0 and 1 still ran after 200ms; sent SIGTERM\n");
}

TEST(Launch, SaysWhichProgramCannotBeRun) {
  const Outcome missing = launch({"-n", "2", "--", "no-such-program-here"});
  EXPECT_EQ(missing.code, 127);
  EXPECT_EQ(missing.error, "tutti launch: cannot run 'no-such-program-here': No such file or directory\n");
  const Outcome folder = launch({"-n", "2", "/tmp"});
  EXPECT_EQ(folder.code, 126);
  EXPECT_TRUE(contains(folder.error, "cannot run '/tmp': Permission denied")) << folder.error;
}

TEST(Launch, SaysWhatIsWrongWithItsArguments) {
  const auto complaint = [](std::vector<std::string> arguments) {
    const Outcome outcome = launch(std::move(arguments));
    EXPECT_EQ(outcome.code, 2);
    return outcome.error;
  };
  EXPECT_TRUE(contains(complaint({"-n", "0", "--", "true"}), "-n is '0'; it takes a number of ranks from 1 to 1024"));
  EXPECT_TRUE(contains(complaint({"-n", "abc", "--", "true"}), "-n is 'abc'"));
  EXPECT_TRUE(contains(complaint({"-n", "4097", "--", "true"}), "-n is '4097'"));
  EXPECT_TRUE(contains(complaint({"-n", "2"}), "there is no program to run"));
  EXPECT_TRUE(contains(complaint({"--", "true"}), "-n"));
  EXPECT_TRUE(contains(complaint({"-n", "2", "--env", "X", "--", "true"}),
                       "--env is 'X', which is not set here; NAME=VALUE sets it"));
  EXPECT_TRUE(contains(complaint({"-n", "2", "--bind", "socket", "--", "true"}), "--bind is 'socket'"));
  EXPECT_TRUE(contains(complaint({"-n", "2", "--timeout", "soon", "--", "true"}), "--timeout is 'soon'"));
  EXPECT_TRUE(contains(complaint({"-n", "2", "--tga", "--", "true"}), "--tga"));
}

TEST(Launch, LeavesTheProgramsOptionsToTheProgram) {
  const Outcome outcome =
      launch({"-n", "1", "--tag", "--", "sh", "-c", "echo : $0 $@", "-n", "--tag", "--help", "--", "x"});
  EXPECT_EQ(outcome.out, "[0] : -n --tag --help -- x\n") << outcome.error;
  const Outcome plain = launch({"-n", "1", "--tag", "echo", "x", "y"});
  EXPECT_EQ(plain.out, "[0] x y\n") << plain.error;
  const Outcome behind_env = launch({"-n", "1", "--tag", "--env", "A=b", "--", "echo", "--x", "--", "--y"});
  EXPECT_EQ(behind_env.out, "[0] --x -- --y\n") << behind_env.error;
}

// The launcher runs in a child, which tells through the pipe what its ranks print.
struct Launcher {
  explicit Launcher(const std::string& script, const std::string& grace = "2s") {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      _exit(launch({"-n", "2", "--grace", grace, "--", "sh", "-c", script}).code);
    }
    close(ends[1]);
    from.reset(ends[0]);
  }
  // The pids of both ranks, which print them on a line each.
  std::vector<pid_t> read_pids() const {
    std::string text;
    std::array<char, 64> bytes{};
    while (std::count(text.begin(), text.end(), '\n') < 2) {
      const ssize_t got = read(from.get(), bytes.data(), bytes.size());
      if (got <= 0) break;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    std::vector<pid_t> pids;
    std::istringstream stream(text);
    for (pid_t one = 0; stream >> one;) pids.push_back(one);
    EXPECT_EQ(pids.size(), 2U);
    return pids;
  }
  pid_t pid = 0;
  UniqueFd from;
};

TEST(Launch, NoRankOutlivesAKilledLauncher) {
  const Launcher launcher("echo $$; exec sleep 1000");
  const std::vector<pid_t> ranks = launcher.read_pids();
  kill(launcher.pid, SIGKILL);
  waitpid(launcher.pid, nullptr, 0);
  for (const pid_t rank : ranks) EXPECT_TRUE(eventually([&] { return !runs(rank); }));
}

TEST(Launch, EndsWhenNobodyReadsItsOutput) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t launcher = fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    const std::array commands{launch_command()};
    const std::vector<std::string> arguments = {"launch", "-n", "2", "--tag", "--", "sh", "-c", "yes $$"};
    const Environment environment = Environment::of_this_process();
    _exit(static_cast<int>(run_program(commands, arguments, {environment, std::cout, std::cerr})));
  }
  close(ends[1]);
  std::array<char, 64> bytes{};
  ASSERT_GT(read(ends[0], bytes.data(), bytes.size() - 1), 4);
  close(ends[0]);
  int status = 0;
  waitpid(launcher, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGPIPE);
  EXPECT_TRUE(eventually([&] { return !runs(std::stoi(bytes.data() + 4)); }));
}

// Neither a rank nor what it has left behind, which ends once nobody reads what it writes.
TEST(Launch, WhoNeverStopsWritingKeepsNobodyFromEnding) {
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(launch_script(2, "exec yes", {"--timeout", "200ms"}).code, 124);
  const Outcome left = launch_script(1, "yes left & exit 0");
  EXPECT_EQ(left.code, 0) << left.error;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

TEST(Launch, ForwardsWhatAsksItToEnd) {
  const Launcher launcher("trap 'exit 5' TERM; echo $$; while :; do sleep 0.01; done");
  launcher.read_pids();
  kill(launcher.pid, SIGTERM);
  int status = 0;
  waitpid(launcher.pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(Launch, EndsAlsoWhoIsStoppedOrDoesNotHeedWhatAsksItToEnd) {
  constexpr std::pair<const char*, int> kCodes[] = {
      {"trap 'exit 5' TERM; echo $$; kill -STOP $$; while :; do sleep 0.01; done", 5},
      {"trap '' TERM; echo $$; while :; do sleep 0.01; done", 128 + SIGKILL}};
  for (const auto& [script, code] : kCodes) {
    const Launcher launcher(script, "300ms");
    launcher.read_pids();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(launcher.pid, SIGTERM);
    int status = 0;
    waitpid(launcher.pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status)) << script;
    EXPECT_EQ(WEXITSTATUS(status), code) << script;
  }
}

}  // namespace
}  // namespace tutti::cli
