#include "peers/registry.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/variables_table.hpp"

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
    std::set<std::pair<Collective, std::string_view>> seen;
    for (const Algorithm& algorithm : peer.algorithms) {
      const auto settings = settings_that_force(peer, algorithm);
      EXPECT_EQ(settings.size(), peer.conditions.size() + 1) << peer.name << " " << algorithm.name;
      ASSERT_FALSE(settings.empty());
      EXPECT_EQ(settings.back().value, std::string(algorithm.value)) << peer.name << " " << algorithm.name;
      EXPECT_TRUE(seen.insert({algorithm.collective, algorithm.name}).second) << peer.name << " " << algorithm.name;
    }
  }
}

TEST(Registry, OpenMpiWantsItsDynamicRules) {
  const PeerRow* openmpi = *find_peer("openmpi");
  const auto rings = algorithms_of(*openmpi, Collective::all_reduce);
  ASSERT_EQ(rings.size(), 6U);
  const auto settings = settings_that_force(*openmpi, rings[3]);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0], (harness::Setting{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}));
  EXPECT_EQ(settings[1], (harness::Setting{"OMPI_MCA_coll_tuned_allreduce_algorithm", "4"}));
}

TEST(Registry, TuttisAlgorithmsAreThoseOfItsVariable) {
  std::set<std::string_view> registered;
  for (const Algorithm& algorithm : algorithms_of(**find_peer("tutti"), Collective::all_reduce))
    registered.insert(algorithm.value);
  std::set<std::string_view> known(variable_choices::kAlgorithms.begin(), variable_choices::kAlgorithms.end());
  known.erase("auto");
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
