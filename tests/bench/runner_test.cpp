// SPDX-License-Identifier: Apache-2.0
// The runner and its workers as whole processes: a program with its own benches is run as a user runs it.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"
#include "bench/store/store.hpp"

namespace tutti::harness {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int exit = -1;
  std::string out;
  std::string error;

  [[nodiscard]] Json rows() const { return Json::parse(out, nullptr, false); }
  // The first row whose column has this value.
  [[nodiscard]] Json row(const std::string& column, const Json& value) const {
    const Json all = rows();
    for (const Json& row : all)
      if (row.contains(column) && row[column] == value) return row;
    return {};
  }
};

class BenchRunner : public ::testing::Test {
 protected:
  Outcome run(const std::string& arguments, const std::string& front = "") const {
    return end(begin(arguments, front));
  }
  // Begins the program, by way of another where one is given, with these words of a shell.
  [[nodiscard]] pid_t begin(const std::string& arguments, const std::string& front = "") const {
    const std::string command = fmt::format("exec env '{}' {} '{}' {} >'{}' 2>'{}' </dev/null", mark(), front,
                                            BENCH_PROGRAM, arguments, folder_.file("out"), folder_.file("error"));
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  [[nodiscard]] Outcome end(pid_t pid) const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder_.read("out"), folder_.read("error")};
  }
  [[nodiscard]] std::string store() const { return folder_.file("results.db"); }

  // Each of its cases takes its budget, for want of samples; barriers wait for a rank that has no core.
  [[nodiscard]] std::string long_sweep(int num_cases) const {
    return fmt::format(
        "run --bench nothing -a number=0:{}:+1 --budget 20ms --least-samples 1000000 --sync barrier --store '{}'",
        num_cases - 1, store());
  }
  // The rows in the store, also while a sweep goes on.
  [[nodiscard]] Json kept() const {
    const std::string command =
        fmt::format("'{}' show --json --store '{}' >'{}' 2>/dev/null", BENCH_PROGRAM, store(), folder_.file("kept"));
    if (std::system(command.c_str()) != 0) return Json::array();
    return Json::parse(folder_.read("kept"));
  }
  void wait_until_kept(std::size_t rows) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (kept().size() < rows && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // In the environment of all that this test begins.
  [[nodiscard]] std::string mark() const { return "BEGUN_BY=" + folder_.file("a_test"); }
  // Processes of the program that this test has begun, or that those have.
  [[nodiscard]] std::vector<std::filesystem::path> processes() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code error;
      const auto program = std::filesystem::read_symlink(entry.path() / "exe", error);
      if (error || program != BENCH_PROGRAM) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string environment(std::istreambuf_iterator<char>(file), {});
      if (environment.find(mark()) != std::string::npos) found.push_back(entry.path());
    }
    return found;
  }
  [[nodiscard]] int num_workers_left() const { return static_cast<int>(processes().size()); }
  // How often their threads have gone to sleep.
  [[nodiscard]] std::int64_t num_sleeps() const {
    std::int64_t sum = 0;
    for (const std::filesystem::path& process : processes())
      for (const auto& thread : std::filesystem::directory_iterator(process / "task")) {
        std::ifstream status(thread.path() / "status");
        for (std::string word; status >> word;)
          if (std::int64_t times = 0; word == "voluntary_ctxt_switches:" && status >> times) sum += times;
      }
    return sum;
  }

  test::TemporaryFolder folder_;
};

TEST_F(BenchRunner, MeasuresWhatIsKnown) {
  const Outcome outcome = run("run --bench work -a nanos=5000,100000 --no-store --json --budget 300ms");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("1 group, 2 cases"), std::string::npos) << outcome.error;
  for (const std::int64_t nanos : {5000, 100000}) {
    const Json row = outcome.row("nanos", nanos);
    ASSERT_TRUE(row.is_object()) << outcome.out;
    EXPECT_EQ(row["check"], "ok");
    EXPECT_EQ(row["ran"], "spinning");
    EXPECT_GE(row["time_us"].get<double>(), static_cast<double>(nanos) / 1000);
    EXPECT_GE(row["samples"].get<int>(), 20);
  }
}

constexpr std::string_view kWithoutNetwork = "unshare --user --map-root-user --net";

bool may_leave_network() { return std::system(fmt::format("{} true 2>/dev/null", kWithoutNetwork).c_str()) == 0; }

TEST_F(BenchRunner, WorkersReachTheRunnerWithoutANetwork) {
  if (!may_leave_network()) GTEST_SKIP() << "the system lets nobody leave the network";
  const Outcome outcome =
      run("run --bench work -a nanos=1000 --budget 20ms --no-store --json", std::string(kWithoutNetwork));
  ASSERT_EQ(outcome.exit, 0) << outcome.error << outcome.out;
  EXPECT_EQ(outcome.rows()[0]["check"], "ok") << outcome.out;
}

TEST_F(BenchRunner, AGroupThatCannotBeginSaysThatThereIsNoLoopback) {
  if (!may_leave_network()) GTEST_SKIP() << "the system lets nobody leave the network";
  const std::string arguments = "run --bench work -a nanos=1000 --start-timeout 1us --no-store --json";
  const std::string words = "no loopback interface is up, which may be why (ip link set lo up): ";
  EXPECT_NE(run(arguments, std::string(kWithoutNetwork)).out.find(words), std::string::npos);
  EXPECT_EQ(run(arguments).out.find(words), std::string::npos);
}

TEST_F(BenchRunner, AWorkerThatGetsNoThreadNamesTheLimit) {
#ifdef TUTTI_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory is beyond the limit";
#endif
  // Its stack is larger than all the data that a process may have.
  const Outcome outcome = run("run --bench work -a nanos=1000 --budget 20ms --no-store --json",
                              R"(sh -c 'ulimit -s 8192; ulimit -d 6000; exec "$0" "$@"')");
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  const Json rows = outcome.rows();
  ASSERT_EQ(rows.size(), 1U) << outcome.out << outcome.error;
  const std::string note = rows[0]["note"];
  EXPECT_NE(note.find("cannot start the thread of a worker"), std::string::npos) << note;
  EXPECT_NE(note.find("6000 KiB of data: ulimit -d"), std::string::npos) << note;
}

TEST_F(BenchRunner, SkipsByRuleAndByOption) {
  const Outcome outcome = run("run --bench work -a nanos=13,1000,2000 --skip nanos=2000 --no-store --json");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.row("nanos", 13)["note"], "thirteen is out");
  EXPECT_EQ(outcome.row("nanos", 13)["time_us"], nullptr);
  EXPECT_EQ(outcome.row("nanos", 2000)["check"], "skipped");
  EXPECT_EQ(outcome.row("nanos", 1000)["check"], "ok");
}

TEST_F(BenchRunner, SetsVariablesForGroupsOfTheirOwn) {
  const Outcome outcome = run(
      "run --bench environment --env-zip 'A,B=[[1,2],[3,unset]]' --no-store --json --budget 50ms", "env COLOUR=green");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("4 groups, 8 cases"), std::string::npos) << outcome.error;
  int unset = 0;
  for (const Json& row : outcome.rows()) {
    EXPECT_TRUE(row["COLOUR"] == "red" || row["COLOUR"].is_null()) << row;
    EXPECT_EQ(row["ran"], row["COLOUR"].is_null() ? Json("no colour") : row["COLOUR"]);
    unset += row["B"].is_null() ? 1 : 0;
  }
  EXPECT_EQ(unset, 4);
}

TEST_F(BenchRunner, WhatOneCaseDoesIsItsOwnAffair) {
  const Outcome outcome = run("run --bench misbehaviour --sync meeting --no-store --json --budget 50ms --timeout 3s");
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  const auto says = [&](const char* how, const char* check, const char* words) {
    const Json row = outcome.row("how", how);
    ASSERT_TRUE(row.is_object()) << outcome.out;
    EXPECT_EQ(row["check"], check) << row;
    EXPECT_NE(row["note"].dump().find(words), std::string::npos) << row;
  };
  says("throws", "error", "no mood");
  says("throws_alone", "error", "rank 1: the body threw: no mood");
  says("skips", "skipped", "not today");
  says("skips_alone", "skipped", "not today");
  says("forgets", "error", "without calling exec");
  says("asks", "error", "there is no axis 'nobody'");
  says("wrong", "wrong", "rank 1: element 3 is 4, expected 5");
  says("crashes", "error", "rank 1 was killed by signal 11");
  says("exits", "error", "rank 1 ended with status 7");
  says("hangs", "error", "has not answered within 3s");
  EXPECT_EQ(outcome.row("how", "nothing")["check"], "unchecked");
  EXPECT_EQ(outcome.row("how", "well")["check"], "unchecked");
}

TEST_F(BenchRunner, RanksHaveCoresOfTheirOwnUnlessTheyAreNotToBeBound) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  const std::string all = std::to_string(CPU_COUNT(&allowed));
  const Json bound = run("run --bench threads --no-store --json --budget 20ms").rows()[0];
  const Json unbound = run("run --bench threads --bind none --no-store --json --budget 20ms").rows()[0];
  EXPECT_EQ(unbound["ran"], all);
  if (bound["note"].dump().find("more ranks than cores") != std::string::npos)
    GTEST_SKIP() << "there are too few cores";
  EXPECT_LE(2 * std::stoi(bound["ran"].get<std::string>()), CPU_COUNT(&allowed)) << bound;
  EXPECT_EQ(bound["note"].dump().find("not bound"), std::string::npos) << bound;
  EXPECT_NE(unbound["note"].dump().find("ranks are not bound to cores"), std::string::npos) << unbound;
}

TEST_F(BenchRunner, MoreRanksThanCoresAreBoundToThemInTurn) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  const int all = CPU_COUNT(&allowed);
  if (all < 2 || all > 16) GTEST_SKIP() << all << " hardware threads are too few or too many";
  const std::string command =
      fmt::format("run --bench threads -a num_ranks={} --no-store --json --budget 20ms", all + 1);
  const Json bound = run(command).rows()[0];
  const Json unbound = run(command + " --bind none").rows()[0];
  EXPECT_LT(std::stoi(bound["ran"].get<std::string>()), all) << bound;
  EXPECT_NE(bound["note"].dump().find("rank r is on core r modulo"), std::string::npos) << bound;
  EXPECT_EQ(unbound["ran"], std::to_string(all)) << unbound;
  EXPECT_NE(unbound["note"].dump().find("ranks are not bound to cores"), std::string::npos) << unbound;
}

// Skips and failures while a case is prepared cost no waiting and no new start.
TEST_F(BenchRunner, ACaseThatIsNotMeasuredLeavesTheGroupAsItWas) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      run("run --bench misbehaviour -a how=nothing,throws_alone,skips_alone,skips,throws,well --no-store --json "
          "--budget 50ms --timeout 60s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "it waited for an answer";
  EXPECT_EQ(outcome.row("how", "nothing")["check"], "unchecked") << outcome.out;
  EXPECT_EQ(outcome.row("how", "well")["check"], "unchecked") << outcome.out;
  EXPECT_TRUE(outcome.row("how", "well")["time_us"].is_number());
}

// With sanitizers a process that only waits for its turn is too busy for its times to count.
#if !defined(TUTTI_SANITIZED)
TEST_F(BenchRunner, ComparesTheSameAsTheSameAndFindsWhatIsSlower) {
  const std::string same = fmt::format(
      "compare --bench environment --env COLOUR=red --env SLOWER=20000,20001 -a number=1 "
      "--json --budget 500ms --no-store");
  const Outcome equal = run(same);
  EXPECT_EQ(equal.exit, 0) << equal.error;
  EXPECT_EQ(equal.error.find("faster"), std::string::npos) << equal.out;
  EXPECT_EQ(equal.error.find("slower"), std::string::npos) << equal.out;
  const Outcome slower =
      run("compare --bench environment --env COLOUR=red --env SLOWER=20000,22000 -a number=1 --json "
          "--budget 500ms --fail-on slower:5% --no-store");
  EXPECT_EQ(slower.exit, 1) << slower.error << slower.out;
  EXPECT_NE(slower.error.find("1 slower"), std::string::npos) << slower.error << slower.out;
}

// Cases that only some competitors have, and what is kept of it all.
TEST_F(BenchRunner, AComparisonIsKeptWithAllItsLaunches) {
  const std::string kept = " --store '" + store() + "' ";
  const Outcome live =
      run("compare --bench environment --env COLOUR=red --env SLOWER=20000,26000 -a number=1,2 "
          "--launches 6 --json --budget 300ms" +
          kept);
  EXPECT_EQ(live.exit, 0) << live.error;
  EXPECT_NE(live.error.find("12 groups, 24 cases"), std::string::npos) << live.error;
  EXPECT_EQ(live.rows().size(), 2U);
  const Outcome shown = run("show --json" + kept);
  EXPECT_EQ(shown.rows().size(), 4U) << shown.out;
  for (const Json& row : shown.rows()) EXPECT_EQ(row["launches"], 6) << row;
  // A run and itself: its intervals are those of two that know nothing of each other.
  const Outcome again = run("compare 1 last --json" + kept);
  EXPECT_EQ(again.exit, 0) << again.error;
  EXPECT_EQ(again.rows().size(), 4U);
  EXPECT_NE(again.error.find("both are the same run"), std::string::npos);
  const Outcome best =
      run("compare --bench environment --env COLOUR=red --env SLOWER=40000,20000 -a number=1 --view best "
          "--launches 1 --json --budget 300ms" +
          kept);
  EXPECT_EQ(best.rows()[0]["best"], "itself SLOWER=20000") << best.out;
  EXPECT_NEAR(best.rows()[0]["speedup"].get<double>(), 2, 0.5);
  // Later as it was then.
  EXPECT_EQ(run("show last --view best --json" + kept).out, best.out);
  const Outcome other = run("show last --view best --baseline 'itself SLOWER=20000' --json" + kept);
  EXPECT_EQ(other.rows()[0]["speedup"], 1.0) << other.out;
}
#endif

// Who starts first gets other pages, so everyone is it in turn.
TEST_F(BenchRunner, EachLaunchOfAComparisonBeginsWithTheNextGroup) {
  const Outcome outcome =
      run("compare --bench environment --env COLOUR=red --env SLOWER=20000,20001,20002 -a number=1 "
          "--launches 6 --budget 60ms --store '" +
          store() + "'");
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  Result<Store> kept = Store::open_to_read(store());
  ASSERT_TRUE(kept.ok());
  const Result<std::vector<Row>> rows = kept->rows_of(1);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 18U);
  for (const char* when : {"pid", "prepared"}) {
    SCOPED_TRACE(when);
    std::vector<std::vector<double>> launches(6);  // in the order of the groups
    for (const Row& row : *rows) launches.at(static_cast<std::size_t>(row.launch)).push_back(row.counters.at(when));
    std::vector<std::size_t> begun(3);  // how often each group was the first
    for (const std::vector<double>& each : launches)
      ++begun.at(static_cast<std::size_t>(std::min_element(each.begin(), each.end()) - each.begin()));
    // Numbers of processes may begin anew once.
    for (const std::size_t times : begun) EXPECT_NEAR(static_cast<double>(times), 2, 1);
  }
}

// What was measured one after another has a best too.
TEST_F(BenchRunner, TheBestOfARunIsShownAndMistakesInThatAreRefused) {
  const std::string kept = " --store '" + store() + "'";
  EXPECT_EQ(
      run("run --bench environment --env COLOUR=red --env SLOWER=40000,20000,40001 -a number=1,2 --budget 50ms" + kept)
          .exit,
      0);
  const Json rows = run("show --view best --json" + kept).rows();
  ASSERT_EQ(rows.size(), 2U);
  for (const Json& row : rows) {
    EXPECT_EQ(row["best"], "itself SLOWER=20000") << row;
    EXPECT_NEAR(row["speedup"].get<double>(), 2, 0.5) << row;
    EXPECT_FALSE(row.contains("SLOWER")) << row;
  }
  EXPECT_EQ(run("run --bench work -a nanos=1000 --budget 10ms" + kept).exit, 0);
  for (const auto& [words, why] :
       {std::pair("--view best", "only 'itself'"), std::pair("--view worst", "it takes rows, best or bandwidth"),
        std::pair("--baseline itself", "--baseline is for --view best"),
        std::pair("--view best --format nccl-tests", "no layout of nccl-tests"),
        std::pair("1 --view best --baseline x", "there are: 'itself SLOWER=40000', ")}) {
    const Outcome outcome = run(fmt::format("show {}{}", words, kept));
    EXPECT_EQ(outcome.exit, 2) << words;
    EXPECT_NE(outcome.error.find(why), std::string::npos) << words << "\n" << outcome.error;
  }
}

TEST_F(BenchRunner, RunsThatHaveNothingInCommonAreNotFoundEqual) {
  const std::string kept = " --budget 50ms --store '" + store() + "' ";
  EXPECT_EQ(run("run --bench work --sync meeting -a nanos=1000 --env A=1" + kept).exit, 0);
  EXPECT_EQ(run("run --bench work --sync meeting -a nanos=2000 --env A=2" + kept).exit, 0);
  const Outcome outcome = run("compare 1 2 --fail-on slower:3% --store '" + store() + "'");
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  EXPECT_NE(outcome.error.find("2 there only once"), std::string::npos) << outcome.error;
}

TEST_F(BenchRunner, RefusesBeforeAnythingIsStarted) {
  const std::array<std::pair<const char*, const char*>, 27> mistakes = {{
      {"compare --bench work --launches 3 --env A=1,2 --fail-on slower:3%", "need 6 launches or more; --launches is 3"},
      {"compare --bench work", "there is only one to compare"},
      {"compare --bench work --env A=1,2 --view worst", "it takes pairs or best"},
      {"compare --bench work --env A=1,2 --view best --baseline A", "there are: 'itself A=1', 'itself A=2'"},
      {"run --bench work --quick", "--quick is for the bench communicators"},
      {"run --bench work -a nanos=1000,1000", "-a nanos has a value twice"},
      {"run --bench work --env A=1,1", "A has a value twice"},
      {"run --bench work --env RANK=5",
       "variable RANK cannot be swept: Tutti, as torchrun does, sets it for each rank"},
      {"run --bench work --env-zip 'A,BENCH_RANK=[[1,2]]'", "variable BENCH_RANK cannot be swept: Tutti sets it"},
      {"run --bench work --env itself:MASTER_PORT=unset", "variable MASTER_PORT cannot be swept: Tutti sets it"},
      {"compare --bench work --env PMI_RANK=0,1", "variable PMI_RANK cannot be swept: MPICH's mpirun sets it"},
      {"run --bench work --skip itself:nanos=1000", "it is for all peers"},
      {"run --bench nosuch", "there are: work, nothing, environment, misbehaviour"},
      {"run --bench work -a colour=1", "which is no axis of work; there are: num_ranks, nanos, mode"},
      {"run --bench work -a nanos=8:4", "-a nanos"},
      {"run --bench work -a num_ranks=0", "it takes numbers from 1"},
      {"run --bench work --peer gloo", "--peer has 'gloo', which is none; all that are here is 'all'"},
      {"run --bench work --budget soon", "--budget is 'soon'"},
      {"run --bench work --env 'A=1' --env-zip 'A,B=[[1,2]]'", "variable A is on two axes"},
      {"run --bench work --env-zip 'A=[[1],[2]]' --env A=3", "A is given twice; give all its values in one --env or"},
      {"run --bench work --env A=3 --env A=4", "A is given twice"},
      {"run --bench work --env-zip 'A,B=[[1,2]]' --env-zip 'A,B=[[3,4]]'", "A,B is given twice"},
      {"run --bench work --env itself:A=3 --env itself:A=4", "itself:A is given twice"},
      {"run --bench work --env TUTTI_DEBUG=info,infoo", "--env: TUTTI_DEBUG: 'infoo' is not one of the choices"},
      {"run --env 'TUTTI_DEBUG=infoo' -- true", "--env: TUTTI_DEBUG: 'infoo' is not one of the choices"},
      {"compare --bench work --env-zip 'A,TUTTI_SPIN=[[1,\"2h\"]]'", "--env-zip: TUTTI_SPIN: '2h' is out of range"},
      {"run --bench work --sync never", "it takes round, meeting or barrier"},
  }};
  for (const auto& [arguments, words] : mistakes) {
    const Outcome outcome = run(std::string(arguments) + " --no-store");
    EXPECT_EQ(outcome.exit, 2) << arguments;
    EXPECT_NE(outcome.error.find(words), std::string::npos) << arguments << "\n" << outcome.error;
  }
  const Outcome unwritable = run("run --bench work -o /nosuch/file --no-store");
  EXPECT_EQ(unwritable.exit, 1);
  EXPECT_NE(unwritable.error.find("cannot write '/nosuch/file'"), std::string::npos) << unwritable.error;
}

TEST_F(BenchRunner, KilledAndResumedItLosesAndRepeatsNothing) {
  const std::string sweep = long_sweep(120);
  // Killed while it runs, in different places.
  for (int turn = 0; turn < 4; ++turn) {
    const std::size_t before = kept().size();
    const pid_t runner = begin(sweep + (turn == 0 ? "" : " --resume"));
    wait_until_kept(before + 3);
    ::kill(runner, SIGKILL);
    EXPECT_EQ(end(runner).exit, -1) << "it had ended before";
  }
  const Outcome resumed = run(sweep + " --resume");
  EXPECT_EQ(resumed.exit, 0) << resumed.error << resumed.out;
  const Json rows = kept();
  std::set<int> numbers;
  for (const Json& row : rows) numbers.insert(row["number"].get<int>());
  EXPECT_EQ(rows.size(), 120U) << "a row is lost, or there twice";
  EXPECT_EQ(numbers.size(), 120U);
  EXPECT_EQ(num_workers_left(), 0);
}

TEST_F(BenchRunner, AComparisonIsResumedAndKeepsItsBaseline) {
  const std::string sweep =
      "compare --bench environment --env COLOUR=red --env SLOWER=100,200 -a number=0:9:+1 --launches 2 --view best "
      "--baseline 'itself SLOWER=200' --budget 200ms --least-samples 1000000 --json --store '" +
      store() + "'";
  const pid_t runner = begin(sweep);
  wait_until_kept(1);
  ::kill(runner, SIGINT);
  const Outcome interrupted = end(runner);
  EXPECT_EQ(interrupted.exit, 130);
  EXPECT_NE(interrupted.error.find("done and kept"), std::string::npos) << interrupted.error;
  EXPECT_NE(interrupted.error.find("no verdict; a verdict needs 6 or more"), std::string::npos) << interrupted.error;
  const Outcome resumed = run(sweep + " --resume");
  EXPECT_EQ(resumed.exit, 0) << resumed.error;
  EXPECT_NE(resumed.error.find(" of them are done already"), std::string::npos) << resumed.error;
  ASSERT_EQ(resumed.rows().size(), 10U);
  EXPECT_EQ(resumed.rows()[0]["baseline"], "itself SLOWER=200");
  // All is done, which is not an error.
  const Outcome again = run(sweep + " --resume");
  EXPECT_EQ(again.exit, 0) << again.error;
  EXPECT_NE(again.error.find("run 1 has all of its 40 cases already"), std::string::npos) << again.error;
  EXPECT_EQ(again.out, resumed.out);
  const Outcome shown = run("show --view best --json --store '" + store() + "'");
  EXPECT_EQ(shown.out, resumed.out) << "over the same one";
  for (const Json& row : kept()) EXPECT_EQ(row["launches"], 2) << row;
  EXPECT_EQ(num_workers_left(), 0);
}

// A comparison or a tuning has many groups, and only one of them at a time is measured.
TEST_F(BenchRunner, WorkersThatAreToldNothingSleep) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer has a thread of its own that wakes up";
#endif
  const pid_t runner = begin(long_sweep(500));
  wait_until_kept(1);
  ::kill(runner, SIGSTOP);
  // Until they have done what it has told them last, and slept for a second.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::int64_t slept = 0;
  do {
    const std::int64_t before = num_sleeps();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    slept = num_sleeps() - before;
  } while (slept > 4 && std::chrono::steady_clock::now() < deadline);
  EXPECT_LE(slept, 4);
  EXPECT_EQ(num_workers_left(), 3) << "the runner and two ranks";
  ::kill(runner, SIGCONT);
  ::kill(runner, SIGINT);
  EXPECT_EQ(end(runner).exit, 130);
}

TEST_F(BenchRunner, AnInterruptKeepsWhatIsDone) {
  const std::string sweep = long_sweep(60);
  const pid_t runner = begin(sweep);
  wait_until_kept(1);
  ::kill(runner, SIGINT);
  const Outcome outcome = end(runner);
  EXPECT_NE(outcome.error.find("interrupted: "), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find("repeat the command with --resume"), std::string::npos) << outcome.error;
  EXPECT_GE(kept().size(), 1U);
  const Outcome resumed = run(sweep + " --resume");
  EXPECT_EQ(resumed.exit, 0) << resumed.error << resumed.out;
  EXPECT_EQ(kept().size(), 60U);
  EXPECT_EQ(num_workers_left(), 0);
}

}  // namespace
}  // namespace tutti::harness
