// SPDX-License-Identifier: Apache-2.0
// Which way of starting an environment speaks of, and what is wrong with it.
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ranks_of_start.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti {
namespace {

using test::find_start;
using test::StartedRank;
using test::words_of;

Environment with(Environment environment, const std::vector<Environment::Pair>& more) {
  for (const auto& [name, value] : more) environment.set(name, value);
  return environment;
}

std::string unique(std::string_view what) { return fmt::format("{}-{}", what, getpid()); }

Environment torchrun(int rank, int num_ranks) {
  return {{"RANK", fmt::format("{}", rank)},
          {"WORLD_SIZE", fmt::format("{}", num_ranks)},
          {"LOCAL_RANK", fmt::format("{}", rank)},
          {"LOCAL_WORLD_SIZE", fmt::format("{}", num_ranks)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", unique("run")},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

Environment srun(int rank, int num_ranks) {
  return {{"SLURM_PROCID", fmt::format("{}", rank)},
          {"SLURM_NTASKS", "64"},
          {"SLURM_STEP_NUM_TASKS", fmt::format("{}", num_ranks)},
          {"SLURM_JOB_ID", fmt::format("{}", getpid())},
          {"SLURM_STEP_ID", "3"},
          {"SLURM_STEP_NUM_NODES", "1"}};
}

Environment open_mpi(int rank, int num_ranks) {
  return {{"OMPI_COMM_WORLD_RANK", fmt::format("{}", rank)},
          {"OMPI_COMM_WORLD_SIZE", fmt::format("{}", num_ranks)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", fmt::format("{}", num_ranks)},
          {"PMIX_NAMESPACE", unique("job")}};
}

TEST(StartEnvironment, RanksOfTorchrunMeet) {
  test::expect_one_start(test::find_on_threads(4, [](int rank) { return torchrun(rank, 4); }), "torchrun");
}

TEST(StartEnvironment, RanksWhoseVariablesSomebodySetMeet) {
  const auto environment = [](int rank) {
    return Environment{{"RANK", fmt::format("{}", rank)},
                       {"WORLD_SIZE", "2"},
                       {"MASTER_PORT", fmt::format("{}", 1024 + getpid() % 60000)}};
  };
  test::expect_one_start(test::find_on_threads(2, environment), "RANK and WORLD_SIZE");
}

TEST(StartEnvironment, RanksOfSrunMeet) {
  test::expect_one_start(test::find_on_threads(3, [](int rank) { return srun(rank, 3); }), "srun");
}

TEST(StartEnvironment, RanksOfOpenMpiMeetWithoutPmix) {
  test::expect_one_start(test::find_on_threads(3, [](int rank) { return open_mpi(rank, 3); }), "Open MPI's mpirun");
}

TEST(StartEnvironment, TheFirstNodeOfSlurmsListIsFound) {
  for (const auto& [list, first] : std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                                                    {"red", "red"},
                                                                                    {"red,blue", "red"},
                                                                                    {"red[3-5,9],blue", "red3"},
                                                                                    {"red[03,5]", "red03"},
                                                                                    {"r[1-2]n[4,7-9]-ib", "r1n4-ib"}})
    EXPECT_EQ(start::first_of_nodes(list), first) << list;
}

TEST(StartEnvironment, OneRankNeedsNobody) {
  EXPECT_EQ(words_of(find_start({{"RANK", "0"}, {"WORLD_SIZE", "1"}})), "found");
  EXPECT_EQ(words_of(find_start(srun(0, 1))), "found");
}

// What tells them apart may be any one of three.
TEST(StartEnvironment, SeveralStartsAtOnceStayApart) {
  const std::vector<Environment::Pair> differences = {{"LOCAL_RANK", "0"},  // none
                                                      {"TORCHELASTIC_RESTART_COUNT", "1"},
                                                      {"MASTER_PORT", "29501"},
                                                      {"TORCHELASTIC_RUN_ID", unique("another")}};
  const auto num_starts = static_cast<int>(differences.size());
  const auto ranks = test::find_on_threads(2 * num_starts, [&](int place) {
    return with(torchrun(place % 2, 2), {differences[static_cast<std::size_t>(place / 2)]});
  });
  for (const StartedRank& rank : ranks) ASSERT_TRUE(rank.started.ok()) << rank.started.status().to_string();
  for (std::size_t one = 0; one < ranks.size(); ++one)
    for (std::size_t other = 0; other < one; ++other)
      EXPECT_EQ(ranks[one].started->id == ranks[other].started->id, one / 2 == other / 2) << one << " and " << other;
}

TEST(StartEnvironment, WhatIsFoundStays) {
  StartedRank rank = find_start(srun(0, 1));
  ASSERT_TRUE(rank.started.ok());
  const Result<Started> again = rank.start->find({}, Variables(), test::patient_start());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->id, rank.started->id);
}

// torchrun is run by srun and mpirun, not the other way round.
TEST(StartEnvironment, TheInnermostCounts) {
  const auto found = [](const Environment& environment) -> std::string {
    const StartedRank rank = find_start(environment);
    return rank.started.ok() ? std::string(rank.started->by) : words_of(rank);
  };
  const std::vector<Environment::Pair> outer = {
      {"SLURM_PROCID", "3"},   {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "1"},
      {"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "3"},     {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  EXPECT_EQ(found(with(torchrun(0, 1), outer)), "torchrun");
  EXPECT_EQ(found(with(srun(0, 1), {{"RANK", "0"}, {"WORLD_SIZE", "1"}})), "RANK and WORLD_SIZE");
  EXPECT_EQ(found(with(srun(3, 4), {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})),
            "Open MPI's mpirun");
}

TEST(StartEnvironment, AProcessWithoutALauncherIsOneRank) {
  const StartedRank rank = find_start({{"HOME", "/root"}});
  ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  EXPECT_EQ(rank.started->rank, 0);
  EXPECT_EQ(rank.started->num_ranks, 1);
}

TEST(StartEnvironment, AProcessOfABatchScriptIsAlone) {
  const StartedRank rank = find_start(
      {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}});
  ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  EXPECT_EQ(rank.started->num_ranks, 1);
}

TEST(StartEnvironment, AnIncompleteLauncherIsReportedWithWhatWasLookedFor) {
  const StartedRank rank = find_start({{"RANK", "0"}});
  ASSERT_FALSE(rank.started.ok());
  EXPECT_EQ(rank.started.status().code(), Code::invalid_usage);
  const std::string words = words_of(rank);
  for (const char* name : {"TUTTI_RANK", "PMIX_RANK", "PMI_FD", "OMPI_COMM_WORLD_RANK", "RANK with WORLD_SIZE",
                           "SLURM_PROCID", "tutti launch -n 2 -- PROGRAM"})
    EXPECT_NE(words.find(name), std::string::npos) << words;
}

struct Wrong {
  std::string name;
  Environment environment;
  Code code;
  std::string words;
  // For the names of tests.
  friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.words; }
};

class StartEnvironmentWrong : public testing::TestWithParam<Wrong> {};

TEST_P(StartEnvironmentWrong, IsSaid) {
  const StartedRank rank = find_start(GetParam().environment);
  ASSERT_FALSE(rank.started.ok());
  EXPECT_EQ(rank.started.status().code(), GetParam().code);
  EXPECT_NE(words_of(rank).find(GetParam().words), std::string::npos) << words_of(rank);
}

std::vector<Wrong> all_wrong() {
  constexpr Code kUsage = Code::invalid_usage;
  constexpr Code kUnsupported = Code::unsupported;
  const Environment torch = torchrun(1, 2);
  const Environment slurm = srun(1, 2);
  const Environment mpi = open_mpi(1, 2);
  return {
      {"RankNoNumber", with(torch, {{"RANK", "abc"}}), kUsage, "RANK is 'abc'; it takes a whole number from 0 to 1"},
      {"RankEmpty", with(torch, {{"RANK", ""}}), kUsage, "RANK is ''; it takes a whole number from 0 to 1"},
      {"RankTooLarge", with(torch, {{"RANK", "2"}}), kUsage, "WORLD_SIZE is 2: RANK is '2'; it takes a whole"},
      {"RankNegative", with(torch, {{"RANK", "-1"}}), kUsage, "RANK is '-1'"},
      {"SizeNone", with(torch, {{"WORLD_SIZE", "0"}}), kUsage, "WORLD_SIZE is '0'; it takes a whole number from 1"},
      {"SizeHuge", with(torch, {{"WORLD_SIZE", "99999999999999999999"}}), kUsage, "WORLD_SIZE is '999"},
      {"SizeBeyondAHost", with(torch, {{"WORLD_SIZE", "1025"}, {"LOCAL_WORLD_SIZE", "1025"}}), kUnsupported,
       "there are 1025 ranks; 1024 is the most"},
      {"HereTooMany", with(torch, {{"LOCAL_WORLD_SIZE", "3"}}), kUsage, "LOCAL_WORLD_SIZE is '3'; it takes a whole"},
      {"SeveralHosts", with(torch, {{"LOCAL_WORLD_SIZE", "1"}}), kUsage,
       "WORLD_SIZE is 2, and 1 of these are on this host, and MASTER_ADDR is '127.0.0.1', which every host takes"},
      {"SeveralHostsWithoutMaster", with(torch, {{"LOCAL_WORLD_SIZE", "1"}, {"MASTER_ADDR", " "}}), kUsage,
       "WORLD_SIZE is 2, and 1 of these are on this host, and MASTER_ADDR is not set; set it to rank 0's host"},
      {"PortNoNumber", with(torch, {{"MASTER_PORT", "none"}}), kUsage, "MASTER_PORT is 'none'"},
      {"RestartsNoNumber", with(torch, {{"TORCHELASTIC_RESTART_COUNT", "x"}}), kUsage, "RESTART_COUNT is 'x'"},
      {"TorchWithoutRank", {{"TORCHELASTIC_RUN_ID", "x"}, {"WORLD_SIZE", "2"}}, kUsage, "RANK is not set; it goes"},
      {"NothingThatTellsStartsApart", {{"RANK", "0"}, {"WORLD_SIZE", "2"}}, kUsage, "neither MASTER_PORT nor"},
      {"RankAlone", {{"RANK", "0"}}, kUsage, "RANK is set and WORLD_SIZE is not"},
      {"SizeAlone", {{"WORLD_SIZE", "2"}}, kUsage, "WORLD_SIZE is set and RANK is not"},
      {"SlurmRank", with(slurm, {{"SLURM_PROCID", "7"}}), kUsage, "SLURM_PROCID is '7'"},
      {"SlurmJob", with(slurm, {{"SLURM_JOB_ID", "a"}}), kUsage, "SLURM_JOB_ID is 'a'"},
      {"SlurmNodes", with(slurm, {{"SLURM_STEP_NUM_NODES", "2"}}), kUsage,
       "SLURM_STEP_NUM_NODES is 2, and SLURM_STEP_NODELIST does not name them"},
      {"SlurmWithoutSize", {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}, kUsage, "SLURM_NTASKS is not set"},
      {"SlurmWithoutJob",
       {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "1"}},
       kUsage,
       "SLURM_JOB_ID is not set"},
      {"SlurmWithoutStep", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, kUsage, "this is no step of srun"},
      {"OpenMpiHosts", with(mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}), kUsage,
       "OMPI_COMM_WORLD_SIZE is 2, and 1 of these are on this host; libpmix.so.2 cannot be opened, and MASTER_ADDR"},
      {"OpenMpiWithoutSize", {{"OMPI_COMM_WORLD_RANK", "0"}}, kUsage, "OMPI_COMM_WORLD_SIZE is not set"},
      {"OpenMpiWithoutJob",
       {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
       kUsage,
       "PMIX_NAMESPACE is not set"},
      {"PmixRank", {{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "-7"}}, kUsage, "PMIX_RANK is '-7'"},
      {"PmiDescriptorNoNumber", {{"PMI_FD", "x"}}, kUsage, "PMI_FD is 'x'"},
      {"PmiDescriptorClosed", {{"PMI_FD", "99999"}}, kUsage, "PMI_FD is 99999, which is not open in this process"},
  };
}

INSTANTIATE_TEST_SUITE_P(Each, StartEnvironmentWrong, testing::ValuesIn(all_wrong()),
                         [](const testing::TestParamInfo<Wrong>& of) { return of.param.name; });

TEST(StartEnvironment, OfTuttiLaunchIsWholeOrAnError) {
  const auto find = [](const Environment& environment) {
    const Result<Variables> variables = Variables::load(environment, {});
    EXPECT_TRUE(variables.ok()) << variables.status().to_string();
    Start start;
    return start.find(environment, *variables, test::patient_start());
  };
  const auto server = test::start_server();
  const std::string id = server->id().to_text();
  const Result<Started> whole = find({{"TUTTI_RANK", "1"}, {"TUTTI_NUM_RANKS", "3"}, {"TUTTI_UNIQUE_ID", id}});
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->rank, 1);
  EXPECT_EQ(whole->num_ranks, 3);
  EXPECT_EQ(whole->id, server->id());
  EXPECT_EQ(whole->by, "tutti launch");
  const auto words = [&](const Environment& environment) { return find(environment).status().to_string(); };
  EXPECT_EQ(words({{"TUTTI_UNIQUE_ID", id}}), "TUTTI_NUM_RANKS is not set; it goes with TUTTI_RANK");
  EXPECT_EQ(words({{"TUTTI_RANK", "1"}, {"TUTTI_NUM_RANKS", "3"}}),
            "TUTTI_UNIQUE_ID is not set; it goes with TUTTI_RANK");
  EXPECT_EQ(words({{"TUTTI_RANK", "3"}, {"TUTTI_NUM_RANKS", "3"}, {"TUTTI_UNIQUE_ID", id}}),
            "TUTTI_NUM_RANKS is 3: TUTTI_RANK is '3'; it takes a whole number from 0 to 2");
  const std::string wrong = words({{"TUTTI_RANK", "1"}, {"TUTTI_NUM_RANKS", "3"}, {"TUTTI_UNIQUE_ID", "hunter2"}});
  EXPECT_TRUE(wrong.starts_with("TUTTI_UNIQUE_ID: ")) << wrong;
  EXPECT_EQ(wrong.find("hunter2"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace tutti
