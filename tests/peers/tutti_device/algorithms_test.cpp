// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "peers/registry.hpp"
#include "table/table_file.hpp"

namespace tutti::peers {
namespace {

TEST(TuttiDevicePeer, ItsAlgorithmsAreTheDirectOnesOfTheCatalogue) {
  std::set<std::pair<Collective, std::string>> registered;
  for (const Algorithm& algorithm : (*find_peer("tutti-device"))->algorithms) {
    EXPECT_EQ(algorithm.value, std::string(name_of(algorithm.collective)) + "=" + std::string(algorithm.name));
    registered.emplace(algorithm.collective, algorithm.name);
  }
  std::set<std::pair<Collective, std::string>> direct;
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                      Collective::broadcast, Collective::reduce, Collective::all_to_all})
    for (const tutti::Algorithm* const each : tutti::algorithms_of(collective))
      if ((each->channel == Channel::staged || each->channel == Channel::symmetric) && !each->takes.groups)
        direct.emplace(collective, each->name);
  EXPECT_EQ(registered, direct);
}

TEST(TuttiDevicePeer, TablesOfDevicesAreTuttisAndMarked) {
  DecisionTable table;
  table.fingerprint = kAnyMachine;
  table.set_measured_peer(kDevicePeer);
  EXPECT_EQ(table.peer, kOwnPeer);
  const auto read = read_table(write_table(table), "it.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_TRUE(read->on_devices);
  EXPECT_EQ(read->measured_peer(), kDevicePeer);
}

TEST(TuttiDevicePeer, TablesOfDevicesHaveNoRoundsAndNoOtherPeer) {
  const std::string head = "version = 1\non = \"devices\"\n";
  const std::string rest =
      "[machine]\nfingerprint = \"any\"\n[[section]]\ncollective = \"all_reduce\"\nranks = 2\n"
      "[[section.range]]\nalgorithm = \"one_shot\"\n";
  EXPECT_TRUE(read_table(head + rest, "it.toml").ok());
  const auto rounds = read_table(head + rest + "round = \"64K\"\n", "it.toml");
  EXPECT_NE(rounds.status().to_string().find("which calls on devices do not have"), std::string::npos);
  EXPECT_FALSE(read_table(head + "peer = \"mpich\"\n" + rest, "it.toml").ok());
  EXPECT_FALSE(read_table("version = 1\non = \"moon\"\n" + rest, "it.toml").ok());
}

}  // namespace
}  // namespace tutti::peers
