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
std::string name_of_row(const NcclTunerRow& row) {
  const bool has_several = row.algorithm == "ring" || row.algorithm == "tree";
  return has_several ? fmt::format("{}_{}", row.algorithm, row.protocol) : row.algorithm;
}

TEST(NcclTuner, MeansTheTableOnAllRanksAndSizes) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const DecisionTable table = random_table("nccl", seed);
    const Exported exported = export_to_nccl(rules_for(table));
    const Result<NcclTuner> tuner = read_nccl_tuner(exported.text, "written");
    ASSERT_TRUE(tuner.ok()) << tuner.status().to_string();
    std::size_t num_told = 0;
    for (const Asked& asked : questions_of(table)) {
      const std::string algorithm = algorithm_in(table, asked);
      const NcclTunerRow* const row = tuner->find(asked.collective, asked.ranks, asked.bytes);
      const bool is_told = row != nullptr && !row->is_catch_all();
      ASSERT_EQ(is_told ? name_of_row(*row) : "", algorithm) << seed << ": " << to_string(asked) << "\n"
                                                             << exported.text;
      if (!is_told) continue;
      EXPECT_EQ(row->protocol == "simple", algorithm.find("_ll") == std::string::npos);
      ++num_told;
    }
    EXPECT_GT(num_told, 100U);
  }
}

TEST(NcclTuner, EveryCallHasALineAndAllOfNcclsChannels) {
  const DecisionTable table = table_of_peer(
      "nccl", {section_of(Collective::all_reduce, 8,
                          {range_to(1 << 20, "tree_ll", {{"NCCL_MAX_CTAS", "4"}}), range_to(kNoEnd, "nvls")})});
  const Exported exported = export_to_nccl(rules_for(table));
  const Result<NcclTuner> tuner = read_nccl_tuner(exported.text, "written");
  ASSERT_TRUE(tuner.ok());
  EXPECT_EQ(tuner->find(Collective::all_reduce, 8, 1 << 20)->channels, 4);
  EXPECT_EQ(tuner->find(Collective::all_reduce, 8, (1 << 20) + 1)->channels, 0);
  EXPECT_EQ(tuner->find(Collective::all_reduce, 8, kNoEnd)->algorithm, "nvls");
  for (const Collective collective : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                      Collective::broadcast, Collective::reduce}) {
    const NcclTunerRow* const row = tuner->find(collective, 16, std::uint64_t{1} << 40U);
    ASSERT_NE(row, nullptr) << "the plugin would give one channel to " << name_of(collective);
    EXPECT_TRUE(row->is_catch_all());
    EXPECT_EQ(row->channels, 0);
  }
}

TEST(NcclTuner, WhatALineCannotSayIsToldAndLeftOut) {
  const DecisionTable table = table_of_peer(
      "nccl", {section_of(Collective::all_reduce, 8,
                          {range_to(64, "tree_ll", {{"NCCL_MIN_CTAS", "4"}}),
                           range_to(128, "", {{"NCCL_ALGO", "Ring"}}), range_to(kNoEnd, "collnet_chain")})});
  const Exported exported = export_to_nccl(rules_for(table));
  EXPECT_EQ(exported.rules.left_out.size(), 3U) << "both, and that this plugin cannot leave a choice to NCCL";
  EXPECT_NE(std::find(exported.variables.begin(), exported.variables.end(),
                      std::pair<std::string, std::string>("NCCL_COLLNET_ENABLE", "1")),
            exported.variables.end());
}

TEST(NcclTuner, ErrorsNameTheLine) {
  const auto error = [](std::string_view text) { return read_nccl_tuner(text, "t").status().to_string(); };
  EXPECT_EQ(error("# c\nallreduce,0,1,ring,ll,0,1\n"), "t:2: the line has 7 fields; it takes 8 to 10");
  EXPECT_EQ(error("allreduced,0,1,ring,ll,0,1,1"), "t:1: 'allreduced' is no collective of NCCL's");
  EXPECT_EQ(error("\n\nallreduce,2,1,ring,ll,0,1,1"), "t:3: fields 2 and 3 are no range of bytes");
  EXPECT_EQ(error("allreduce,0,1,ring,ll,-1,1,1"),
            "t:1: with -1 channels the plugin takes one channel; 0 is as many as NCCL takes");
  EXPECT_EQ(error("allreduce,0,1,rings,ll,0,1,1"), "t:1: 'rings' is no algorithm");
  EXPECT_NE(error("allreduce,0,1,ring,ll,0,1,1," + std::string(300, ' ') + "1"), "") << "longer than the plugin reads";
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
