// SPDX-License-Identifier: Apache-2.0
// `tutti record` with programs of the MPIs that are here: counts are exact, in C and in Fortran, whoever opens the MPI.
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "recorded.hpp"

namespace tutti {
namespace {

using Outcome = test::Ended;
using test::counts_of;

struct OneMpi {
  std::string name;
  std::string peer;
  std::string mpirun;
  std::string program;
  std::string library;
  bool has_fortran = false;
  // For the names of tests.
  friend std::ostream& operator<<(std::ostream& out, const OneMpi& mpi) { return out << mpi.name; }
};

std::vector<OneMpi> mpis() {
  // More ranks than cores, and a root in a container, are both fine with a test.
  return {{"OpenMpi", "openmpi", OPENMPI_MPIRUN " --oversubscribe --allow-run-as-root", OPENMPI_PROGRAM,
           OPENMPI_LIBRARY, OPENMPI_HAS_FORTRAN},
          {"Mpich", "mpich", MPICH_MPIRUN, MPICH_PROGRAM, MPICH_LIBRARY, MPICH_HAS_FORTRAN}};
}

class RecordMpi : public test::RecordInFolder, public ::testing::WithParamInterface<OneMpi> {
 protected:
  void SetUp() override {
    if (GetParam().program.empty()) GTEST_SKIP() << "this MPI, or the recorder for it, is not here";
  }
  [[nodiscard]] static std::string started(int num_ranks, const std::string& how) {
    return fmt::format("{} -n {} '{}' {}", GetParam().mpirun, num_ranks, GetParam().program, how);
  }
};

// Of recorded_mpi with three ranks.
std::map<std::string, std::uint64_t> expected_of(const OneMpi& mpi) {
  std::map<std::string, std::uint64_t> expected = {// With roots; blocks of 1, 2 and 3 elements.
                                                   {"gather 3 60", 2},
                                                   {"scatter 3 72", 2},
                                                   {"reduce 3 28", 2},
                                                   {"gather_v 3 24", 2},
                                                   {"scatter_v 3 24", 2},
                                                   {"all_gather_v 3 24", 2},
                                                   {"reduce_scatter_v 3 24", 2},
                                                   // In place.
                                                   {"all_gather 3 108", 3},
                                                   {"all_to_all 3 120", 3},
                                                   {"gather 3 132", 3},
                                                   // The others.
                                                   {"broadcast 3 24", 4},
                                                   {"broadcast 3 72", 150},
                                                   {"scan 3 76", 75},
                                                   {"exclusive_scan 3 76", 75},
                                                   {"all_to_all_v 3 48", 14},
                                                   {"scan 3 48", 4},
                                                   {"exclusive_scan 3 52", 4},
                                                   {"reduce_scatter 3 168", 4},
                                                   {"gather 3 600", 100},
                                                   {"gather 3 612", 100},
                                                   {"barrier 3 0", 34},
                                                   {"all_reduce 3 8", 1000},
                                                   {"all_reduce 3 400", 30},
                                                   // On other communicators.
                                                   {"all_reduce 2 64", 9},
                                                   {"all_reduce 3 68", 6},
                                                   {"all_reduce 3 88", 3}};
  if (mpi.has_fortran) {
    expected["all_reduce 3 60"] = mpi.peer == "openmpi" ? 10 : 5;
    expected["broadcast 3 60"] = 5;
  }
  if (mpi.peer == "mpich" && mpi.has_fortran) expected["barrier 3 0"] += 5;
  if (mpi.peer == "mpich") {
    expected["all_reduce 3 84"] = 7;
    expected["all_gather_v 3 60"] = 7;
  }
  return expected;
}

TEST_P(RecordMpi, CountsEveryWayOfCallingExactly) {
  const Outcome said = tutti("record -- " + started(3, "all"));
  ASSERT_EQ(said.exit, 0) << said.error;
  const Workload recorded = workload();
  EXPECT_EQ(counts_of(recorded), expected_of(GetParam()));
  for (const WorkloadEntry& each : recorded.entries) {
    EXPECT_GT(each.measured_us, 0) << name_of(each.collective);
    EXPECT_EQ(each.site.starts_with("take_steps+0x"), each.bytes == 8) << each.site;
    const bool is_of_rank_1 =
        each.bytes == 28 || (each.bytes == 72 && each.collective == Collective::scatter) ||
        (each.bytes == 60 && (each.collective == Collective::gather || each.collective == Collective::broadcast));
    if (each.collective == Collective::broadcast && each.bytes == 72) {
      EXPECT_EQ(each.calls, 50U) << each.root;
      continue;
    }
    EXPECT_EQ(each.root, is_of_rank_1 ? 1U : 0U) << each.site;
    EXPECT_EQ(each.type == Type::f64, each.bytes == 8) << each.site;
  }
  EXPECT_NE(said.error.find("left out 2 sends and receives"), std::string::npos) << said.error;
  EXPECT_NE(said.error.find(fmt::format("next: tutti tune --peer {} --workload", GetParam().peer)), std::string::npos);
  EXPECT_EQ(said.error.find("disagree"), std::string::npos) << said.error;
  EXPECT_EQ(said.error.find("wrote nothing"), std::string::npos) << said.error;
  EXPECT_EQ(said.error.find("incomplete"), std::string::npos) << said.error;
}

// Handles of communicators that are freed are used again; a rank's files are one for each size and rank.
TEST_P(RecordMpi, ManyCommunicatorsAreTheirSizesAndFewFiles) {
  const Outcome said = tutti("record --print-preload");
  ASSERT_EQ(said.exit, 0) << said.error;
  const std::string preload = said.out.substr(0, said.out.find('\n'));
  const std::string program = started(2, "many");
  ASSERT_EQ(shell(fmt::format("export TUTTI_RECORD=\"$PWD/parts\" LD_PRELOAD='{}'; {}", preload, program)).exit, 0);
  const std::filesystem::directory_iterator parts(folder_.file("parts"));
  EXPECT_EQ(std::distance(begin(parts), end(parts)), 6);
  ASSERT_EQ(tutti("record --from parts").exit, 0);
  EXPECT_EQ(counts_of(workload()), (std::map<std::string, std::uint64_t>{
                                       {"all_reduce 2 8", 1000}, {"all_reduce 2 4", 250}, {"all_reduce 1 4", 250}}));
}

// As under a batch system: the variables are set by hand, and the parts are merged afterwards.
TEST_P(RecordMpi, FoldersOfPartsWorkAlike) {
  const Outcome preload = tutti("record --print-preload");
  ASSERT_EQ(preload.exit, 0) << preload.error;
  ASSERT_EQ(shell(fmt::format("export TUTTI_RECORD=\"$PWD/parts\" LD_PRELOAD='{}'; {}",
                              preload.out.substr(0, preload.out.find('\n')), started(2, "plain")))
                .exit,
            0);
  const Outcome merged = tutti("record --from parts -o b.toml");
  ASSERT_EQ(merged.exit, 0) << merged.error;
  EXPECT_EQ(counts_of(workload("b.toml")), (std::map<std::string, std::uint64_t>{{"all_reduce 2 8", 1000}}));
}

TEST_P(RecordMpi, AnMpiThatAModuleOpensIsFound) {
  const Outcome said =
      tutti(fmt::format("record -- {} -n 2 '{}' '{}' plain", GetParam().mpirun, OPENS_MPI, GetParam().library));
  ASSERT_EQ(said.exit, 0) << said.error;
  EXPECT_EQ(counts_of(workload()), (std::map<std::string, std::uint64_t>{{"all_reduce 2 8", 1000}}));
}

TEST_P(RecordMpi, ThreadsMayCallAtOnce) {
  const Outcome said = tutti("record -- " + started(2, "threads"));
  ASSERT_EQ(said.exit, 0) << said.error;
  EXPECT_EQ(counts_of(workload()),
            (std::map<std::string, std::uint64_t>{{"all_reduce 2 8", 1000}, {"all_reduce 2 4", 2000}}));
}

TEST_P(RecordMpi, WhatTuningTheMpiWouldGainIsSaid) {
  ASSERT_EQ(tutti("record -- " + started(2, "plain")).exit, 0);
  const Outcome said =
      tutti(fmt::format("tune --peer {} --workload workload.toml --budget 2s --anyway --no-store", GetParam().peer));
  ASSERT_EQ(said.exit, 0) << said.error;
  EXPECT_NE(said.error.find("scoring in new processes"), std::string::npos) << said.error;
  EXPECT_NE(said.error.find("the program's collectives: "), std::string::npos) << said.error;
  EXPECT_NE(said.error.find(" times as fast"), std::string::npos) << said.error;
  EXPECT_NE(folder_.read("workload.table.toml").find("all_reduce"), std::string::npos);
}

TEST_P(RecordMpi, ARankThatDiesEndsTheProgramAsItWould) {
  const int alone = shell(started(2, "dies")).exit;
  const Outcome said = tutti("record -- " + started(2, "dies"));
  EXPECT_NE(alone, 0);
  EXPECT_EQ(said.exit, alone) << said.error;
  EXPECT_NE(said.error.find("exit status"), std::string::npos) << said.error;
}

// The library is preloaded, and TUTTI_RECORD is not set.
TEST_P(RecordMpi, WithoutAFolderTheProgramRunsAsItIs) {
  const Outcome preload = tutti("record --print-preload");
  ASSERT_EQ(preload.exit, 0) << preload.error;
  const Outcome said =
      shell(fmt::format("LD_PRELOAD='{}' {}", preload.out.substr(0, preload.out.find('\n')), started(2, "all")));
  EXPECT_EQ(said.exit, 0) << said.error;
  EXPECT_EQ(said.error.find("ERROR: ld.so"), std::string::npos) << said.error;
}

TEST_P(RecordMpi, OnlyIfItIsWanted) {
  const Outcome said = tutti("record --no-mpi -- " + started(2, "plain"));
  EXPECT_EQ(said.exit, 1);
  EXPECT_NE(said.error.find("no rank has called a collective"), std::string::npos) << said.error;
}

INSTANTIATE_TEST_SUITE_P(Each, RecordMpi, ::testing::ValuesIn(mpis()),
                         [](const ::testing::TestParamInfo<OneMpi>& of) { return of.param.name; });

}  // namespace
}  // namespace tutti
