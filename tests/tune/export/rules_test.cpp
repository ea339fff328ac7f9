// SPDX-License-Identifier: Apache-2.0
// From tables to rules; and that no reader of exports breaks on what is no export.
#include "tune/export/rules.hpp"

#include "export_tables.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/mpich_selection.hpp"
#include "tune/export/nccl_tuner.hpp"
#include "tune/export/openmpi_rules.hpp"
#include "tune/export/ucc_score.hpp"

namespace tutti::tune {
namespace {

TEST(ExportRules, ATableOfAnotherPeerIsRefused) {
  const Result<Rules> rules = rules_of(table_of_peer("mpich", {}), "openmpi", forced_by("openmpi"));
  EXPECT_EQ(rules.status().to_string(), "test is a table of 'mpich'; --to is openmpi");
}

TEST(ExportRules, AnUnknownAlgorithmIsRefusedWithItsLine) {
  DecisionTable table =
      table_of_peer("openmpi", {section_of(Collective::all_reduce, 4, {range_to(kNoEnd, "no_such")})});
  table.sections[0].ranges[0].line = 9;
  const Result<Rules> rules = rules_of(table, "openmpi", forced_by("openmpi"));
  EXPECT_TRUE(rules.status().to_string().starts_with("test:9: ")) << rules.status().to_string();
}

TEST(ExportRules, AlikeRangesBecomeOneAndTheLibrarysChoicesAreNoRules) {
  const DecisionTable table = table_of_peer(
      "openmpi", {section_of(Collective::all_reduce, 4,
                             {range_to(64, "ring"), range_to(128, "ring"), range_to(kNoEnd, "rabenseifner")}),
                  section_of(Collective::all_reduce, 2, {range_to(64, ""), range_to(kNoEnd, "")})});
  const Result<Rules> rules = rules_of(table, "openmpi", forced_by("openmpi"));
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->sections.size(), 1U);
  ASSERT_EQ(rules->sections[0].ranges.size(), 2U);
  EXPECT_EQ(rules->sections[0].ranges[0].most_bytes, 128U);
}

TEST(ExportRules, SectionsThatNoFileTellsApartAreToldAndLeftOut) {
  const auto with = [](TableMemory memory, TypeClass types, std::string algorithm) {
    TableSection section = section_of(Collective::all_reduce, 4, {range_to(kNoEnd, std::move(algorithm))});
    section.memory = memory;
    section.types = types;
    return section;
  };
  const DecisionTable table =
      table_of_peer("openmpi", {with(TableMemory::symmetric, TypeClass::any, "ring"),
                                with(TableMemory::ordinary, TypeClass::narrow, "ring"),
                                with(TableMemory::ordinary, TypeClass::plain, "rabenseifner"),
                                with(TableMemory::ordinary, TypeClass::any, "recursive_doubling")});
  const Result<Rules> rules = rules_of(table, "openmpi", forced_by("openmpi"));
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->sections.size(), 1U);
  EXPECT_EQ(rules->sections[0].ranges[0].algorithm, "recursive_doubling");
  EXPECT_EQ(rules->left_out.size(), 3U);
}

TEST(ExportRules, OfOneNumberOfRanksTheSectionOfMostHostsStands) {
  const auto over = [](std::uint32_t hosts, std::string algorithm) {
    TableSection section = section_of(Collective::all_reduce, 4, {range_to(kNoEnd, std::move(algorithm))});
    section.hosts = hosts;
    return section;
  };
  const DecisionTable table =
      table_of_peer("openmpi", {over(1, "ring"), over(4, "rabenseifner"), over(2, "recursive_doubling")});
  const Result<Rules> rules = rules_of(table, "openmpi", forced_by("openmpi"));
  ASSERT_TRUE(rules.ok());
  ASSERT_EQ(rules->sections.size(), 1U);
  EXPECT_EQ(rules->sections[0].ranges[0].algorithm, "rabenseifner");
  EXPECT_EQ(rules->sections[0].hosts, 4U);
  ASSERT_EQ(rules->left_out.size(), 2U);
  EXPECT_NE(rules->left_out[0].find("the section for 4 hosts stands for it"), std::string::npos) << rules->left_out[0];
}

TEST(ExportRules, ATablesFileKeepsWhatIsExported) {
  const DecisionTable table = random_table("openmpi", 3);
  const Result<DecisionTable> read = read_table(write_table(table), "test");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  const Exported first = export_to_openmpi(*rules_of(table, "openmpi", forced_by("openmpi")), 4);
  const Exported second = export_to_openmpi(*rules_of(*read, "openmpi", forced_by("openmpi")), 4);
  EXPECT_EQ(first.text, second.text);
}

TEST(JsonTree, WritesWhatItReads) {
  const std::string text = "{\"a\": [1, -2, 0.5, true, false, null, \"t\\\"\\\\\"], \"b\": {}, \"c\": {\"d\": []}}\n";
  const Result<document::TomlTable> tree = parse_json(text, "j");
  ASSERT_TRUE(tree.ok()) << tree.status().to_string();
  EXPECT_EQ(write_json(*tree), text);
  const std::string narrow = write_json(*tree, 10);
  EXPECT_GT(narrow.size(), text.size());
  EXPECT_EQ(write_json(*parse_json(narrow, "j")), text);
}

// Each reader gives an answer on anything: what it takes is asked about, and errors name the place.
TEST(ExportReaders, NoneBreaksOnGarbage) {
  const auto rules = [](const char* peer) { return *rules_of(random_table(peer, 2), peer, forced_by(peer)); };
  const std::vector<std::string> seeds{
      export_to_openmpi(rules("openmpi"), 4).text, export_to_openmpi(rules("openmpi"), 6).text,
      export_to_nccl(rules("nccl"), {}).text, export_to_ucc(rules("ucc")).text,
      R"({"collective=bcast":{"avg_msg_size<8":{"algorithm=A":{}},"any":{"algorithm=B":{}}}})"};
  constexpr std::string_view kPieces = "{}[]\":,#@-\n0123456789\\ \t\377\0aei";
  std::mt19937 random(7);
  const auto check = [](const Status& status) {
    EXPECT_TRUE(status.ok() || status.message().starts_with("g:")) << status.to_string();
  };
  for (int round = 0; round < 1500; ++round) {
    std::string text = seeds[random() % seeds.size()].substr(0, 2000);
    for (std::uint32_t edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 40);
      } else {
        text[at] = kPieces[random() % kPieces.size()];
      }
    }
    const Result<OpenMpiRules> classic = read_openmpi_classic(text, "g");
    const Result<OpenMpiRules> json = read_openmpi_json(text, "g");
    const Result<MpichSelection> mpich = read_mpich_selection(text, "g");
    const Result<NcclTuner> nccl = read_nccl_tuner(text, "g");
    const Result<UccScores> ucc = read_ucc_scores(text, "g");
    for (const Status& status : {classic.status(), json.status(), mpich.status(), nccl.status(), ucc.status()})
      check(status);
    if (classic.ok()) static_cast<void>(classic->find(Collective::all_reduce, 4, 1000));
    if (json.ok()) static_cast<void>(json->find(Collective::all_reduce, 4, 1000));
    if (mpich.ok()) static_cast<void>(mpich->find({.ranks = 4, .bytes = 1000}));
    if (nccl.ok()) static_cast<void>(nccl->find(Collective::all_reduce, 4, 1000));
    if (ucc.ok()) static_cast<void>(ucc->find(Collective::all_reduce, 4, 1000));
  }
}

}  // namespace
}  // namespace tutti::tune
