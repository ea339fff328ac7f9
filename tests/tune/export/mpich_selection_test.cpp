// SPDX-License-Identifier: Apache-2.0
// Tables of MPICH merged into a tree of its own: what is read back means the table, and all else is as it was.
#include "tune/export/mpich_selection.hpp"

#include <array>

#include "export_tables.hpp"
#include "tune/export/mpich_names.hpp"

namespace tutti::tune {
namespace {

// As MPICH's own: a part for each kind of communicator, and of some one for both.
MpichSelection made_base() {
  std::string text = "{";
  for (int number = 0; number < kNumRegular; ++number) {
    const std::string_view word = mpich_word_of(static_cast<Collective>(number));
    const bool is_for_both = static_cast<Collective>(number) == Collective::exclusive_scan;
    text += is_for_both ? fmt::format("\"collective={0}\":{{\"algorithm=MPIR_own_{0}\":{{}}}},", word)
                        : fmt::format(
                              "\"collective={0}\":{{\"comm_type=intra\":{{\"comm_size<=3\":{{\"algorithm="
                              "MPIR_own_{0}_few\":{{}}}},\"comm_size=any\":{{\"algorithm=MPIR_own_{0}\":{{}}}}}},"
                              "\"comm_type=inter\":{{\"algorithm=MPIR_inter_{0}\":{{}}}}}},",
                              word);
  }
  const Result<MpichSelection> base =
      read_mpich_selection(text + "\"collective=ibcast\":{\"algorithm=MPIR_own_ibcast\":{}}}", "base");
  EXPECT_TRUE(base.ok()) << base.status().to_string();
  return *base;
}

Exported exported_table(const DecisionTable& table) {
  const Result<Rules> rules = rules_of(table, "mpich", forced_by("mpich"));
  EXPECT_TRUE(rules.ok()) << rules.status().to_string();
  Result<Exported> exported = export_to_mpich(*rules, made_base());
  EXPECT_TRUE(exported.ok()) << exported.status().to_string();
  return *exported;
}

MpichSelection read_back(const Exported& exported) {
  Result<MpichSelection> read = read_mpich_selection(exported.text, "written");
  EXPECT_TRUE(read.ok()) << read.status().to_string() << "\n" << exported.text;
  return read.ok() ? *read : made_base();
}

std::string found(const MpichSelection& selection, const MpichCall& call) {
  const Result<std::string> function = selection.find(call);
  return function.ok() ? *function : function.status().to_string();
}

// A call that lacks what this algorithm wants.
std::vector<MpichCall> lacking(const MpichNeeds& needs, const MpichCall& call) {
  std::vector<MpichCall> calls;
  const auto add = [&](bool is_needed, bool MpichCall::*fact, bool value) {
    if (is_needed) calls.emplace_back(call).*fact = value;
  };
  add(needs.parent, &MpichCall::is_parent, false);
  add(needs.commutative, &MpichCall::is_commutative, false);
  add(needs.consecutive, &MpichCall::is_consecutive, false);
  add(needs.built_in_operator, &MpichCall::is_built_in, false);
  add(needs.many_elements, &MpichCall::has_few, true);
  add(needs.out_of_place, &MpichCall::is_in_place, true);
  add(needs.in_place, &MpichCall::is_in_place, false);
  return calls;
}

TEST(MpichSelection, MeansTheTableOnAllRanksAndSizes) {
  const MpichSelection base = made_base();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const DecisionTable table = random_table("mpich", seed);
    const Exported exported = exported_table(table);
    const MpichSelection read = read_back(exported);
    std::size_t num_told = 0;
    for (const Asked& asked : questions_of(table)) {
      std::string algorithm = algorithm_in(table, asked);
      if (is_left_out(exported.rules, asked.collective, asked.ranks)) algorithm = "";
      MpichCall call{.collective = asked.collective, .ranks = asked.ranks, .bytes = asked.bytes};
      const MpichNeeds needs = mpich_needs_of(asked.collective, algorithm);
      call.is_in_place = needs.in_place;
      const std::string expected =
          algorithm.empty() ? found(base, call) : mpich_function_of(asked.collective, algorithm);
      ASSERT_EQ(found(read, call), expected) << "seed " << seed << ": " << to_string(asked) << "\n" << exported.text;
      for (const MpichCall& other : lacking(needs, call))
        ASSERT_EQ(found(read, other), found(base, other)) << algorithm << ": " << to_string(asked);
      num_told += algorithm.empty() ? 0 : 1;
    }
    EXPECT_GT(num_told, 100U);
  }
}

TEST(MpichSelection, WhatTheTableDoesNotHaveStaysAsItWas) {
  const DecisionTable table =
      table_of_peer("mpich", {section_of(Collective::all_gather, 4, {range_to(kNoEnd, "ring")})});
  const Exported exported = exported_table(table);
  EXPECT_NE(exported.text.find("\"collective=ibcast\": {\"algorithm=MPIR_own_ibcast\": {}}"), std::string::npos);
  EXPECT_NE(exported.text.find("\"comm_type=inter\": {\"algorithm=MPIR_inter_allgather\": {}}"), std::string::npos);
  EXPECT_EQ(exported.variables, (PeerVariables{{"MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"},
                                               {"MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE", "0"}}))
      << "the device's own collectives stay, but for this one";
}

TEST(MpichSelection, FilesAreNeverWholePages) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string name(3900 + length * 8, 'x');
    const Result<MpichSelection> base = read_mpich_selection(
        fmt::format("{{\"collective=allgather\":{{\"comm_type=intra\":{{\"algorithm={}\":{{}}}}}}}}", name), "base");
    ASSERT_TRUE(base.ok());
    const Result<Rules> rules =
        rules_of(table_of_peer("mpich", {section_of(Collective::all_gather, 4, {range_to(kNoEnd, "ring")})}), "mpich",
                 forced_by("mpich"));
    const Result<Exported> exported = export_to_mpich(*rules, *base);
    ASSERT_TRUE(exported.ok());
    EXPECT_NE(exported->text.size() % 4096, 0U) << "MPICH would read behind the end of the file";
  }
}

TEST(MpichSelection, SizesBeyondAnIntAreLeftToTheLibrary) {
  const std::uint64_t limit = (std::uint64_t{1} << 31U) - 1;
  const DecisionTable table = table_of_peer(
      "mpich", {section_of(Collective::all_reduce, 4, {range_to(limit + 10, "smp"), range_to(kNoEnd, "nb")})});
  const Exported exported = exported_table(table);
  const MpichSelection read = read_back(exported);
  EXPECT_EQ(found(read, {.ranks = 4, .bytes = limit}), "MPIR_Allreduce_intra_smp");
  EXPECT_EQ(found(read, {.ranks = 4, .bytes = limit + 1}), "MPIR_own_allreduce");
  ASSERT_EQ(exported.rules.left_out.size(), 1U);
}

TEST(MpichSelection, SeveralRangesOfWhatHasNoSizeAreLeftOut) {
  const DecisionTable table =
      table_of_peer("mpich", {section_of(Collective::gather, 4, {range_to(64, "nb"), range_to(kNoEnd, "binomial")}),
                              section_of(Collective::scatter, 4, {range_to(kNoEnd, "nb")})});
  const Exported exported = exported_table(table);
  ASSERT_EQ(exported.rules.sections.size(), 1U);
  EXPECT_EQ(exported.rules.sections[0].collective, Collective::scatter);
  EXPECT_EQ(exported.rules.left_out.size(), 1U);
}

TEST(MpichSelection, IsFoundInALibrary) {
  using namespace std::string_literals;
  const std::string tree = R"({"collective=bcast":{"algorithm=MPIR_Bcast_intra_binomial":{}}})";
  const std::string library =
      "\177ELF...\0{\"collective=bcast\":{\"algorithm=MPIDI_POSIX_mpi_bcast_release_gather\":{}}}\0"s + tree + "\0..."s;
  const Result<std::string> text = selection_in_library(library, "lib");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, tree) << "the device's own tree is not the one";
  EXPECT_FALSE(selection_in_library("\177ELF", "lib").ok());
}

TEST(MpichSelection, RefusesWhatMpichEndsOver) {
  const auto error = [](std::string_view text) { return read_mpich_selection(text, "s").status().to_string(); };
  EXPECT_EQ(error("{\n\"collective=bcast\":\n{}}"), "s:3: nothing follows: an operator or an algorithm is missing");
  EXPECT_EQ(error("{\"collective=bcast\":\n{\"comm_sizes<4\":{\"algorithm=A\":{}}}}"),
            "s:2: 'comm_sizes<4' is no operator of MPICH's");
  EXPECT_EQ(error("{\"collective=bcast\":{\"avg_msg_size<=4\":{\"algorithm=A\":{}}}}"),
            "s:1: 'avg_msg_size<=4' has nothing behind it for all other cases");
  EXPECT_EQ(error("{\"collective=bcasts\":{\"algorithm=A\":{}}}"), "s:1: 'bcasts' is no collective");
  EXPECT_EQ(
      error("{\"collective=bcast\":{\"avg_msg_size<=9999999999\":{\"algorithm=A\":{}},\"any\":{\"algorithm=A\":{}}}}"),
      "s:1: 'avg_msg_size<=9999999999' is no operator of MPICH's");
  EXPECT_NE(error(std::string(100, '{')), "");
}

}  // namespace
}  // namespace tutti::tune
