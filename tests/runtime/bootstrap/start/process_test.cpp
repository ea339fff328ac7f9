// SPDX-License-Identifier: Apache-2.0
// Programs that other people's launchers start, as their users do.
#include <array>
#include <cstdlib>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../../../base/temporary_folder.hpp"

namespace tutti {
namespace {

struct Outcome {
  int exit = -1;
  std::string text;  // of both streams
};

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* const pipe = popen(fmt::format("exec 2>&1 </dev/null; {}", command).c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> part{};
  while (fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) outcome.text += part.data();
  const int status = pclose(pipe);
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// An mpirun and the programs for it; a part that is not here is empty.
struct Launcher {
  std::string name;
  std::string mpirun;
  std::string mpi_program;
  // For the names of tests.
  friend std::ostream& operator<<(std::ostream& out, const Launcher& launcher) { return out << launcher.name; }
};

std::vector<Launcher> launchers() {
  // More ranks than cores, and a root in a container, are both fine with a test.
  return {{"OpenMpi", *OPENMPI_MPIRUN == '\0' ? "" : OPENMPI_MPIRUN " --oversubscribe --allow-run-as-root",
           OPENMPI_PROGRAM},
          {"Mpich", MPICH_MPIRUN, MPICH_PROGRAM}};
}

class StartProcess : public ::testing::TestWithParam<Launcher> {
 protected:
  void SetUp() override {
    ::setenv("TUTTI_CONF_FILE", "", 1);
    ::setenv("TUTTI_TIMEOUT", "20s", 1);
    if (GetParam().mpirun.empty()) GTEST_SKIP() << "there is no mpirun";
  }
  [[nodiscard]] static std::string started(int num_ranks, const std::string& program) {
    return fmt::format("{} -n {} {}", GetParam().mpirun, num_ranks, program);
  }
};

TEST_P(StartProcess, RanksMeet) {
  for (const int num_ranks : {1, 2, 4}) {
    const Outcome outcome = run(started(num_ranks, fmt::format("'{}' plain", PROGRAM)));
    EXPECT_EQ(outcome.exit, 0) << outcome.text;
    EXPECT_EQ(outcome.text, fmt::format("{0} ranks\n{0} ranks\n", num_ranks));
  }
}

TEST_P(StartProcess, RanksOfMpiMeetBeforeAndAfterItIsInitialised) {
  if (GetParam().mpi_program.empty()) GTEST_SKIP() << "MPI's headers are not here";
  for (const char* mode : {"mpi_before", "mpi_after"}) {
    const Outcome outcome = run(started(2, fmt::format("'{}' {}", GetParam().mpi_program, mode)));
    EXPECT_EQ(outcome.exit, 0) << mode << "\n" << outcome.text;
    EXPECT_EQ(outcome.text, "2 ranks\n2 ranks of MPI\n2 ranks\n") << mode;
  }
}

TEST_P(StartProcess, TwoAtOnceStayApart) {
  const test::TemporaryFolder folder;
  const std::string of_two = started(2, fmt::format("'{}' plain", PROGRAM));
  const std::string of_three = started(3, fmt::format("'{}' plain", PROGRAM));
  const Outcome outcome =
      run(fmt::format("{} >'{}' 2>&1 & {}; code=$?; wait $! && exit $code", of_two, folder.file("of_two"), of_three));
  EXPECT_EQ(outcome.exit, 0) << outcome.text;
  EXPECT_EQ(outcome.text, "3 ranks\n3 ranks\n");
  EXPECT_EQ(folder.read("of_two"), "2 ranks\n2 ranks\n");
}

TEST_P(StartProcess, WhoseRank0NeverComesDoesNotWaitForEver) {
  const Outcome outcome =
      run("TUTTI_TIMEOUT=300ms TUTTI_LATE_WARNING=100ms " + started(2, fmt::format("'{}' leave", PROGRAM)));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_NE(outcome.text.find("for 100ms so far"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("and 300ms are over"), std::string::npos) << outcome.text;
}

TEST_P(StartProcess, InfoSaysWhoStartedIt) {
  const Outcome outcome = run("TUTTI_DEBUG=info " + started(1, fmt::format("'{}' plain", PROGRAM)));
  EXPECT_NE(outcome.text.find("INFO init: rank 0 of 1, started by "), std::string::npos) << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(Each, StartProcess, ::testing::ValuesIn(launchers()),
                         [](const ::testing::TestParamInfo<Launcher>& of) { return of.param.name; });

TEST(StartProcessWithoutPmix, RanksOfOpenMpiMeetByItsVariables) {
  const Launcher open_mpi = launchers()[0];
  if (open_mpi.mpirun.empty()) GTEST_SKIP() << "there is no mpirun";
  const test::TemporaryFolder folder;
  folder.write("libpmix.so.2", "");  // in the way of the machine's
  const Outcome outcome = run(fmt::format("{} -n 3 env TUTTI_DEBUG=info LD_LIBRARY_PATH='{}' '{}' plain",
                                          open_mpi.mpirun, folder.path(), PROGRAM));
  EXPECT_EQ(outcome.exit, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("of 3, started by Open MPI's mpirun"), std::string::npos) << outcome.text;
}

// As torchrun starts them: all at once, told apart by variables.
TEST(StartProcessOfVariables, RanksOfTorchrunMeet) {
  std::string script =
      "export WORLD_SIZE=4 LOCAL_WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 "
      "TORCHELASTIC_RUN_ID=process-test-$$ TORCHELASTIC_RESTART_COUNT=0; ";
  for (int rank = 3; rank > 0; --rank) script += fmt::format("RANK={0} LOCAL_RANK={0} '{1}' plain & ", rank, PROGRAM);
  script += fmt::format("RANK=0 LOCAL_RANK=0 '{}' plain; wait", PROGRAM);
  EXPECT_EQ(run(script).text, "4 ranks\n4 ranks\n");
}

// One program after another in the place of the same rank.
TEST(StartProcessOfVariables, ProgramsMayFollowEachOther) {
  const std::string both = fmt::format("'{0}' plain && '{0}' plain", PROGRAM);
  const std::string script = fmt::format(
      "export WORLD_SIZE=2 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=process-test-$$; "
      "(export RANK=1; {0}) & export RANK=0; {0}; wait",
      both);
  EXPECT_EQ(run(script).text, "2 ranks\n2 ranks\n2 ranks\n2 ranks\n");
}

}  // namespace
}  // namespace tutti
