// SPDX-License-Identifier: Apache-2.0
// What stands behind --peer, and what follows for peers that have no processes.
#include "cli/bench/sweep/peer_options.hpp"

#include <gtest/gtest.h>

namespace tutti::cli {
namespace {

class Fixed final : public harness::Reckoner {
 public:
  explicit Fixed(int num_ranks) : num_ranks_(num_ranks) {}
  [[nodiscard]] std::string version() const override { return ""; }
  [[nodiscard]] std::uint64_t settings_digest(const harness::Group&) const override { return 0; }
  [[nodiscard]] int num_ranks() const override { return num_ranks_; }
  [[nodiscard]] bool obeys(std::string_view variable) const override { return variable == "KNOWN"; }
  void reckon(const harness::Group&, const harness::MeasureOptions&, harness::Row&) const override {}

 private:
  int num_ranks_;
};

BenchWorld world_with_fabrics() {
  BenchWorld world;
  world.peers = {{.name = "tutti", .package = ""},
                 {.name = "openmpi", .package = ""},
                 {.name = "null", .package = ""},
                 {.name = "simulate", .package = "", .wants = "FABRIC"}};
  world.look_for = [](const std::string& name) -> Result<std::string> {
    if (name.ends_with("nowhere")) return Status(Code::invalid_argument, "there is no fabric 'nowhere'");
    return std::string("here");
  };
  return world;
}

// "a | b", or the error.
std::string found(const std::string& asked) {
  const Result<std::vector<std::string>> peers = find_peers(asked, world_with_fabrics());
  if (!peers.ok()) return peers.status().to_string();
  std::string text;
  for (const std::string& peer : *peers) text += (text.empty() ? "" : " | ") + peer;
  return text;
}

TEST(PeerOptions, CommasBehindAFabricAreItsOwnUntilAPeerFollows) {
  EXPECT_EQ(found("tutti, openmpi"), "tutti | openmpi");
  EXPECT_EQ(found("simulate:switch:8"), "simulate:switch:8");
  EXPECT_EQ(found("tutti,simulate:switch:8,multicast,bandwidth=25GB/s,openmpi"),
            "tutti | simulate:switch:8,multicast,bandwidth=25GB/s | openmpi");
  EXPECT_EQ(found("Simulate: switch:4,inner=packages:4x4x8,cube_latency=16ns , simulate:torus_2d:2x3,Tutti"),
            "simulate:switch:4,inner=packages:4x4x8,cube_latency=16ns | simulate:torus_2d:2x3 | tutti");
  EXPECT_EQ(found("simulate:./my.toml,memory=hbm,all"), "simulate:./my.toml,memory=hbm | tutti | openmpi")
      << "nobody means a fabric by all";
}

TEST(PeerOptions, SayWhatIsWrong) {
  EXPECT_EQ(found("simulate"), "--peer has 'simulate', which wants something behind it: simulate:FABRIC");
  EXPECT_EQ(found("simulate:,tutti"), "--peer has 'simulate:', which wants something behind it: simulate:FABRIC");
  EXPECT_EQ(found("tutti,simulate:nowhere"), "--peer simulate: there is no fabric 'nowhere'");
  EXPECT_EQ(found("simulat:switch:8"),
            "--peer has 'simulat:switch:8', which is none; the nearest is 'simulate'; all that are here is 'all'");
  EXPECT_EQ(found("tutti:switch"),
            "--peer has 'tutti:switch', which is none; the nearest is 'tutti'; all that are here is 'all'");
}

TEST(PeerOptions, TheLongestPeerInFrontIsMeant) {
  const std::vector<std::string> peers = {"tutti", "simulate:switch:8", "simulate:switch:8,latency=1us"};
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(peer_in_front("tutti:A=1", peers), Pair("tutti", "A=1"));
  EXPECT_EQ(peer_in_front("simulate:switch:8:algorithm=ring", peers), Pair("simulate:switch:8", "algorithm=ring"));
  EXPECT_EQ(peer_in_front("simulate:switch:8,latency=1us:algorithm=ring", peers),
            Pair("simulate:switch:8,latency=1us", "algorithm=ring"));
  EXPECT_EQ(peer_in_front("A=tutti:1", peers), Pair("", "A=tutti:1"));
  EXPECT_EQ(peer_in_front("openmpi:A=1", peers), Pair("", "openmpi:A=1"));
}

harness::PeerProgram process(const std::string& name) { return {.name = name, .program = {"worker"}}; }
harness::PeerProgram fixed(const std::string& name, int num_ranks) {
  return {.name = name, .program = {}, .reckoner = std::make_shared<const Fixed>(num_ranks)};
}

TEST(PeerOptions, FabricsSayHowManyRanksThereAreWhereNobodyElseDoes) {
  harness::Sweep sweep;
  sweep.num_ranks = {2};
  EXPECT_TRUE(give_ranks({process("tutti")}, false, sweep).ok());
  EXPECT_EQ(sweep.num_ranks, std::vector<int>{2});
  EXPECT_TRUE(give_ranks({fixed("a", 6), fixed("b", 8)}, false, sweep).ok());
  EXPECT_EQ(sweep.num_ranks_of.at("a"), std::vector<int>{6});
  EXPECT_EQ(sweep.num_ranks_of.at("b"), std::vector<int>{8});
  harness::Sweep mixed;
  mixed.num_ranks = {2};
  EXPECT_TRUE(give_ranks({process("tutti"), fixed("a", 4)}, false, mixed).ok());
  EXPECT_EQ(mixed.num_ranks, std::vector<int>{4});
  EXPECT_FALSE(give_ranks({process("tutti"), fixed("a", 4), fixed("b", 8)}, false, mixed).ok());
  EXPECT_FALSE(give_ranks({process("tutti"), fixed("a", 768)}, false, mixed).ok()) << "so many processes, unasked";
  mixed.num_ranks = {2, 768};
  EXPECT_TRUE(give_ranks({process("tutti"), fixed("a", 4)}, true, mixed).ok());
  mixed.num_ranks = {5, 6};
  EXPECT_EQ(give_ranks({fixed("a", 4)}, true, mixed).to_string(),
            "peer a has 4 ranks, and -a num_ranks asks for 5 and more");
}

TEST(PeerOptions, AVariableThatMeansNothingToAPeerIsAnError) {
  harness::Sweep sweep;
  const auto swept = [&](const std::string& peer, const std::string& name) {
    sweep.environment = {{.peer = peer, .names = {name}, .points = {{"1"}, {"2"}}}};
    return check_reckoned({process("tutti"), fixed("a", 4)}, sweep).ok();
  };
  EXPECT_TRUE(swept("", "KNOWN"));
  EXPECT_TRUE(swept("tutti", "OTHER"));
  EXPECT_FALSE(swept("", "OTHER"));
  EXPECT_FALSE(swept("a", "OTHER"));
}

TEST(PeerOptions, WhatOnlyMeasuringKnowsIsNamed) {
  SweepOptions options;
  options.timeout = "2s";  // is obeyed
  EXPECT_EQ(unheeded_words(options, {fixed("a", 4)}), "");
  options.sync = "barrier";
  options.launches = "3";
  EXPECT_EQ(unheeded_words(options, {fixed("a", 4)}),
            "in virtual time nothing is measured, so each case has one sample, whatever --sync, --launches says");
  EXPECT_EQ(unheeded_words(options, {fixed("a", 4), process("tutti")}), "") << "they are for the other one";
}

}  // namespace
}  // namespace tutti::cli
