// SPDX-License-Identifier: Apache-2.0
// `tutti run -- COMMAND` and `tutti import`, as a user calls them, with shell scripts in the places of programs.
#include "run_program.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti {

const char* const kTuttiProgram = TUTTI_PROGRAM;

namespace {

TEST_F(RunProgram, EachRowOfItsTableIsARowOfResults) {
  write_all_reduce_perf();
  const Outcome outcome = tutti("run --json --env NCCL_MIN_CTAS=32,64 -- ./all_reduce_perf -b 8 -g 2");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("2 runs of all_reduce_perf"), std::string::npos) << outcome.error;
  const Json rows = outcome.rows();
  ASSERT_EQ(rows.size(), 4U) << outcome.out;
  EXPECT_EQ(rows[0]["bench"], "all_reduce_perf");
  EXPECT_EQ(rows[0]["peer"], "command");
  EXPECT_EQ(rows[0]["ranks"], 2);
  EXPECT_EQ(rows[0]["NCCL_MIN_CTAS"], "32");
  EXPECT_EQ(rows[0]["bytes"], 1000000);
  EXPECT_EQ(rows[0]["time_us"], 100.0);
  EXPECT_EQ(rows[0]["algbw_gbs"], 10.0);
  EXPECT_EQ(rows[0]["busbw_gbs"], 10.0);
  EXPECT_EQ(rows[0]["check"], "ok");
  EXPECT_EQ(rows[0]["ran"], "./all_reduce_perf -b 8 -g 2");
  EXPECT_EQ(rows[0]["note"], "the program's own average");  // and the variable is confirmed
  EXPECT_TRUE(rows[0]["plus_minus_percent"].is_null());
  EXPECT_TRUE(rows[0]["min_us"].is_null());
  EXPECT_EQ(rows[3]["in_place"], 1);
  EXPECT_EQ(rows[3]["time_us"], 10.5);
}

TEST_F(RunProgram, LaunchesAreSamplesAndRunsCompare) {
  write_all_reduce_perf();
  ASSERT_EQ(tutti("run --launches 6 --env NCCL_MIN_CTAS=32 -- ./all_reduce_perf").exit, 0);
  const Json row = tutti("show --json").rows()[0];
  EXPECT_EQ(row["samples"], 6);
  EXPECT_EQ(row["time_us"], 100.0);
  ASSERT_EQ(tutti("run --launches 6 --env NCCL_MIN_CTAS=32 -- ./all_reduce_perf").exit, 0);
  write_all_reduce_perf("5");
  ASSERT_EQ(tutti("run --launches 6 --env NCCL_MIN_CTAS=32 -- ./all_reduce_perf").exit, 0);
  const Outcome same = tutti("compare 1 2 --json");
  ASSERT_EQ(same.rows().size(), 2U) << same.error;
  EXPECT_EQ(same.rows()[0]["run 2_verdict"], "same") << same.out;
  EXPECT_EQ(same.rows()[0]["NCCL_MIN_CTAS"], "32");
  EXPECT_EQ(tutti("compare 1 last --json").rows()[0]["run 3_verdict"], "faster");
  // A single launch has no interval.
  ASSERT_EQ(tutti("run --env NCCL_MIN_CTAS=32 -- ./all_reduce_perf").exit, 0);
  const Json once = tutti("compare 1 last --json").rows()[0];
  EXPECT_EQ(once["run 4_verdict"], "undecided");
  EXPECT_TRUE(once["run 4_interval"].is_null());
}

TEST_F(RunProgram, WrongResultsAndFailuresAreRows) {
  write_all_reduce_perf();
  const Outcome wrong = tutti("run --no-store --json -- ./all_reduce_perf", "WRONG=5");
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_EQ(wrong.rows()[0]["check"], "ok");
  EXPECT_EQ(wrong.rows()[1]["check"], "wrong");

  const auto note_of = [&](const std::string& arguments) {
    const Outcome outcome = tutti("run --no-store --json " + arguments);
    EXPECT_EQ(outcome.exit, 1) << arguments;
    const Json rows = outcome.rows();
    EXPECT_EQ(rows.size(), 1U) << outcome.out;
    return rows.empty() ? std::string() : rows[0].value("note", "");
  };
  EXPECT_EQ(note_of("-- sh -c 'echo one; echo two >&2; exit 3'"), "sh ended with status 3; it wrote: one | two");
  EXPECT_EQ(note_of("-- sh -c 'kill -9 $$'"), "sh was killed by signal 9");
  EXPECT_NE(note_of("--read osu -- echo nothing").find("--read osu recognises nothing"), std::string::npos);
  EXPECT_NE(note_of("--read osu -- true").find("nothing in the output is recognised"), std::string::npos);
}

TEST_F(RunProgram, PastItsLimitItIsKilledWithAllThatItStarted) {
  // Its child leads a session of its own, and holds a pipe that this test reads to its end.
  const Outcome outcome =
      tutti("run --no-store --json --timeout 1s -- sh -c 'setsid sh -c \"echo \\$\\$ >child; sleep 1000\" & wait'");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_NE(outcome.rows()[0]["note"].get<std::string>().find("within 1s"), std::string::npos) << outcome.out;
  const pid_t child = std::atoi(folder_.read("child").c_str());
  ASSERT_GT(child, 0);
  EXPECT_TRUE(is_gone(child));
}

TEST_F(RunProgram, NothingOutlivesARunnerThatIsKilled) {
  const pid_t child = kill_runner_of("trap \"\" TERM; sleep 1000 & echo $! >child; wait");
  ASSERT_GT(child, 0);
  wait_for([&] { return is_gone(child); });
  EXPECT_TRUE(is_gone(child));
}

// As an mpirun of Open MPI that has no ranks yet, and that the kernel ends before anybody has seen it.
TEST_F(RunProgram, WhatAnMpirunHasBegunGoesWithARunnerThatIsKilled) {
  const std::string all = folder_.file("ompi.$(uname -n | cut -d. -f1).$(id -u)");
  const pid_t child = kill_runner_of(fmt::format(
      "mkdir -p {0}/pid.$$/0 {0}/pid.1; ln -s {0} sessions; echo $$ >child; while sleep 0.01; do :; done", all));
  ASSERT_GT(child, 0);
  wait_for([&] { return !exists(fmt::format("sessions/pid.{}", child)); });
  EXPECT_FALSE(exists(fmt::format("sessions/pid.{}", child)));
  EXPECT_TRUE(exists("sessions/pid.1")) << "it is another's";
}

TEST_F(RunProgram, AxesStandInTheCommand) {
  const Outcome outcome = tutti(
      "run --no-store --json --name mine -a n=1,2.5 -a num_ranks=2,4 --read 'regex:took (?<time_ms>\\S+) with "
      "(?<with>\\d+)'"
      " -- echo took {n} with {num_ranks} '{x}'");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("{x} in the command is no axis"), std::string::npos) << outcome.error;
  const Json rows = outcome.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1]["n"], 2.5);
  EXPECT_EQ(rows[1]["time_us"], 2500.0);
  EXPECT_EQ(rows[1]["peer"], "mine");
  EXPECT_EQ(rows[3]["ranks"], 4);
  EXPECT_EQ(rows[3]["with"], 4);
}

TEST_F(RunProgram, ALauncherGetsTheRanks) {
  write_program("srun", "echo \"$*\"\n");
  const Outcome outcome = tutti(
      "run --no-store --json --launcher srun -a num_ranks=8 --read 'regex:-n (?<time_s>\\d+) (?<what>.*)' -- ls a");
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.rows()[0]["time_us"], 8e6);
  EXPECT_EQ(outcome.rows()[0]["what"], "ls a");
}

TEST_F(RunProgram, WithoutATableItsWallTimeCounts) {
  const Outcome outcome = tutti("run --no-store --json -- sleep 0.05");
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_GE(outcome.rows()[0]["time_us"].get<double>(), 50'000);
  EXPECT_EQ(outcome.rows()[0]["note"], "wall time of the program");
  EXPECT_TRUE(outcome.rows()[0]["ranks"].is_null());
}

TEST_F(RunProgram, TheEnvironmentIsAsOrderedAndOfOneSize) {
  const Outcome outcome = tutti(
      "run --no-store --json --env SWEPT=a,unset,much_longer_than_the_others --read 'regex:(?<time_us>\\d+) "
      "(?<swept>.*)'"
      " -- sh -c 'echo $(env | wc -c) \"<$SWEPT>\"'");
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  const Json rows = outcome.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["swept"], "<a>");
  EXPECT_EQ(rows[1]["swept"], "<>");
  EXPECT_EQ(rows[0]["time_us"], rows[1]["time_us"]);
  EXPECT_EQ(rows[0]["time_us"], rows[2]["time_us"]);
  EXPECT_NE(rows[0]["note"].get<std::string>().find("SWEPT unverifiable"), std::string::npos);
}

TEST_F(RunProgram, RunsThatDifferInOneVariableAreComparedOverIt) {
  write_program("p", "test $X = 32 && echo took 10 || echo took 20\n");
  for (const char* settings : {"--env X=16 --env Y=1", "--env X=32 --env Y=1", "--env X=32 --env Y=2", "--env X=16,32"})
    ASSERT_EQ(tutti(fmt::format("run --launches 6 {} --read 'regex:took (?<time_us>.*)' -- ./p", settings)).exit, 0);
  const Outcome found = tutti("compare 1 2 --json");
  EXPECT_EQ(found.exit, 0) << found.error;
  EXPECT_NE(found.error.find("X in run 1: 16, in run 2: 32; compared over it"), std::string::npos) << found.error;
  ASSERT_EQ(found.rows().size(), 1U) << found.out;
  EXPECT_EQ(found.rows()[0]["run 2_verdict"], "faster");
  EXPECT_EQ(found.rows()[0]["Y"], "1");
  EXPECT_FALSE(found.rows()[0].contains("X"));
  EXPECT_EQ(tutti("compare 1 2 --ignore X --json").out, found.out);
  // Of two that differ, none is chosen; they are named.
  const Outcome two = tutti("compare 1 3");
  EXPECT_EQ(two.exit, 1);
  EXPECT_NE(two.error.find("X in run 1: 16, in run 3: 32\n"), std::string::npos) << two.error;
  EXPECT_NE(two.error.find("Y in run 1: 1, in run 3: 2\n"), std::string::npos) << two.error;
  const Outcome several = tutti("compare 1 4 --ignore X");
  EXPECT_EQ(several.exit, 2);
  EXPECT_NE(several.error.find("run 4 cannot be compared over X"), std::string::npos) << several.error;
  EXPECT_EQ(tutti("compare 1 2 --ignore Z").exit, 2);
}

TEST_F(RunProgram, DataKeepEveryDigitAndTellUnsetFromEmpty) {
  write_program("p", "echo took ${T:-1041.2}\n");
  const std::string sweep = "run --no-store --env 'X=unset,,a' --read 'regex:took (?<time_us>.*)' ";
  const Json rows = tutti(sweep + "--json -- ./p").rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["time_us"], 1041.2);
  EXPECT_TRUE(rows[0].contains("X") && rows[0]["X"].is_null()) << rows;
  EXPECT_EQ(rows[1]["X"], "");
  EXPECT_EQ(rows[2]["X"], "a");
  const std::string csv = tutti(sweep + "--format csv -- ./p").out;
  EXPECT_NE(csv.find("\np,command,,unset,1041.2,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\np,command,,\"\",1041.2,"), std::string::npos) << csv;
  const std::string table = tutti(sweep + "-- ./p").out;
  EXPECT_NE(table.find(" \"\" "), std::string::npos) << table;
  EXPECT_NE(table.find(" 1041 "), std::string::npos) << table;
  folder_.write("osu.txt",
                "# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n8  1.005\n16  1041.2\n");
  const Json imported = tutti("import --num-ranks 2 --no-store --json osu.txt").rows();
  ASSERT_EQ(imported.size(), 2U);
  EXPECT_EQ(imported[0]["time_us"], 1.005);
  EXPECT_EQ(imported[1]["time_us"], 1041.2);
}

TEST_F(RunProgram, ATerminatedSweepKeepsItsRows) {
  write_program("p", "test $A = 2 && { kill -TERM $PPID; sleep 1000; }\necho took $A\n");
  const Outcome outcome = tutti("run --json --env A=1,2 --read 'regex:took (?<time_us>.*)' -- ./p");
  EXPECT_EQ(outcome.exit, 143);
  EXPECT_NE(outcome.error.find("interrupted: 1 of 2 cases is done and kept"), std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.rows().size(), 1U);
  EXPECT_EQ(tutti("show last --json").rows().size(), 1U);
}

TEST_F(RunProgram, WholeOutputsAreKept) {
  const Outcome outcome =
      tutti("run --no-store --keep-output a/b --env A=1,2 -a n=x/y -- sh -c 'echo {n} $A; echo no >&2'");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(folder_.read("a/b/0002-A=2-n=x_y.out"), "x/y 2\n");
  EXPECT_EQ(folder_.read("a/b/0002-A=2-n=x_y.err"), "no\n");
}

TEST_F(RunProgram, MisuseStartsNothing) {
  for (const char* arguments : {"--",
                                "touch started",
                                "-a n=1 -- touch started",
                                "-a num_ranks=2 -- touch started",
                                "--launcher srun -- touch started",
                                "--bench all_reduce -- touch started",
                                "--budget 2s -- touch started",
                                "--no-check -- touch started",
                                "--read xml -- touch started",
                                "--read regex:x -- touch started",
                                "--time a:us -- touch started",
                                "--name 'a b' -- touch started",
                                "--timeout 0s -- touch started",
                                "--env A -- touch started",
                                "-a nth=1 -- touch started{nth}",
                                "--env BENCH_PROGRAM=1 -- touch started",
                                "--launcher mpirun.openmpi -a num_ranks=2 --env RANK=1 -- touch started",
                                "--env other:A=1 -- touch started",
                                "--read osu --bench all_reduce",
                                "--format xml -- touch started"}) {
    const Outcome outcome = tutti(fmt::format("run --no-store {}", arguments));
    EXPECT_EQ(outcome.exit, 2) << arguments;
    EXPECT_NE(outcome.error.find("--help"), std::string::npos) << outcome.error;
  }
  for (const char* arguments : {"-- ./none", "-- none", "--keep-output /proc/none -- touch started"}) {
    const Outcome outcome = tutti(fmt::format("run --no-store {}", arguments));
    EXPECT_EQ(outcome.exit, 1) << arguments;
    EXPECT_NE(outcome.error.find("none'"), std::string::npos) << outcome.error;
  }
  EXPECT_FALSE(exists("started"));
  // Whom nobody gives a rank may be given one.
  EXPECT_EQ(tutti("run --no-store --env RANK=1 --env MASTER_PORT=unset -- true").exit, 0);
  EXPECT_EQ(tutti("run --dry-run -a n=1,2 -- touch started {n}").out,
            "peer command\n  touch started 1\n  touch started 2\n");
  EXPECT_FALSE(exists("started"));
}

TEST_F(RunProgram, ASweepFileMayNameTheCommand) {
  folder_.write(
      "sweep.toml",
      "command = [\"echo\", \"took {n} s\"]\naxes = [\"n=1,2\"]\nread = \"regex:took (?<time_s>.*) s\"\nname = "
      "\"mine\"\n");
  const Outcome outcome = tutti("run --no-store --json --sweep sweep.toml");
  ASSERT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.rows()[1]["time_us"], 2e6);
  EXPECT_EQ(tutti("compare --sweep sweep.toml").exit, 2);
  folder_.write("sweep.toml", "command = \"echo\"\n");
  EXPECT_NE(tutti("run --sweep sweep.toml").error.find("sweep.toml:1: command is no array"), std::string::npos);
}

TEST_F(RunProgram, RunsAreNamedAnnotatedAndDeleted) {
  write_program("quick", "exit 0\n");
  ASSERT_EQ(tutti("run --run-name before --note 'kernel 6.1' -- ./quick").exit, 0);
  ASSERT_EQ(tutti("run -- ./quick").exit, 0);
  const Json runs = tutti("list runs --json").rows();
  EXPECT_EQ(runs[0]["name"], nullptr);
  EXPECT_EQ(runs[1]["name"], "before");
  EXPECT_EQ(runs[1]["note"], "kernel 6.1");
  const Outcome shown = tutti("show before");
  EXPECT_NE(shown.error.find("run 1 (before), "), std::string::npos) << shown.error;
  EXPECT_NE(shown.error.find("\nkernel 6.1\n"), std::string::npos) << shown.error;

  EXPECT_EQ(tutti("run --run-name before -- touch started").exit, 2);
  EXPECT_FALSE(exists("started")) << "the name is another run's";
  EXPECT_EQ(tutti("run --run-name 12 -- touch started").exit, 2);
  EXPECT_EQ(tutti("run --no-store --run-name x -- touch started").exit, 2);
  EXPECT_FALSE(exists("started"));
  EXPECT_EQ(tutti("label last --run-name after --note ''").exit, 0);
  EXPECT_EQ(tutti("label last --run-name before").exit, 2);
  EXPECT_EQ(tutti("label last").exit, 2);
  const Outcome compared = tutti("compare before after --format csv");
  EXPECT_NE(compared.out.find("before"), std::string::npos) << compared.out << compared.error;
  EXPECT_NE(compared.out.find("after"), std::string::npos) << compared.out;
  EXPECT_EQ(compared.out.find("run 1"), std::string::npos) << compared.out;

  EXPECT_EQ(tutti("delete last").exit, 2) << "which one that is may change";
  EXPECT_EQ(tutti("delete before nonsense").exit, 2);
  EXPECT_EQ(tutti("list runs --json").rows().size(), 2U) << "nothing is deleted where one is none";
  const Outcome deleted = tutti("delete before");
  EXPECT_EQ(deleted.exit, 0) << deleted.error;
  EXPECT_EQ(deleted.error, "run 1 (before) is deleted, with its 1 row\n");
  EXPECT_EQ(tutti("show before").exit, 2);
  EXPECT_EQ(tutti("list runs --json").rows().size(), 1U);
}

TEST_F(RunProgram, WithoutAUsableDefaultStoreRunsAreNotKeptAndSoItSays) {
  write_program("quick", "exit 0\n");
  folder_.write("file", "");
  std::filesystem::create_symlink("loop", folder_.file("loop"));
  for (const char* place : {"XDG_DATA_HOME=\"$PWD/file\"", "XDG_DATA_HOME=\"$PWD/loop\"", "XDG_DATA_HOME= HOME="}) {
    const Outcome outcome = tutti("run --json -- ./quick", place);
    EXPECT_EQ(outcome.exit, 0) << outcome.error;
    EXPECT_EQ(outcome.rows().size(), 1U) << outcome.out;
    EXPECT_NE(outcome.error.find("results are not kept: "), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("--store FILE or XDG_DATA_HOME says where to keep them"), std::string::npos);
  }
  EXPECT_EQ(tutti("run --store file/x.db -- touch started").exit, 1);
  EXPECT_FALSE(exists("started")) << "the store was named";

  for (const char* arguments : {"show", "list runs", "compare 1 2"}) {
    const Outcome outcome = tutti(arguments, "XDG_DATA_HOME=\"$PWD/loop\"");
    EXPECT_EQ(outcome.exit, 1) << outcome.error;
    EXPECT_NE(outcome.error.find("cannot look for kept runs in '"), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("--store FILE or XDG_DATA_HOME"), std::string::npos) << outcome.error;
  }
  tutti("show", "XDG_DATA_HOME=\"$PWD/data\"");
  EXPECT_FALSE(exists("data")) << "who reads makes no folders";
}

TEST_F(RunProgram, TheCommandOfARunIsShownAsItCanBePasted) {
  write_program("quick", "exit 0\n");
  ASSERT_EQ(tutti("run -- ./quick 'a b' \"$(printf 'x\\033[1m\\ny')\"").exit, 0);
  const Outcome shown = tutti("show");
  EXPECT_NE(shown.error.find(R"(tutti run -- ./quick 'a b' $'x\x1b[1m\x0ay')"), std::string::npos) << shown.error;
}

TEST_F(RunProgram, SavedOutputsAreImportedAndWrittenAgain) {
  write_all_reduce_perf();
  ASSERT_EQ(tutti("run --no-store --keep-output kept --env NCCL_MIN_CTAS=32 -- ./all_reduce_perf").exit, 0);
  const Outcome imported = tutti("import --bench all_reduce_perf --env NCCL_MIN_CTAS=32 --json kept/*.out kept/*.out");
  ASSERT_EQ(imported.exit, 0) << imported.error;
  ASSERT_EQ(imported.rows().size(), 2U);
  EXPECT_EQ(imported.rows()[0]["samples"], 2);
  EXPECT_EQ(imported.rows()[0]["busbw_gbs"], 10.0);
  // Where it was measured is not where it is imported.
  EXPECT_EQ(tutti("list runs --json").rows()[0]["machine"], "unknown machine (imported without --machine)");
  EXPECT_EQ(tutti("import --machine 'cluster A, 2 nodes' --bench all_reduce_perf kept/*.out").exit, 0);
  EXPECT_EQ(tutti("list runs --json").rows()[0]["machine"], "cluster A, 2 nodes");
  EXPECT_NE(tutti("show").error.find("cluster A, 2 nodes\n"), std::string::npos);
  EXPECT_EQ(tutti("import --machine '' kept/*.out").exit, 2);

  const Outcome layout = tutti("show last --format nccl-tests -o table.txt");
  EXPECT_EQ(layout.exit, 0) << layout.error;
  const Outcome again = tutti("import --no-store --json table.txt");
  EXPECT_EQ(again.rows()[1]["time_us"], imported.rows()[1]["time_us"]) << again.error;
  EXPECT_EQ(again.rows()[1]["bench"], "all_reduce_perf");

  folder_.write("other.txt", "nothing\n");
  for (const char* arguments : {"", "other.txt", "--read wall table.txt", "--env A=1,2 table.txt",
                                "--num-ranks 0 table.txt", "--read json --time x table.txt"})
    EXPECT_EQ(tutti(fmt::format("import {}", arguments)).exit, 2) << arguments;
  for (const char* file : {"none.txt", "."}) EXPECT_EQ(tutti(fmt::format("import {}", file)).exit, 1) << file;
  EXPECT_EQ(tutti("list runs --json").rows().size(), 2U);
}

}  // namespace
}  // namespace tutti
