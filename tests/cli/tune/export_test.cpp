// SPDX-License-Identifier: Apache-2.0
// `tutti export`, but for --verify, which measures (tests/tune/export has the formats).
#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/tune/export/export_verify.hpp"
#include "cli/tune/tune_commands.hpp"
#include "data/collective.hpp"
#include "peers/registry.hpp"

namespace tutti::cli {
namespace {

const BenchWorld& export_world() {
  static const BenchWorld world = [] {
    BenchWorld made;
    made.algorithms_of = [](std::string_view peer, std::string_view bench) {
      return peers::algorithms_of(**peers::find_peer(peer), *find_collective(bench));
    };
    return made;
  }();
  return world;
}

class Export : public ::testing::Test {
 protected:
  [[nodiscard]] std::string table(std::string_view peer, std::string_view algorithm, std::string_view more = "") const {
    return folder_.write("table.toml", fmt::format("version = 1\npeer = \"{}\"\n[machine]\nfingerprint = \"any\"\n"
                                                   "[[section]]\ncollective = \"all_reduce\"\nranks = 4\n"
                                                   "[[section.range]]\nalgorithm = \"{}\"\n{}\n",
                                                   peer, algorithm, more));
  }
  [[nodiscard]] static Outcome call_export(std::vector<std::string> arguments) {
    return call(export_command(export_world()), std::move(arguments));
  }

  test::TemporaryFolder folder_;
};

TEST_F(Export, WritesTheFileAndTellsWhatToSet) {
  const std::string file = folder_.file("my rules");
  const Outcome outcome = call_export({"--to", "openmpi", table("openmpi", "ring"), "-o", file});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, fmt::format("export OMPI_MCA_coll_tuned_use_dynamic_rules=1 "
                                       "OMPI_MCA_coll_tuned_dynamic_rules_filename='{}'\n",
                                       file));
  EXPECT_TRUE(contains(folder_.read("my rules"), "\n0 4 4 0\n")) << folder_.read("my rules");
}

TEST_F(Export, WritesToStandardOutputWithoutAFile) {
  const Outcome nccl = call_export({"--to", "nccl", table("nccl", "tree_ll")});
  EXPECT_TRUE(contains(nccl.out, "\nallreduce,0,18446744073709551615,tree,ll,0,-1,4\n")) << nccl.out;
  EXPECT_EQ(nccl.error, "export NCCL_TUNER_PLUGIN=libnccl-tuner-tutti.so NCCL_TUNER_CONFIG_FILE=FILE\n")
      << "by its bare name where it lies in no place that is known";
  const Outcome example = call_export({"--to", "nccl", "--plugin", "example", table("nccl", "tree_ll")});
  EXPECT_TRUE(contains(example.out, "\nbroadcast,65536,18446744073709551615,ring,simple,0,-1,-1\n")) << example.out;
  EXPECT_FALSE(contains(nccl.out, ",-1,-1\n")) << nccl.out;
  EXPECT_TRUE(contains(example.error, "NCCL_TUNER_PLUGIN=libnccl-tuner-example.so")) << example.error;
  const Outcome ucc = call_export({"--to", "UCC", table("ucc", "knomial")});
  EXPECT_EQ(ucc.out, "allreduce:0-inf:[4]:@knomial:inf\n");
  EXPECT_EQ(ucc.error, "export UCC_TL_UCP_TUNE='allreduce:0-inf:[4]:@knomial:inf'\n");
  const Outcome json = call_export({"--to", "openmpi", "--release", "6", table("openmpi", "ring")});
  EXPECT_TRUE(contains(json.out, "{\"msg_size_min\": 0, \"alg\": 4, \"faninout\": 4, \"seg_size\": 0}")) << json.out;
}

TEST_F(Export, MergesIntoTheTreeOfTheMpichThatIsNamed) {
  const std::string base = folder_.write("generic.json", R"({"collective=allreduce":{"algorithm=MPIR_own":{}}})");
  const Outcome outcome = call_export({"--to", "mpich", "--base", base, table("mpich", "recursive_doubling")});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "\"comm_size<=4\": {\"algorithm=MPIR_Allreduce_intra_recursive_doubling\": {}}"))
      << outcome.out;
  const std::string wrong = folder_.write("generic.json", "{\"collective=allreduce\":{}}");
  EXPECT_EQ(call_export({"--to", "mpich", "--base", wrong, table("mpich", "smp")}).exit, Exit::misused);
}

TEST_F(Export, RefusesWhatIsAnotherPeersOrUnknown) {
  const auto error = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_EQ(outcome.out, "");
    return outcome.error;
  };
  EXPECT_TRUE(contains(error(call_export({"--to", "openmpi", table("mpich", "smp")})),
                       "is a table of 'mpich'; --to is openmpi"));
  EXPECT_TRUE(contains(error(call_export({"--to", "openmpi", table("openmpi", "rings")})), "the nearest is 'ring'"));
  EXPECT_TRUE(contains(error(call_export({"--to", "openmp", table("openmpi", "ring")})), "the nearest is 'openmpi'"));
  EXPECT_TRUE(
      contains(error(call_export({"--to", "openmpi", "--release", "7", table("openmpi", "ring")})), "4, 5 or 6"));
  EXPECT_TRUE(contains(error(call_export({"--to", "nccl", "--release", "5", table("nccl", "pat")})), "--to is nccl"));
  EXPECT_TRUE(contains(error(call_export({"--to", "nccl", "--plugin", "examples", table("nccl", "pat")})),
                       "the nearest is 'example'"));
  EXPECT_TRUE(contains(error(call_export({"--to", "ucc", "--plugin", "tutti", table("ucc", "knomial")})),
                       "--plugin is of NCCL"));
  EXPECT_TRUE(contains(error(call_export({"--to", "openmpi", "--verify", table("openmpi", "ring")})), "needs -o"));
  EXPECT_TRUE(
      contains(error(call_export({"--to", "nccl", "--verify", "-o", folder_.file("f"), table("nccl", "tree_ll")})),
               "--verify is for openmpi and mpich"));
}

TEST_F(Export, TellsWhatIsLeftOutAndRefusesItIfStrict) {
  const std::string_view more =
      "[[section]]\ncollective = \"scan\"\nranks = 4\n[[section.range]]\nmost_bytes = \"4K\"\nalgorithm = \"linear\"\n"
      "[[section.range]]\nalgorithm = \"recursive_doubling\"\n";
  const Outcome outcome = call_export({"--to", "openmpi", table("openmpi", "ring", more)});
  EXPECT_EQ(outcome.exit, Exit::done);
  EXPECT_TRUE(contains(outcome.error, "left out: ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "table.toml:11: scan on 4 ranks")) << outcome.error;
  const std::string file = folder_.file("strict");
  const Outcome strict = call_export({"--to", "openmpi", "--strict", "-o", file, table("openmpi", "ring", more)});
  EXPECT_EQ(strict.exit, Exit::misused);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ExportVerify, RangesWithASlowerSizeAreLeftToTheLibrary) {
  tune::Rules rules;
  rules.title = "t";
  const tune::PeerVariables variables{{"A", "1"}};
  rules.sections.push_back({.collective = Collective::all_reduce,
                            .ranks = 4,
                            .ranges = {{.most_bytes = 100, .algorithm = "a", .variables = variables, .line = 3},
                                       {.most_bytes = kNoEnd, .algorithm = "b", .variables = {{"A", "2"}}, .line = 5}},
                            .line = 2});
  const auto size = [](std::uint32_t ranks, std::uint64_t bytes, harness::Verdict verdict) {
    VerifiedSize made;
    made.ranks = ranks;
    made.bytes = bytes;
    made.ratio.verdict = verdict;
    return made;
  };
  using enum harness::Verdict;
  const std::vector<std::string> said =
      drop_slower({size(4, 100, slower), size(4, 50, faster), size(4, 101, undecided), size(2, 200, slower)}, rules);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0],
            "t:3: all_reduce on 4 ranks, up to 100: slower than the library's own choice at 100, to which it is left");
  EXPECT_TRUE(rules.sections[0].ranges[0].is_own_choice());
  EXPECT_FALSE(rules.sections[0].ranges[1].is_own_choice());
}

TEST(ExportVerify, SaysWhereAFileCostsSomethingThoughItSaysNothing) {
  VerifiedSize size;
  size.bytes = 8;
  size.ratio.ratio = 0.8;
  EXPECT_TRUE(costs_of_file({size}).empty()) << "undecided";
  size.ratio.verdict = harness::Verdict::slower;
  const std::vector<std::string> said = costs_of_file({size});
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(contains(said[0], "all_reduce on 2 ranks at 8 takes 1.25 times as long with the file")) << said[0];
}

}  // namespace
}  // namespace tutti::cli
