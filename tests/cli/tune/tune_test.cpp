// SPDX-License-Identifier: Apache-2.0
// `tutti tune` as its users call it: real races with little time, simulated ones, and mistakes in every argument.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../in_folder.hpp"
#include "table/table_file.hpp"

namespace tutti {

const char* const test::kTuttiProgram = TUTTI_PROGRAM;

namespace {

using Outcome = test::Ended;

class Tune : public test::InFolder {
 protected:
  Result<DecisionTable> table(const std::string& name) const { return read_table(folder_.read(name), name); }
};

TEST_F(Tune, WritesATableThatTheRuntimeObeys) {
  const Outcome tuned = tutti("tune -n 2 --bytes 8,64K --budget 3s --anyway");
  ASSERT_EQ(tuned.exit, 0) << tuned.error;
  EXPECT_NE(tuned.out.find("before_us"), std::string::npos) << tuned.out;
  const std::size_t begin = tuned.error.find("table: ");
  ASSERT_NE(begin, std::string::npos) << tuned.error;
  const std::string path = tuned.error.substr(begin + 7, tuned.error.find(';', begin) - begin - 7);
  EXPECT_TRUE(path.starts_with(folder_.path() + "/tutti/tables/")) << path;
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const Result<DecisionTable> read = read_table(text, path);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  ASSERT_EQ(read->sections.size(), 1U);
  EXPECT_EQ(read->sections[0].ranks, 2U);
  EXPECT_NE(tutti("variables TUTTI_TABLE").out.find(path), std::string::npos);
  EXPECT_EQ(tutti("variables TUTTI_TABLE", "TUTTI_TABLE=none").out.find(path), std::string::npos);
  const Outcome why = tutti("tune --explain 64K");
  EXPECT_EQ(why.exit, 0) << why.error;
  EXPECT_NE(why.out.find("all_reduce, 2 ranks, ordinary memory: 64K B go by"), std::string::npos) << why.out;
  // A second tuning keeps the sections that it has nothing new for.
  EXPECT_EQ(tutti("tune -n 2 --collective broadcast --bytes 8 --budget 1s --anyway --keep-numbers").exit, 0);
  std::ifstream again(path);
  const std::string both((std::istreambuf_iterator<char>(again)), {});
  EXPECT_EQ(read_table(both, path)->sections.size(), 2U);
}

// On a fabric all is exact: the table has the fastest algorithm at each size.
TEST_F(Tune, OnAFabricTheTableHasNoRegret) {
  int files = 0;
  for (const std::string fabric : {"torus_2d:8x8", "fat_tree:2x4x2", "switch:6"}) {
    ++files;
    const Outcome tuned = tutti(fmt::format("tune --peer simulate:{} --bytes 8:64M:x8 -o {}.toml", fabric, files));
    ASSERT_EQ(tuned.exit, 0) << fabric << tuned.error;
    const Result<DecisionTable> read = table(std::to_string(files) + ".toml");
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->peer, "simulate:" + fabric);
    EXPECT_NE(read->fingerprint, "any");
    std::size_t num_sizes = 0;
    for (const TableRange& range : read->sections.at(0).ranges)
      for (const TableEvidence& evidence : range.evidence) {
        ++num_sizes;
        EXPECT_GE(evidence.margin_percent, 0) << fabric << " at " << evidence.bytes;
      }
    EXPECT_EQ(num_sizes, 9U);
    // The fabric obeys it.
    const Outcome obeyed = tutti(fmt::format(
        "run --peer simulate:{} -n {} --bytes 8:64M:x8 --env TUTTI_TABLE={}/{}.toml --no-store --format csv", fabric,
        read->sections.at(0).ranks, folder_.path(), files));
    EXPECT_EQ(obeyed.exit, 0) << obeyed.error;
    const std::string place = fmt::format("({}/{}.toml:", folder_.path(), files);
    std::size_t num_obeyed = 0;
    for (std::size_t at = obeyed.out.find(place); at != std::string::npos; at = obeyed.out.find(place, at + 1))
      ++num_obeyed;
    EXPECT_EQ(num_obeyed, 9U) << obeyed.out;
  }
}

TEST_F(Tune, ListsWhatItWouldTry) {
  const Outcome listed = tutti("tune --dry-run -n 4 --collective all_reduce,broadcast");
  EXPECT_EQ(listed.exit, 0) << listed.error;
  EXPECT_NE(listed.out.find("all_reduce, 4 ranks, ordinary memory, 24 sizes, 50 % of the time:"), std::string::npos);
  EXPECT_NE(listed.out.find("  two_shot_pull, and "), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find("broadcast, 4 ranks"), std::string::npos);
}

// A program's calls are tuned by the time that it spends on them; what has no choice is said.
TEST_F(Tune, TunesWhatAProgramCalls) {
  folder_.write("w.toml",
                "version = 1\nranks = 4\n[[entries]]\ncollective = \"all_reduce\"\nbytes = \"64K\"\ncalls = 90\n"
                "measured_us = 10\n[[entries]]\ncollective = \"broadcast\"\nranks = 2\nbytes = \"8\"\ncalls = 100\n"
                "measured_us = 1\ncompute_us = 5\n[[entries]]\ncollective = \"barrier\"\ncalls = 7\n");
  const Outcome listed = tutti("tune --workload w.toml --dry-run");
  EXPECT_EQ(listed.exit, 0) << listed.error;
  EXPECT_NE(listed.out.find("all_reduce, 4 ranks, ordinary memory, plain types, 1 size, 90 % of the time"),
            std::string::npos)
      << listed.out;
  EXPECT_NE(listed.out.find("broadcast, 2 ranks, ordinary memory, plain types, 1 size, 10 %"), std::string::npos);
  EXPECT_NE(listed.error.find("left out 7 calls of barrier on 4 ranks"), std::string::npos) << listed.error;
  const Outcome tuned = tutti("tune --workload w.toml --budget 2s --anyway --keep-numbers");
  EXPECT_EQ(tuned.exit, 0) << tuned.error;
  EXPECT_NE(tuned.error.find("the program's collectives: "), std::string::npos) << tuned.error;
  EXPECT_NE(tuned.error.find("with 500 us of computing the whole is "), std::string::npos) << tuned.error;
  const Result<DecisionTable> made = table("w.table.toml");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->sections.size(), 2U);
  EXPECT_EQ(tutti("tune --workload w.toml -n 2").exit, 2);
  EXPECT_EQ(tutti("tune --workload nowhere.toml").exit, 1);
}

TEST_F(Tune, MakesATableOfResultsThatAreThere) {
  const Outcome both = tutti("tune --from vllm_all_reduce -o t.toml");
  EXPECT_EQ(both.exit, 2);
  EXPECT_NE(both.error.find("--machine says which of them: h100, b200"), std::string::npos) << both.error;
  EXPECT_EQ(tutti("tune --from vllm_all_reduce --machine H100").exit, 2);
  const Outcome made = tutti("tune --from vllm_all_reduce --machine h100 -o t.toml");
  EXPECT_EQ(made.exit, 0) << made.error;
  EXPECT_NE(made.error.find("in 20 cells it has a mean regret of 0 %"), std::string::npos) << made.error;
  ASSERT_TRUE(table("t.toml").ok());
  EXPECT_EQ(table("t.toml")->machine, "h100");
  folder_.write("r.csv", "ranks,bytes,ring_us,two_shot_us\n2,1024,5,4\n2,1048576,90,100\n");
  EXPECT_EQ(tutti("tune --from r.csv -o r.toml").exit, 0);
  EXPECT_EQ(table("r.toml")->sections.at(0).ranges.size(), 2U);
  EXPECT_NE(tutti("tune --from r.csv --machine x -o r.toml").error.find("--machine is 'x'"), std::string::npos);
}

// What somebody has measured is not lost by a slip in -o.
TEST_F(Tune, TablesOfOthersAndOtherFilesAreNotReplaced) {
  folder_.write("other.toml", "version = 1\npeer = \"mpich\"\n[machine]\nfingerprint = \"any\"\n");
  const Outcome other = tutti("tune --peer simulate:ring_1d:4 --bytes 8 -o other.toml");
  EXPECT_EQ(other.exit, 2);
  EXPECT_NE(other.error.find("'other.toml' is a table of mpich"), std::string::npos) << other.error;
  folder_.write("notes.txt", "my notes\n");
  const Outcome notes = tutti("tune --peer simulate:ring_1d:4 --bytes 8 -o notes.txt");
  EXPECT_NE(notes.exit, 0);
  EXPECT_EQ(folder_.read("notes.txt"), "my notes\n");
}

TEST_F(Tune, AnUnwritablePlaceIsSaid) {
  const Outcome tuned = tutti("tune --peer simulate:ring_1d:4 --bytes 8 -o /proc/no/such.toml");
  EXPECT_EQ(tuned.exit, 1);
  EXPECT_NE(tuned.error.find("cannot write '/proc/no/such.toml'"), std::string::npos) << tuned.error;
}

struct Misuse {
  std::string_view name;
  std::string_view arguments;
  std::string_view message;
};
void PrintTo(const Misuse& misuse, std::ostream* stream) { *stream << misuse.arguments; }
constexpr Misuse kMisuses[] = {
    {"Collective", "--collective all_redoos", "the nearest is 'all_reduce'"},
    {"Barrier", "--collective barrier", "it takes a collective with sizes"},
    {"Ranks", "-n 1", "--ranks is '1'; it takes numbers from 2 to 1024"},
    {"RanksWord", "-n two", "--ranks is 'two'"},
    {"NoRanks", "-n ,", "--ranks has no number"},
    {"TooManyOnFabric", "--peer simulate:ring_1d:4 -n 5", "it takes numbers from 2 to 4"},
    {"Memory", "--memory fast", "it takes ordinary, symmetric or both"},
    {"Types", "--types f31", "--types is 'f31'"},
    {"AlikeTypes", "--types f32,f64", "which tables do not tell apart: both are plain"},
    {"Bytes", "--bytes 8:x", "--bytes"},
    {"NoBytes", "--bytes 0", "it takes sizes such as 8:64M:x2"},
    {"Budget", "--budget soon", "--budget is 'soon'; it takes a time such as 60s"},
    {"NegativeBudget", "--budget -1s", "--budget"},
    {"Order", "--order random", "it takes ordered, rank_order, uniform or free"},
    {"Peer", "--peer openmpy", "openmpi"},
    {"Peers", "--peer tutti,null", "--peer names several"},
    {"Seed", "--seed x", "--seed is 'x'"},
    {"Explain", "--explain big", "--explain"},
    {"Option", "--buget 1s", "--buget"},
};
class TuneMisuse : public Tune, public ::testing::WithParamInterface<Misuse> {};

TEST_P(TuneMisuse, IsToldWithWhatIsRight) {
  const Outcome tuned = tutti("tune " + std::string(GetParam().arguments));
  EXPECT_EQ(tuned.exit, 2) << tuned.error;
  EXPECT_NE(tuned.error.find(GetParam().message), std::string::npos) << tuned.error;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("tutti")));
}
INSTANTIATE_TEST_SUITE_P(Each, TuneMisuse, ::testing::ValuesIn(kMisuses),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Tune, WithoutATableThereIsNothingToExplain) {
  const Outcome told = tutti("tune --explain 64K");
  EXPECT_EQ(told.exit, 1);
  EXPECT_NE(told.error.find("cannot read"), std::string::npos) << told.error;
}

// Times beside another program's load are worth nothing, and are not kept.
TEST_F(Tune, ABusyMachineIsSaidAndNothingIsWritten) {
  const pid_t busy = ::fork();
  if (busy == 0) {
    volatile unsigned long turns = 0;
    for (;;) turns = turns + 1;
  }
  const Outcome tuned = tutti("tune -n 2 --bytes 8 --budget 2s --keep-numbers -o t.toml");
  ::kill(busy, SIGKILL);
  ::waitpid(busy, nullptr, 0);
  EXPECT_EQ(tuned.exit, 1) << tuned.error;
  EXPECT_NE(tuned.error.find("the machine was disturbed"), std::string::npos) << tuned.error;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("t.toml")));
}

// Ctrl-C in the middle: what is known is kept, and no process and no temporary file is left.
TEST_F(Tune, AnInterruptKeepsWhatIsKnown) {
  const std::string temporary = folder_.file("tmp");
  std::filesystem::create_directory(temporary);
  const pid_t child = ::fork();
  if (child == 0) {
    const int out = ::open(folder_.file("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::setenv("TMPDIR", temporary.c_str(), 1);
    ::execl(TUTTI_PROGRAM, TUTTI_PROGRAM, "tune", "-n", "2", "--bytes", "8:64M:x2", "--budget", "60s", "--anyway", "-o",
            folder_.file("t.toml").c_str(), nullptr);
    ::_exit(127);
  }
  // One race is known, of its smallest sizes, and by far not all are.
  const auto num_races = [&] {
    std::ifstream file(folder_.file("t.toml.races"));
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines - 1;
  };
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (num_races() < 1 && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130) << folder_.read("out");
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  EXPECT_NE(folder_.read("out").find("interrupted"), std::string::npos) << folder_.read("out");
  const Result<DecisionTable> known = table("t.toml");
  ASSERT_TRUE(known.ok());
  // Beyond what has been raced nothing is claimed; and the same command goes on.
  const TableRange& last = known->sections.at(0).ranges.back();
  EXPECT_TRUE(last.way.algorithm.empty()) << last.way.to_string();
  EXPECT_GT(std::filesystem::file_size(folder_.file("t.toml.races")), 0U);
}

}  // namespace
}  // namespace tutti
