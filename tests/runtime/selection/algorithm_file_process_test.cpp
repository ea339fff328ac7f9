// SPDX-License-Identifier: Apache-2.0
// TUTTI_ALLREDUCE_ALGORITHM=file:PATH as a user sets it: processes that `tutti launch` starts run the example's
// schedule, and where they cannot, all of them say why.
#include <array>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../../base/temporary_folder.hpp"

namespace tutti {
namespace {

const std::string kExample = TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched";

struct Outcome {
  int exit = -1;
  std::string out;
};

// Both streams are read as one. `front` stands before the program, in the shell of each rank.
Outcome launch(int ranks, const std::string& value, const std::string& front = "") {
  const std::string command = fmt::format(
      "'{}' launch -n {} --tag --timeout 60s --env TUTTI_CONF_FILE= --env TUTTI_DEBUG=info "
      "--env TUTTI_ALLREDUCE_ALGORITHM='{}' -- sh -c '{} exec {}' 2>&1",
      TUTTI_PROGRAM, ranks, value, front, TUTTI_EXAMPLE);
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

// Whether each rank has said it, in a line that its tag begins.
bool all_say(const Outcome& outcome, int ranks, const std::string& words) {
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string tag = fmt::format("[{}]", rank);
    bool says = false;
    for (std::size_t at = outcome.out.find(words); at != std::string::npos; at = outcome.out.find(words, at + 1)) {
      const std::size_t begin = outcome.out.rfind('\n', at) + 1;
      says = says || outcome.out.compare(begin, tag.size(), tag) == 0;
    }
    if (!says) return false;
  }
  return true;
}

TEST(AlgorithmFileProcesses, RunTheExample) {
  const Outcome outcome = launch(4, "file:" + kExample);
  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  // The program itself checks its sums.
  EXPECT_TRUE(contains(outcome.out, "ranks: 4, elements: 1000")) << outcome.out;
  EXPECT_TRUE(all_say(outcome, 4, fmt::format("all_reduce 4000 B of f32: file:{} (forced)", kExample))) << outcome.out;
}

// Not a file, but of the same variable.
TEST(AlgorithmByName, TakesParametersAndNamesTheVariableWhereTheyAreWrong) {
  const Outcome right = launch(3, "recursive_multiplying(3)");
  EXPECT_EQ(right.exit, 0) << right.out;
  EXPECT_TRUE(all_say(right, 3, "recursive_multiplying(3) (forced)")) << right.out;
  const Outcome wrong = launch(2, "ring(3)");
  EXPECT_NE(wrong.exit, 0);
  EXPECT_TRUE(contains(wrong.out, "TUTTI_ALLREDUCE_ALGORITHM: ")) << wrong.out;
  EXPECT_TRUE(all_say(wrong, 2, "is no parameter of ring")) << wrong.out;
}

TEST(AlgorithmFileProcesses, OtherNumbersOfRanksAreAnErrorOfAll) {
  const Outcome outcome = launch(3, "file:" + kExample);
  EXPECT_NE(outcome.exit, 0);
  EXPECT_TRUE(all_say(outcome, 3, "the schedule is for 4 ranks, and the communicator has 3")) << outcome.out;
}

TEST(AlgorithmFileProcesses, AWrongScheduleIsAnErrorWithItsStory) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("wrong.sched",
                                        "tutti schedule 1\nname wrong\ncollective all_reduce\nranks 2\n"
                                        "rank 0\nsend input to 1\nrecv output from 1\n"
                                        "rank 1\nsend input to 0\nrecv output from 0\n");
  const Outcome outcome = launch(2, "file:" + path);
  EXPECT_NE(outcome.exit, 0);
  EXPECT_TRUE(all_say(outcome, 2, "wrong.sched: the schedule is wrong: ")) << outcome.out;
}

TEST(AlgorithmFileProcesses, AMissingFileIsAnErrorOfAll) {
  const Outcome outcome = launch(2, "file:/no/such.sched");
  EXPECT_NE(outcome.exit, 0);
  EXPECT_TRUE(all_say(outcome, 2, "cannot read '/no/such.sched': No such file or directory")) << outcome.out;
}

// The same name, in folders of the ranks' own.
TEST(AlgorithmFileProcesses, RanksWithDifferentTextsAreTold) {
  const test::TemporaryFolder folder;
  folder.write("0/my.sched", "tutti schedule 1\n");
  folder.write("1/my.sched", "tutti schedule 1 # mine\n");
  const Outcome outcome = launch(2, "file:my.sched", fmt::format("cd {}/$TUTTI_RANK;", folder.path()));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_TRUE(all_say(outcome, 2, "TUTTI_ALLREDUCE_ALGORITHM is file:my.sched (17 bytes, digest ")) << outcome.out;
  EXPECT_TRUE(all_say(outcome, 2, "file:my.sched (24 bytes, digest ")) << outcome.out;
}

TEST(AlgorithmFileProcesses, AFileThatOneRankLacksIsAnErrorOfAll) {
  const test::TemporaryFolder folder;
  folder.write("0/my.sched", "tutti schedule 1\n");
  folder.write("1/other.sched", "");
  const Outcome outcome = launch(2, "file:my.sched", fmt::format("cd {}/$TUTTI_RANK;", folder.path()));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_TRUE(contains(outcome.out, "cannot read 'my.sched': No such file or directory")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "file:my.sched (unreadable)")) << outcome.out;
}

}  // namespace
}  // namespace tutti
