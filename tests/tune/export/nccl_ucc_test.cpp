// SPDX-License-Identifier: Apache-2.0
// Tables of NCCL and UCC: what is read back means the table.
#include "export_tables.hpp"
#include "tune/export/nccl_tuner.hpp"
#include "tune/export/ucc_score.hpp"

namespace tutti::tune {
namespace {

Rules rules_for(const DecisionTable& table) {
  const Result<Rules> rules = rules_of(table, table.peer, forced_by(table.peer));
  EXPECT_TRUE(rules.ok()) << rules.status().to_string();
  return *rules;
}

// "ring_ll128" of the registry is algorithm ring and protocol ll128; what has no protocol in its name has Simple.
std::string name_of_line(const nccl_tuner::Line& line) {
  using nccl_tuner::Algorithm;
  const bool has_several = line.algorithm == Algorithm::ring || line.algorithm == Algorithm::tree;
  return has_several ? fmt::format("{}_{}", name_of(line.algorithm), name_of(line.protocol))
                     : std::string(name_of(line.algorithm));
}

const NcclPlugin& example_plugin() {
  static const NcclPlugin plugin{.library = "libnccl-tuner-example.so", .has_catch_alls = true};
  return plugin;
}

// Of both plugins, but for what the table leaves to NCCL: a catch-all, or no line.
TEST(NcclTuner, MeansTheTableOnAllRanksAndSizes) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const DecisionTable table = random_table("nccl", seed);
    const NcclPlugin plugin = seed % 2 == 0 ? example_plugin() : NcclPlugin{};
    const Exported exported = export_to_nccl(rules_for(table), plugin);
    const Result<NcclTuner> tuner = read_nccl_tuner(exported.text, "written");
    ASSERT_TRUE(tuner.ok()) << tuner.status().to_string();
    std::size_t num_told = 0;
    for (const Asked& asked : questions_of(table)) {
      const std::string algorithm = algorithm_in(table, asked);
      const nccl_tuner::Line* const line = tuner->find(asked.collective, asked.ranks, asked.bytes);
      const bool is_told = line != nullptr && !is_catch_all(*line);
      ASSERT_EQ(is_told ? name_of_line(*line) : "", algorithm) << seed << ": " << to_string(asked) << "\n"
                                                               << exported.text;
      ASSERT_TRUE(is_told || line == nullptr || plugin.has_catch_alls) << to_string(asked);
      if (!is_told) continue;
      EXPECT_EQ(line->protocol == nccl_tuner::Protocol::simple, algorithm.find("_ll") == std::string::npos);
      ++num_told;
    }
    EXPECT_GT(num_told, 100U);
  }
}

DecisionTable table_with_channels() {
  return table_of_peer("nccl", {section_of(Collective::all_reduce, 8,
                                           {range_to(1 << 20, "tree_ll", {{"NCCL_MAX_CTAS", "4"}}),
                                            range_to(1 << 21, ""), range_to(kNoEnd, "nvls")})});
}

TEST(NcclTuner, LeavesWhatTheTableLeavesToNccl) {
  const Exported exported = export_to_nccl(rules_for(table_with_channels()), {});
  EXPECT_TRUE(exported.rules.left_out.empty());
  EXPECT_EQ(exported.variables.front().second, "libnccl-tuner-tutti.so");
  EXPECT_EQ(exported.text.substr(exported.text.find("\nall")),
            "\nallreduce,0,1048576,tree,ll,4,-1,8\nallreduce,2097153,18446744073709551615,nvls,simple,0,-1,8\n");
}

TEST(NcclTuner, TheExampleHasALineForEveryCallAndAllOfNcclsChannels) {
  const Exported exported = export_to_nccl(rules_for(table_with_channels()), example_plugin());
  EXPECT_EQ(exported.rules.left_out.size(), 1U) << "that it cannot leave a choice to NCCL";
  EXPECT_EQ(exported.variables.front().second, "libnccl-tuner-example.so");
  const Result<NcclTuner> tuner = read_nccl_tuner(exported.text, "written");
  ASSERT_TRUE(tuner.ok());
  EXPECT_EQ(tuner->find(Collective::all_reduce, 8, 1 << 20)->channels, 4);
  EXPECT_TRUE(is_catch_all(*tuner->find(Collective::all_reduce, 8, (1 << 20) + 1)));
  EXPECT_EQ(tuner->find(Collective::all_reduce, 8, kNoEnd)->algorithm, nccl_tuner::Algorithm::nvls);
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                      Collective::broadcast, Collective::reduce}) {
    const nccl_tuner::Line* const line = tuner->find(collective, 16, std::uint64_t{1} << 40U);
    ASSERT_NE(line, nullptr) << "the plugin would give one channel to " << name_of(collective);
    EXPECT_TRUE(is_catch_all(*line));
    EXPECT_EQ(line->channels, 0);
  }
}

TEST(NcclTuner, WhatALineCannotSayIsToldAndLeftOut) {
  const DecisionTable table = table_of_peer(
      "nccl", {section_of(Collective::all_reduce, 8,
                          {range_to(64, "tree_ll", {{"NCCL_MIN_CTAS", "4"}}),
                           range_to(128, "", {{"NCCL_ALGO", "Ring"}}), range_to(kNoEnd, "collnet_chain")})});
  const Exported exported = export_to_nccl(rules_for(table), {});
  EXPECT_EQ(exported.rules.left_out.size(), 2U);
  EXPECT_NE(std::find(exported.variables.begin(), exported.variables.end(),
                      std::pair<std::string, std::string>("NCCL_COLLNET_ENABLE", "1")),
            exported.variables.end());
}

TEST(NcclTuner, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return read_nccl_tuner(text, "t").status().to_string(); };
  EXPECT_EQ(error("# c\nallreduce,0,1,ring,ll,0,1\n"), "t:2: the line has 7 fields; it takes 8 to 10");
  EXPECT_EQ(error("allreduced,0,1,ring,ll,0,1,1"), "t:1: 'allreduced' is no collective of NCCL's");
}

TEST(UccScores, MeanTheTableOnAllRanksAndSizes) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const DecisionTable table = random_table("ucc", seed);
    const Exported exported = export_to_ucc(rules_for(table));
    const Result<UccScores> scores = read_ucc_scores(exported.text, "written");
    ASSERT_TRUE(scores.ok()) << scores.status().to_string();
    std::size_t num_told = 0;
    for (const Asked& asked : questions_of(table)) {
      const RuleRange* const rule = told(exported.rules, asked);
      std::string algorithm = algorithm_in(table, asked);
      if (rule == nullptr && is_left_out(exported.rules, asked.collective, asked.ranks)) algorithm = "";
      ASSERT_EQ(scores->find(asked.collective, asked.ranks, asked.bytes), algorithm)
          << seed << ": " << to_string(asked) << "\n"
          << exported.text;
      num_told += algorithm.empty() ? 0 : 1;
    }
    EXPECT_GT(num_told, 100U);
  }
}

TEST(UccScores, LookAsUccReadsThem) {
  const DecisionTable table = table_of_peer(
      "ucc", {section_of(Collective::all_reduce, 8,
                         {range_to(4096, "knomial"), range_to(65535, "sra_knomial"), range_to(kNoEnd, "")}),
              section_of(Collective::reduce_scatter, 4, {range_to(4096, "1"), range_to(kNoEnd, "ring")})});
  EXPECT_EQ(export_to_ucc(rules_for(table)).text,
            "allreduce:0-4097:[8]:@knomial:inf#allreduce:4097-65535:[8]:@sra_knomial:inf#"
            "reduce_scatter:0-1025:[4]:@1:inf#reduce_scatter:1025-inf:[4]:@ring:inf\n")
      << "two scores share an end, which is the later one's; a score that UCC's default follows keeps its end";
}

TEST(UccScores, ErrorsNameTheScore) {
  const auto error = [](std::string_view text) { return read_ucc_scores(text, "u").status().to_string(); };
  EXPECT_EQ(error("allreduce:0-4K:@0:inf#allreduce:4K-2K:@1"),
            "u:1: score 2: '4K-2K' is no part of a score, or one that was there");
  EXPECT_EQ(error("0-4K:@0:inf"), "u:1: score 1: the collective is missing");
  EXPECT_EQ(error("allreduce:allgather"), "u:1: score 1: 'allgather' is no part of a score, or one that was there");
}

}  // namespace
}  // namespace tutti::tune
