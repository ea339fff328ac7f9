// SPDX-License-Identifier: Apache-2.0
// A simulated fabric beside the other peers, as a user runs it: in sweeps, files, stores and comparisons.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox.hpp"

namespace tutti::peers {
namespace {

class Simulated : public ::testing::Test {
 protected:
  [[nodiscard]] auto run(const std::string& arguments) const { return sandbox_.run(arguments); }
  Sandbox sandbox_{TUTTI_PROGRAM};
};

TEST_F(Simulated, ThreeTopologiesOverSizesAreOneSweep) {
  const auto outcome = run(
      "run all_reduce --peer simulate:ring_1d:6,simulate:torus_2d:2x3,bandwidth=25GB/s,simulate:mesh_2d_no_wrap:2x3 "
      "-a bytes=16:98304:x2 -a type=f16 -a algorithm=default,all --no-store --json");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_GT(outcome.rows.size(), 500U);
  int skipped = 0;
  for (const Json& row : outcome.rows) {
    if (row["check"] == "skipped") {
      ++skipped;
      continue;
    }
    ASSERT_EQ(row["check"], "ok") << row;
    ASSERT_EQ(row["samples"], 1) << row;
    ASSERT_EQ(row["ranks"], 6) << row;
    ASSERT_EQ(row["sync"], "virtual") << row;
  }
  EXPECT_EQ(skipped, 3 * 2 * 14) << "two by multicast, of three fabrics and 14 sizes";
}

TEST_F(Simulated, RowsAreKeptShownAndCompared) {
  const std::string fabric = sandbox_.write("my.toml", "version = 1\ngenerator = \"ring_1d:4\"\n");
  const std::string sweep = sandbox_.write(
      "sweep.toml", fmt::format("bench = \"all_gather\"\npeers = \"simulate:{0}\"\naxes = [\"bytes=1K,1M\", "
                                "\"simulate:{0}:algorithm=ring\"]\n",
                                fabric));
  const auto first = run(fmt::format("run --sweep '{}' --store '{}' --json", sweep, sandbox_.store()));
  EXPECT_EQ(first.exit, 0) << first.error;
  const Json shown = sandbox_.look(fmt::format("show --json --store '{}'", sandbox_.store()));
  EXPECT_EQ(shown, first.rows);
  sandbox_.write("my.toml", "version = 1\ngenerator = \"ring_1d:4\"\n[parameters]\nbandwidth = \"25GB/s\"\n");
  // Another sweep, of which there is no run to go on with.
  const auto second = run(fmt::format("run --sweep '{}' --store '{}' --resume --json", sweep, sandbox_.store()));
  EXPECT_EQ(second.exit, 0) << second.error;
  EXPECT_NE(second.error.find("run 2 in"), std::string::npos) << second.error;
  const auto compared = run(fmt::format("compare 1 2 --store '{}' --json", sandbox_.store()));
  EXPECT_EQ(compared.exit, 0) << compared.error;
  ASSERT_EQ(compared.rows.size(), 2U);
  EXPECT_EQ(compared.rows[1]["run 2_verdict"], "slower") << compared.rows;
  EXPECT_EQ(run(fmt::format("compare 1 2 --store '{}' --fail-on slower:3%", sandbox_.store())).exit, 1);
}

TEST_F(Simulated, CommunicatorsAreResumedAndKeepTheirBaseline) {
  const std::string sweep = fmt::format(
      "run communicators --peer simulate:switch:4 -a bytes=1K --baseline 'simulate:switch:4 ring' --resume "
      "--json --store '{}'",
      sandbox_.store());
  const auto first = run(sweep);
  EXPECT_EQ(first.exit, 0) << first.error;
  ASSERT_EQ(first.rows.size(), 1U) << first.rows;
  EXPECT_EQ(first.rows[0]["baseline"], "simulate:switch:4 ring");
  EXPECT_GT(first.rows[0]["speedup"].get<double>(), 1);
  const auto again = run(sweep);
  EXPECT_EQ(again.exit, 0) << again.error;
  EXPECT_NE(again.error.find("run 1 has all of its"), std::string::npos) << again.error;
  EXPECT_EQ(again.rows, first.rows);
  EXPECT_EQ(run(fmt::format("show 1 --view best --json --store '{}'", sandbox_.store())).rows, first.rows);
}

TEST_F(Simulated, StandsBesideThatWhichItSimulates) {
  const auto outcome = run(
      "compare --peer null,simulate:host:2x2 -a bytes=8 --launches 1 --budget 50ms --sync meeting --no-store --json");
  ASSERT_TRUE(outcome.rows.is_array()) << outcome.error;
  ASSERT_EQ(outcome.rows.size(), 1U) << outcome.rows;
  EXPECT_EQ(outcome.rows[0]["ranks"], 2);
  EXPECT_GT(outcome.rows[0]["null_us"].get<double>(), 0);
  EXPECT_GT(outcome.rows[0]["simulate:host:2x2_us"].get<double>(), 0);
  EXPECT_TRUE(outcome.rows[0]["simulate:host:2x2_verdict"].is_string()) << outcome.rows;
}

TEST_F(Simulated, FabricsOfDifferentSizesAreComparedByAsManyRanks) {
  const std::string both = "compare --peer simulate:switch:4,simulate:switch:8 -a bytes=1K --no-store --json ";
  const auto apart = run(both);
  EXPECT_EQ(apart.exit, 2);
  EXPECT_NE(apart.error.find("simulate:switch:4 has 4 ranks, and none of the others"), std::string::npos)
      << apart.error;
  const auto outcome = run(both + "-a num_ranks=4");
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(outcome.rows[0]["simulate:switch:8_verdict"], "same") << outcome.rows;
}

TEST_F(Simulated, ComparisonsInShort) {
  const std::string two = "--peer simulate:switch:8 -a num_ranks=2,4 -a bytes=1K,1M ";
  const auto live = run("compare " + two + "-a algorithm=ring,ring_bidir_ag --no-store --json --by ranks");
  EXPECT_EQ(live.exit, 0) << live.error;
  ASSERT_EQ(live.rows.size(), 2U) << live.rows;
  EXPECT_EQ(live.rows[1]["ranks"], 4);
  EXPECT_EQ(live.rows[1]["cases"], 2);
  EXPECT_TRUE(live.rows[1]["mean_percent"].is_number()) << live.rows;
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_EQ(run(fmt::format("run {} --store '{}'", two, sandbox_.store())).exit, 0);
  const auto kept = run(fmt::format("compare 1 2 --by bytes --json --store '{}'", sandbox_.store()));
  EXPECT_EQ(kept.exit, 0) << kept.error;
  ASSERT_EQ(kept.rows.size(), 2U) << kept.rows;
  EXPECT_EQ(kept.rows[0]["same"], 2);
  EXPECT_EQ(kept.rows[0]["competitor"], "run 2");
  for (const auto& [words, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--by rank", "--by is 'rank'; what tells cases apart is"},
           {"--by ranks --view best", "leave out --view best"},
           {"--by ''", "'' is no column"}}) {
    const auto outcome = run(fmt::format("compare {} -a algorithm=ring,swing --no-store {}", two, words));
    EXPECT_EQ(outcome.exit, 2) << words;
    EXPECT_NE(outcome.error.find(said), std::string::npos) << outcome.error;
  }
}

TEST_F(Simulated, MistakesAreToldBeforeAnythingIsStarted) {
  for (const auto& [arguments, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--peer simulate", "simulate:FABRIC"},
           {"--peer simulate:switsch:4", "the nearest is 'switch'"},
           {"--peer simulate:switch:4,opnmpi", "opnmpi: switch has no such parameter"},
           {"--peer simulate:switch:4 -a num_ranks=5", "has 4 ranks"},
           {"--peer simulate:switch:4 -a algorithm=rng", "'rng', which is none"},
           {"--peer simulate:switch:4 --env FOO=1,2", "variable FOO means nothing to peer simulate:switch:4"},
           {"--peer null,simulate:switch:800", "say with -a num_ranks"}}) {
    const auto outcome = run(fmt::format("run all_reduce {} --store '{}'", arguments, sandbox_.store()));
    EXPECT_EQ(outcome.exit, 2) << arguments;
    EXPECT_NE(outcome.error.find(words), std::string::npos) << arguments << ": " << outcome.error;
  }
  const auto missing = run(fmt::format("run all_reduce --peer simulate:./none.toml --store '{}'", sandbox_.store()));
  EXPECT_EQ(missing.exit, 1);
  EXPECT_NE(missing.error.find("cannot read './none.toml'"), std::string::npos) << missing.error;
}

TEST_F(Simulated, WhereTheFabricCanDoNothingTheRunFails) {
  const std::string narrow =
      "run all_reduce --peer simulate:switch:4,queue_slots=1,queue_slot_bytes=4 --no-store "
      "--json -a bytes=1K -a algorithm=";
  const auto nothing = run(narrow + "ring");
  EXPECT_EQ(nothing.exit, 2);
  EXPECT_NE(nothing.error.find("nothing could be done: ring on switch:4"), std::string::npos) << nothing.error;
  EXPECT_EQ(run(narrow + "ring,one_shot").exit, 0);
}

TEST_F(Simulated, IsAmongThePeersAndTheirAlgorithms) {
  bool is_listed = false;
  for (const Json& row : run("list peers --json").rows)
    is_listed = is_listed || (row["peer"] == "simulate:FABRIC" && row["here"] == true);
  EXPECT_TRUE(is_listed);
  bool has_multicast = false;
  for (const Json& row : run("list algorithms --json").rows)
    has_multicast = has_multicast || (row["peer"] == "simulate" && row["algorithm"] == "multicast_one_shot");
  EXPECT_TRUE(has_multicast);
}

}  // namespace
}  // namespace tutti::peers
