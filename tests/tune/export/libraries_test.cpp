// SPDX-License-Identifier: Apache-2.0
// Open MPI and MPICH follow what is exported for them. Neither tells what it has chosen. So the tables name what cannot
// work: of Open MPI an algorithm that it has not, which is an error of the call; of MPICH one that needs a part of the
// tree that was taken out, which ends the program.
#include <cstdio>
#include <tuple>

#include "../../base/temporary_folder.hpp"
#include "base/system/file.hpp"
#include "export_tables.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/mpich_names.hpp"
#include "tune/export/mpich_selection.hpp"
#include "tune/export/openmpi_rules.hpp"

namespace tutti::tune {
namespace {

constexpr std::uint64_t kElement = 4;  // bytes of what mpi_calls.cpp sends

class ExportedFile : public ::testing::Test {
 protected:
  // What the ranks print; both streams. The file's variables are set.
  [[nodiscard]] std::string run(const Exported& exported, const std::string& launcher, const std::string& program,
                                std::uint32_t ranks, const std::string& counts) const {
    const std::string file = folder_.write("exported", exported.text);
    std::string command =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 ";
    for (const auto& [name, value] : exported.variables) command += fmt::format("{}={} ", name, value);
    command += fmt::format("{}='{}' timeout 60 '{}' -n {} '{}' {} 2>&1", exported.file_variable, file, launcher, ranks,
                           program, counts);
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }

  test::TemporaryFolder folder_;
};

#ifdef EXPORT_OPENMPI_CALLS

// Of each collective: above so many bytes, an algorithm that there is not.
DecisionTable table_with_missing(std::uint32_t ranks) {
  constexpr std::uint64_t kMost = 240;
  std::vector<TableSection> sections;
  for (int number = 0; number < kNumRegular; ++number) {
    const auto collective = static_cast<Collective>(number);
    const peers::PeerRow& peer = **peers::find_peer("openmpi");
    std::string variable;
    for (const peers::Variable& each : peer.variables)
      if (each.collective == collective) variable = each.name;
    const bool has_size =
        collective != Collective::barrier && collective != Collective::scan && collective != Collective::exclusive_scan;
    std::vector<TableRange> ranges;
    if (has_size) ranges.push_back(range_to(kMost, names_for("openmpi", collective, ranks).front()));
    ranges.push_back(range_to(kNoEnd, "", {{variable, "77"}}));
    sections.push_back(section_of(collective, ranks, std::move(ranges)));
  }
  return table_of_peer("openmpi", std::move(sections));
}

TEST_F(ExportedFile, OpenMpiFollowsItOnItsRanksAndSizes) {
  const DecisionTable table = table_with_missing(3);
  const Exported exported = export_to_openmpi(*rules_of(table, "openmpi", forced_by("openmpi")), 4);
  ASSERT_TRUE(exported.rules.left_out.empty()) << exported.rules.left_out.front();
  const std::string text = run(exported, EXPORT_OPENMPI_MPIRUN, EXPORT_OPENMPI_CALLS, 3, "20 21 60 61");
  std::size_t num_failed = 0;
  for (int number = 0; number < kNumRegular; ++number)
    for (const std::uint64_t count : {20, 21, 60, 61}) {
      const auto collective = static_cast<Collective>(number);
      const std::uint64_t blocks = facts_of(collective).many_inputs || facts_of(collective).many_outputs ? 3 : 1;
      const RuleRange& range = exported.rules.find(collective, 3)->range_of(count * kElement * blocks);
      const bool fails = range.algorithm.empty();
      const std::string line = fmt::format("{} {} {}\n", name_of(collective), count, fails ? "failed" : "done");
      EXPECT_NE(("\n" + text).find("\n" + line), std::string::npos) << line << "\n" << text;
      num_failed += fails ? 1 : 0;
    }
  EXPECT_GT(num_failed, 20U);

  const std::string others = run(exported, EXPORT_OPENMPI_MPIRUN, EXPORT_OPENMPI_CALLS, 2, "20 100");
  EXPECT_EQ(others.find("failed"), std::string::npos) << "with fewer ranks, Open MPI chooses by itself: " << others;
  EXPECT_NE(others.find("barrier 100 done"), std::string::npos) << others;
}

#else
TEST_F(ExportedFile, OpenMpiFollowsItOnItsRanksAndSizes) { GTEST_SKIP() << "Open MPI is not here"; }
#endif

#ifdef EXPORT_MPICH_CALLS

MpichSelection own_selection(const std::vector<std::string>& without = {}) {
  const Result<std::string> library = read_file(EXPORT_MPICH_LIBRARY, std::uint64_t{1} << 30U);
  EXPECT_TRUE(library.ok()) << library.status().to_string();
  const Result<std::string> text = selection_in_library(*library, EXPORT_MPICH_LIBRARY);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  const Result<MpichSelection> own = read_mpich_selection(*text, "own");
  EXPECT_TRUE(own.ok()) << own.status().to_string();
  document::TomlTable tree = own->tree();
  for (const std::string& key : without)
    std::erase_if(tree.entries, [&](const document::TomlEntry& entry) { return entry.key == key; });
  return MpichSelection(std::move(tree));
}

Exported exported_over(const MpichSelection& base, std::vector<TableSection> sections) {
  const Result<Rules> rules = rules_of(table_of_peer("mpich", std::move(sections)), "mpich", forced_by("mpich"));
  EXPECT_TRUE(rules.ok()) << rules.status().to_string();
  Result<Exported> exported = export_to_mpich(*rules, base);
  EXPECT_TRUE(exported.ok()) << exported.status().to_string();
  return *exported;
}

// What every call is that a full tree has, with all algorithms that there are: MPICH ends programs over names that it
// does not know.
TEST_F(ExportedFile, MpichTakesAllAlgorithms) {
  std::vector<TableSection> sections;
  for (int number = 0; number < kNumRegular; ++number) {
    const auto collective = static_cast<Collective>(number);
    std::uint32_t ranks = 2;
    for (const std::string& name : names_for("mpich", collective, 64)) {
      sections.push_back(section_of(collective, ranks, {range_to(kNoEnd, name)}));
      ranks *= 2;
    }
  }
  const Exported exported = exported_over(own_selection(), std::move(sections));
  EXPECT_TRUE(exported.rules.left_out.empty());
  const std::string text = run(exported, EXPORT_MPICH_MPIRUN, EXPORT_MPICH_CALLS, 2, "1 10 1000");
  EXPECT_NE(text.find("barrier 1000 done"), std::string::npos) << text;
  EXPECT_EQ(text.find("failed"), std::string::npos) << text;
}

// A non-blocking algorithm needs the part of the tree for it.
TEST_F(ExportedFile, MpichFollowsItOnItsRanksAndSizes) {
  const std::vector<std::string> without{"collective=iallreduce", "collective=iallgather"};
  for (const auto& [collective, name, ranks] :
       {std::tuple(Collective::all_reduce, "recursive_doubling", 2U), std::tuple(Collective::all_gather, "ring", 2U),
        std::tuple(Collective::all_reduce, "recursive_doubling", 3U)}) {
    const Exported exported = exported_over(
        own_selection(without), {section_of(collective, ranks, {range_to(240, name), range_to(kNoEnd, "nb")})});
    const std::uint64_t last = 240 / kElement / (collective == Collective::all_gather ? 2 : 1);
    const std::string text =
        run(exported, EXPORT_MPICH_MPIRUN, EXPORT_MPICH_CALLS, 2, fmt::format("{} {}", last, last + 1));
    EXPECT_NE(text.find(fmt::format("{} {} done", name_of(collective), last)), std::string::npos) << text;
    const bool goes_on = text.find(fmt::format("{} {} done", name_of(collective), last + 1)) != std::string::npos;
    EXPECT_EQ(goes_on, ranks == 3) << "a table for other numbers of ranks says nothing; for these, it ends: " << text;
  }
}

#else
TEST_F(ExportedFile, MpichFollowsItOnItsRanksAndSizes) { GTEST_SKIP() << "MPICH is not here"; }
#endif

}  // namespace
}  // namespace tutti::tune
