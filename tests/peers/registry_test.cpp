// SPDX-License-Identifier: Apache-2.0
#include "peers/registry.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/variables/variables_table.hpp"

namespace tutti::peers {
namespace {

TEST(Registry, PeersAreFoundByName) {
  const auto peer = find_peer("OpenMPI");
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ((*peer)->program, "peer-openmpi");
  const auto missing = find_peer("opnmpi");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().to_string().find("openmpi"), std::string::npos) << missing.status().to_string();
}

TEST(Registry, EveryAlgorithmHasASettingThatForcesIt) {
  for (const PeerRow& peer : all_peers()) {
    std::size_t count = 0;
    for (int each = 0; each < kNumRegular; ++each) {
      std::set<std::string> names;
      std::set<std::string> settings;
      for (const harness::ForcedAlgorithm& algorithm : algorithms_of(peer, static_cast<Collective>(each))) {
        ++count;
        EXPECT_GT(algorithm.settings.size(), peer.conditions.size()) << peer.name << " " << algorithm.name;
        EXPECT_TRUE(names.insert(algorithm.name).second) << peer.name << " " << algorithm.name;
        std::string all;
        for (const harness::Setting& setting : algorithm.settings) all += setting.name + "=" + *setting.value + " ";
        EXPECT_TRUE(settings.insert(all).second) << peer.name << " " << algorithm.name << " does as another: " << all;
      }
    }
    EXPECT_EQ(count, peer.algorithms.size()) << peer.name << " has algorithms without a variable";
  }
}

TEST(Registry, OpenMpiWantsItsDynamicRules) {
  const auto algorithms = algorithms_of(**find_peer("openmpi"), Collective::all_reduce);
  ASSERT_EQ(algorithms.size(), 6U);
  EXPECT_EQ(algorithms[3], (harness::ForcedAlgorithm{.name = "ring",
                                                     .settings = {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                                                  {"OMPI_MCA_coll_tuned_allreduce_algorithm", "4"}}}));
}

TEST(Registry, NcclWantsAProtocolToo) {
  for (const char* peer : {"nccl", "rccl"}) {
    const auto algorithms = algorithms_of(**find_peer(peer), Collective::all_reduce);
    ASSERT_EQ(algorithms.size(), 10U);
    EXPECT_EQ(algorithms[1], (harness::ForcedAlgorithm{.name = "ring_ll128",
                                                       .settings = {{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "LL128"}}}));
    EXPECT_TRUE(algorithms_of(**find_peer(peer), Collective::all_to_all).empty());
  }
}

TEST(Registry, AVariableMayBeForSeveralCollectives) {
  EXPECT_EQ(collectives_of("NCCL_ALGO"),
            (std::vector{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                         Collective::broadcast, Collective::reduce}));
  EXPECT_EQ(collectives_of("OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize"), std::vector{Collective::broadcast});
  EXPECT_TRUE(collectives_of("NCCL_PROTO").empty());
}

TEST(Registry, TuttisAlgorithmsAreThoseOfItsVariables) {
  std::set<std::pair<Collective, std::string_view>> registered;
  for (const Algorithm& algorithm : (*find_peer("tutti"))->algorithms)
    registered.insert({algorithm.collective, algorithm.value});
  std::set<std::pair<Collective, std::string_view>> known;
  const auto take = [&](Collective collective, std::span<const std::string_view> choices) {
    for (const std::string_view name : choices)
      if (name != "auto" && !name.starts_with("multicast")) known.insert({collective, name});
  };
  take(Collective::all_reduce, variable_choices::kAllReduce);
  take(Collective::all_gather, variable_choices::kAllGather);
  take(Collective::reduce_scatter, variable_choices::kReduceScatter);
  take(Collective::broadcast, variable_choices::kBroadcast);
  take(Collective::reduce, variable_choices::kReduce);
  take(Collective::all_to_all, variable_choices::kAllToAll);
  take(Collective::gather, variable_choices::kRooted);
  take(Collective::scatter, variable_choices::kRooted);
  take(Collective::scan, variable_choices::kScan);
  take(Collective::exclusive_scan, variable_choices::kScan);
  take(Collective::barrier, variable_choices::kBarrier);
  EXPECT_EQ(registered, known);
}

TEST(Registry, AWorkerThatIsNotThereNamesItsPackage) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "no_workers";
  std::filesystem::create_directories(folder);
  const auto missing = worker_of(**find_peer("gloo"), folder.string());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::unsupported);
  EXPECT_NE(missing.status().to_string().find("libgloo-dev"), std::string::npos) << missing.status().to_string();
  const std::filesystem::path program = folder / "peer-gloo";
  std::ofstream(program) << "#!/bin/true\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto found = worker_of(**find_peer("gloo"), folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, program.string());
}

}  // namespace
}  // namespace tutti::peers
