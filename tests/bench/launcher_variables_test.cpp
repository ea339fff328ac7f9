// SPDX-License-Identifier: Apache-2.0
#include "bench/process/launcher_variables.hpp"

#include <gtest/gtest.h>

#include "bench/axes/environment_axis.hpp"

namespace tutti::harness {
namespace {

using Strings = std::vector<std::string>;

TEST(WorldRank, IsWhatTheLauncherSaysThatHasStartedTheProcess) {
  const Environment both{{"OMPI_COMM_WORLD_RANK", "3"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"PMI_RANK", "1"},
                         {"PMI_SIZE", "2"},
                         {"RANK", "7"},
                         {"WORLD_SIZE", "9"}};
  for (const auto& [launcher, rank] : {std::pair("mpirun.openmpi", 3), std::pair("mpirun.mpich", 1)}) {
    Environment environment = both;
    environment.set(std::string(kLauncherVariable), launcher);
    const Result<WorldRank> place = world_rank_in(environment);
    ASSERT_TRUE(place.ok()) << place.status().to_string();
    EXPECT_EQ(place->rank, rank);
  }
  Environment mistaken = both;
  mistaken.set(std::string(kLauncherVariable), "srun");
  ASSERT_FALSE(world_rank_in(mistaken).ok());
  EXPECT_NE(world_rank_in(mistaken).status().to_string().find("srun has not said which rank this is; SLURM_PROCID"),
            std::string::npos);
}

TEST(WorldRank, OfAProgramThatIsStartedByHand) {
  const Result<WorldRank> place = world_rank_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->num_ranks, 2);
  EXPECT_FALSE(world_rank_in({{"RANK", "1"}}).ok());
  EXPECT_FALSE(world_rank_in({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}).ok());
}

TEST(LauncherVariables, OfAnotherLaunchAreNotPassedOn) {
  const Strings inherited = {"BENCH_WORKER=old",
                             "BENCH_RANK=1",
                             "RANK=7",
                             "OMPI_COMM_WORLD_RANK=1",
                             "OMPI_MCA_ess_base_vpid=1",
                             "PMIX_RANK=1",
                             "PMI_RANK=3",
                             "SLURM_PROCID=0",
                             "TORCHELASTIC_RUN_ID=x",
                             "OMPI_MCA_coll_tuned_use_dynamic_rules=1",
                             "SLURM_JOB_ID=12",
                             "SLURM_NODELIST=a",
                             "PMIX_MCA_gds=hash",
                             "MASTER_ADDR=elsewhere"};
  EXPECT_EQ(environment_block(inherited, {}, 0),
            (Strings{"BENCH_PADDING=", "MASTER_ADDR=elsewhere", "OMPI_MCA_coll_tuned_use_dynamic_rules=1",
                     "PMIX_MCA_gds=hash", "SLURM_JOB_ID=12", "SLURM_NODELIST=a"}));
  // What is asked for is another thing than what is inherited.
  EXPECT_EQ(environment_block(inherited, {{"RANK", "5"}}, 0).back(), "SLURM_NODELIST=a");
  EXPECT_EQ(environment_block({}, {{"RANK", "5"}}, 0).back(), "RANK=5");
}

TEST(LauncherVariables, HaveATeller) {
  EXPECT_EQ(teller_of("BENCH_WORKER"), "Tutti");
  EXPECT_EQ(teller_of("WORLD_SIZE"), "Tutti, as torchrun does,");
  EXPECT_EQ(teller_of("TORCHELASTIC_RUN_ID"), "torchrun");
  EXPECT_EQ(teller_of("OMPI_COMM_WORLD_RANK"), "Open MPI's mpirun");
  EXPECT_EQ(teller_of("OMPI_MCA_ess_base_vpid"), "Open MPI's mpirun");
  EXPECT_EQ(teller_of("PMI_SIZE"), "MPICH's mpirun");
  EXPECT_EQ(teller_of("SLURM_PROCID"), "srun");
  for (const char* name : {"RANKS", "OMPI_MCA_essential", "OMPI_MCA_btl", "SLURM_JOB_ID", "MASTER_ADDR"})
    EXPECT_EQ(teller_of(name), "") << name;
}

TEST(LauncherVariables, AreSetInThePlaceOfAll) {
  Strings block = {"RANK=7", "A=1", "RANK=8", "RANKS=2"};
  set_variable(block, "RANK", "0");
  EXPECT_EQ(block, (Strings{"A=1", "RANKS=2", "RANK=0"}));
}

TEST(LauncherVariables, TellRanksFromLaunchers) {
  EXPECT_TRUE(has_rank({"A=1", "PMI_RANK=0"}));
  EXPECT_TRUE(has_rank({"BENCH_RANK=3"}));
  EXPECT_FALSE(has_rank({"BENCH_WORKER=x", "PMI_RANKS=1", "OMPI_MCA_x=1"}));
}

}  // namespace
}  // namespace tutti::harness
