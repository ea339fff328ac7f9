// SPDX-License-Identifier: Apache-2.0
// Tables of Open MPI as its rules: what is read back means the table.
#include "tune/export/openmpi_rules.hpp"

#include "export_tables.hpp"

namespace tutti::tune {
namespace {

OpenMpiRules read_back(const Exported& exported, int release) {
  const Result<OpenMpiRules> rules =
      release < 6 ? read_openmpi_classic(exported.text, "written") : read_openmpi_json(exported.text, "written");
  EXPECT_TRUE(rules.ok()) << rules.status().to_string() << "\n" << exported.text;
  return rules.ok() ? *rules : OpenMpiRules();
}

Exported exported_table(const DecisionTable& table, int release) {
  const Result<Rules> rules = rules_of(table, "openmpi", forced_by("openmpi"));
  EXPECT_TRUE(rules.ok()) << rules.status().to_string();
  return export_to_openmpi(*rules, release);
}

TEST(OpenMpiRules, MeanTheTableOnAllRanksAndSizes) {
  for (const int release : {4, 5, 6})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const DecisionTable table = random_table("openmpi", seed);
      const Exported exported = exported_table(table, release);
      const OpenMpiRules rules = read_back(exported, release);
      std::size_t num_told = 0;
      for (const Asked& asked : questions_of(table)) {
        std::string algorithm = algorithm_in(table, asked);
        if (is_left_out(exported.rules, asked.collective, asked.ranks)) algorithm = "";
        const std::string number = algorithm.empty() ? "0" : value_of("openmpi", asked.collective, algorithm);
        const OpenMpiChoice choice = rules.find(asked.collective, asked.ranks, asked.bytes);
        ASSERT_EQ(fmt::to_string(choice.algorithm), number)
            << "release " << release << ", seed " << seed << ": " << to_string(asked) << "\n"
            << exported.text;
        num_told += algorithm.empty() ? 0 : 1;
      }
      EXPECT_GT(num_told, 100U);
    }
}

TEST(OpenMpiRules, FanOutAndSegmentsAreThoseOfTheVariables) {
  const DecisionTable table = table_of_peer(
      "openmpi",
      {section_of(Collective::all_reduce, 4,
                  {range_to(1024, "ring"), range_to(kNoEnd, "segmented_ring",
                                                    {{"OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize", "65536"},
                                                     {"OMPI_MCA_coll_tuned_allreduce_algorithm_tree_fanout", "8"}})}),
       section_of(Collective::broadcast, 4,
                  {range_to(kNoEnd, "chain", {{"OMPI_MCA_coll_tuned_bcast_algorithm_chain_fanout", "2"}})}),
       section_of(Collective::barrier, 4, {range_to(kNoEnd, "tree")})});
  for (const int release : {4, 6}) {
    const OpenMpiRules rules = read_back(exported_table(table, release), release);
    EXPECT_EQ(rules.find(Collective::all_reduce, 4, 1024), (OpenMpiChoice{.algorithm = 4, .fan_out = 4}))
        << "a forced algorithm is given a fan-out of 4 where nobody sets one";
    EXPECT_EQ(rules.find(Collective::all_reduce, 4, 1025),
              (OpenMpiChoice{.algorithm = 5, .fan_out = 8, .segment_bytes = 65536}));
    EXPECT_EQ(rules.find(Collective::broadcast, 4, 8), (OpenMpiChoice{.algorithm = 2, .fan_out = 2}));
    EXPECT_EQ(rules.find(Collective::barrier, 4, 8), (OpenMpiChoice{.algorithm = 6}));
  }
}

TEST(OpenMpiRules, WhatARuleCannotSayIsLeftToTheLibraryWithItsLine) {
  DecisionTable table = table_of_peer(
      "openmpi", {section_of(Collective::broadcast, 4,
                             {range_to(64, "binomial", {{"OMPI_MCA_coll_tuned_bcast_algorithm_tree_fanout", "8"}}),
                              range_to(128, "knomial", {{"OMPI_MCA_coll_tuned_bcast_algorithm_knomial_radix", "8"}}),
                              range_to(256, "", {{"OMPI_MCA_btl", "self,vader"}}), range_to(kNoEnd, "pipeline")}),
                  section_of(Collective::scan, 4, {range_to(64, "linear"), range_to(kNoEnd, "recursive_doubling")}),
                  section_of(Collective::exclusive_scan, 4, {range_to(kNoEnd, "recursive_doubling")})});
  table.sections[0].ranges[1].line = 17;
  const Exported exported = exported_table(table, 4);
  const OpenMpiRules rules = read_back(exported, 4);
  for (const std::uint64_t bytes : {8, 100, 200})
    EXPECT_TRUE(rules.find(Collective::broadcast, 4, bytes).is_own()) << bytes;
  EXPECT_EQ(rules.find(Collective::broadcast, 4, 300).algorithm, 3U);
  EXPECT_TRUE(rules.find(Collective::scan, 4, 8).is_own()) << "rules for scans do not see how long a call is";
  EXPECT_EQ(rules.find(Collective::exclusive_scan, 4, 8).algorithm, 2U);
  ASSERT_EQ(exported.rules.left_out.size(), 4U);
  EXPECT_EQ(
      exported.rules.left_out[1],
      "test:17: broadcast on 4 ranks, up to 128: a rule cannot set OMPI_MCA_coll_tuned_bcast_algorithm_knomial_radix");
}

TEST(OpenMpiRules, NumbersOfRequestsNeedTheSecondVersionOfTheFile) {
  const DecisionTable table = table_of_peer(
      "openmpi",
      {section_of(Collective::all_to_all, 4,
                  {range_to(kNoEnd, "linear_sync", {{"OMPI_MCA_coll_tuned_alltoall_algorithm_max_requests", "3"}})})});
  EXPECT_TRUE(exported_table(table, 4).rules.sections.empty()) << "releases before 5.0.7 do not read them";
  const Exported exported = exported_table(table, 5);
  EXPECT_TRUE(exported.text.starts_with("rule-file-version-2\n")) << exported.text;
  EXPECT_EQ(read_back(exported, 5).find(Collective::all_to_all, 4, 8).most_requests, 3U);
  EXPECT_EQ(read_back(exported_table(table, 6), 6).find(Collective::all_to_all, 4, 8).most_requests, 3U);
}

TEST(OpenMpiRules, TheFirstSizeOfCommunicatorsAlsoCountsBelowAsInOpenMpi) {
  const Result<OpenMpiRules> rules = read_openmpi_classic("1\n2\n2\n4 1\n0 3 0 0\n8 2\n0 4 0 0\n100 5 0 0\n", "r");
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(rules->find(Collective::all_reduce, 2, 8).algorithm, 3U);
  EXPECT_EQ(rules->find(Collective::all_reduce, 7, 8).algorithm, 3U);
  EXPECT_EQ(rules->find(Collective::all_reduce, 9, 99).algorithm, 4U);
  EXPECT_EQ(rules->find(Collective::all_reduce, 9, 100).algorithm, 5U);
  EXPECT_TRUE(rules->find(Collective::all_gather, 9, 100).is_own());
}

TEST(OpenMpiRules, ClassicFilesAreTakenAndLeftAsOpenMpiDoes) {
  const auto takes = [](std::string_view text) { return read_openmpi_classic(text, "r").ok(); };
  EXPECT_TRUE(takes("1 # one collective\n2 # all-reduce\n1\n64 # ranks\n2\n0 3 0 0\n8192 4 0 0\n"));
  EXPECT_TRUE(takes("1\n2\n0\n")) << "a collective without rules";
  EXPECT_TRUE(takes("collectives: 1, number 2, sizes 0")) << "Open MPI skips what is no number";
  EXPECT_FALSE(takes(""));
  EXPECT_FALSE(takes("# 1 2 0\n")) << "nothing but a comment";
  EXPECT_FALSE(takes("0\n"));
  EXPECT_FALSE(takes("99\n2\n0\n")) << "more collectives than there are";
  EXPECT_FALSE(takes("1\n2\n1\n64\n2\n0 3 0 0\n8192 4 0\n")) << "a number is missing at the end";
  EXPECT_FALSE(takes("1\n2\n1\n64\n1\n0 -3 0 0\n")) << "a negative number";
}

TEST(OpenMpiRules, TheFirstRuleOfJsonCountsWhoseBoundsHold) {
  const Result<OpenMpiRules> rules = read_openmpi_json(
      R"({"collectives": {"allreduce": [
        {"comm_size_min": 4, "rules": [{"msg_size_max": 99, "alg": "ring"}, {"msg_size_max": "inf", "alg": 3}]},
        {"rules": [{"alg": 6}]}]}})",
      "r");
  ASSERT_TRUE(rules.ok()) << rules.status().to_string();
  EXPECT_EQ(rules->find(Collective::all_reduce, 8, 99).name, "ring");
  EXPECT_EQ(rules->find(Collective::all_reduce, 8, 100).algorithm, 3U);
  EXPECT_EQ(rules->find(Collective::all_reduce, 3, 100).algorithm, 6U);
}

TEST(OpenMpiRules, ErrorsNameTheLine) {
  const auto classic = [](std::string_view text) { return read_openmpi_classic(text, "r").status().to_string(); };
  const auto json = [](std::string_view text) { return read_openmpi_json(text, "r").status().to_string(); };
  EXPECT_EQ(classic("1\n2\n1\n4 1\n0 3 0\n"), "r:6: a segment size is missing");
  EXPECT_EQ(classic("1\n22\n"), "r:2: a collective's number is 22; it goes from 0 to 21");
  EXPECT_EQ(classic("1\n2\n1\n4 1\n8 3 0 0\n"), "r:5: the first message size is 8; it must be 0");
  EXPECT_EQ(json("{\n\"collectives\": {\n\"allreduce\": [{}]}}"),
            "r:3: rules is missing: an array of rules for messages");
  EXPECT_EQ(json("{\"collectives\":\n {\"allreduced\": []}}"), "r:2: 'allreduced' is no collective");
  EXPECT_EQ(json("{\n\"collectives\": {\n\"scan\": [{\"rules\": [\n{\"msg_size_min\": -1, \"alg\": 1}]}]}}"),
            "r:4: msg_size_min is neither a number from 0 on nor \"inf\"");
  EXPECT_EQ(json("{\n\"a\": 1,\n\"a\": 2}"), "r:3: key 'a' is there twice");
}

}  // namespace
}  // namespace tutti::tune
