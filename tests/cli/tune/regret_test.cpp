// SPDX-License-Identifier: Apache-2.0
// `tutti regret`, on the published results that come with Tutti and on made-up ones.
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/tune/regret/regret_output.hpp"
#include "cli/tune/regret/rule_input.hpp"
#include "cli/tune/regret/shipped_rules.hpp"
#include "cli/tune/results/results_input.hpp"
#include "cli/tune/tune_commands.hpp"
#include "table/table_file.hpp"
#include "tune/leave_out.hpp"

namespace tutti::cli {
namespace {

using Json = nlohmann::json;

Outcome regret_of(const std::vector<std::string>& arguments) { return call(regret_command(), arguments); }

std::vector<tune::MachineCell> published_cells() {
  const Result<ReadResults> read = read_results("vllm_all_reduce", "", Environment());
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  std::size_t repeated = 0;
  return tune::cells_of(read->timings, repeated);
}

TEST(PublishedRules, AreTablesThatCanBeRead) {
  EXPECT_EQ(names_of_shipped_rules(), (std::vector<std::string>{"tensorrt_llm", "vllm"}));
  for (const ShippedRule& rule : shipped_rules()) {
    const Result<DecisionTable> table = read_table(rule.text, rule.file);
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    EXPECT_EQ(table->sections.size(), 4U) << rule.file;
  }
}

TEST(PublishedRules, VllmsOwnAreFivePercentFromTheBestAndTwiceItAtWorst) {
  const std::vector<tune::MachineCell> cells = published_cells();
  ASSERT_EQ(cells.size(), 40U);
  const Result<tune::Rule> vllm = read_rule("vllm");
  ASSERT_TRUE(vllm.ok());
  const tune::RegretSummary summary = tune::summarize(tune::take_all(*vllm, cells));
  EXPECT_EQ(summary.judged, 40U);
  EXPECT_EQ(summary.inexact, 0U);
  EXPECT_NEAR(summary.mean, 0.0527, 0.0005);
  EXPECT_NEAR(summary.greatest, 25.0 / 13 - 1, 1e-9);
  ASSERT_TRUE(summary.where);
  EXPECT_EQ(place_of(cells[*summary.where]), "b200, 8 ranks, 512K");
}

// The bar of tables made of results.
TEST(PublishedTimes, ATableOfEveryOtherSizeIsWithinTwoPercentOnTheOthers) {
  const std::vector<tune::MachineCell> cells = published_cells();
  const tune::RegretSummary made = tune::summarize(tune::without_sizes(cells, {}));
  EXPECT_EQ(made.judged, 40U);
  EXPECT_LE(made.mean, 0.02);
  const Result<tune::Rule> vllm = read_rule("vllm");
  ASSERT_TRUE(vllm.ok());
  EXPECT_LT(made.mean, tune::summarize(tune::take_all(*vllm, cells)).mean / 2);
  // In each half by itself, too.
  const std::vector<std::size_t> folds = tune::folds_of_sizes(cells);
  const std::vector<tune::Taken> taken = tune::without_sizes(cells, {});
  for (const std::size_t fold : {0U, 1U}) {
    std::vector<tune::Taken> of_fold;
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (folds[i] == fold) of_fold.push_back(taken[i]);
    EXPECT_EQ(of_fold.size(), 20U);
    EXPECT_LE(tune::summarize(of_fold).mean, 0.02);
  }
}

TEST(RegretCommand, ShowsEachCellAndTheSum) {
  const Outcome said = regret_of({"vllm", "vllm_all_reduce"});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.error, "read vllm_all_reduce: 200 times of vllm-all-reduce, 40 cells")) << said.error;
  EXPECT_TRUE(contains(said.out, "ca_2stage               25  ca_1stage               13            92.3")) << said.out;
  EXPECT_TRUE(contains(said.out, "b200, 8 ranks, 512K")) << said.out;
  const Json rows = Json::parse(regret_of({"vllm", "always:pynccl", "vllm_all_reduce", "--json"}).out);
  ASSERT_EQ(rows.size(), 80U);
  EXPECT_EQ(rows[0]["rule"], "vllm");
  EXPECT_EQ(rows[79]["takes"], "pynccl");
  EXPECT_GT(rows[79]["regret_percent"].get<double>(), 27);
  const Outcome several = regret_of({"vllm", "always:pynccl", "vllm_all_reduce"});
  EXPECT_FALSE(contains(several.out, "ca_2stage               25")) << several.out;
  EXPECT_TRUE(contains(several.out, "always:pynccl")) << several.out;
}

TEST(RegretCommand, SetsATableOfTheOtherSizesBesideARule) {
  const Outcome said = regret_of({"vllm", "vllm_all_reduce", "--leave-out", "sizes"});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.out, "table of the other sizes     40       36          1.53")) << said.out;
  EXPECT_TRUE(contains(said.out, "vllm                         40       33          5.27")) << said.out;
  const Json rows = Json::parse(regret_of({"vllm_all_reduce", "--leave-out", "sizes", "--json"}).out);
  ASSERT_EQ(rows.size(), 40U);
  EXPECT_EQ(rows[0]["left_out"], "even sizes");
  EXPECT_EQ(rows[1]["left_out"], "odd sizes");
}

// Two ways on rings of 2, 4 and 8 ranks, of which one fit is about.
constexpr const char* kMadeUp = R"toml(version = 1
id = "made-up"
source = "made up for a test"
date = "2026-01-01"
unit = "us"

[[fits]]
name = "rings"
fabrics = ["ring_1d"]
parameters = [{ name = "latency", start = "2us", value = "2us" }]
)toml";

std::string made_up_references() {
  std::string text = kMadeUp;
  for (const int ranks : {2, 4, 8})
    for (const char* way : {"ring", "one_shot"}) {
      const bool is_ring = way[0] == 'r';
      text += fmt::format(
          "\n[[series]]\nid = \"rings-{0}-{1}\"\ngroup = \"rings-{0}\"\nbytes = [1024, 1048576]\nvalues = [{2}, {3}]\n"
          "ways = [{{ fabric = \"ring_1d:{0}\", algorithm = \"{1}\" }}]\n",
          ranks, way, is_ring ? 4 * (ranks - 1) : ranks + 2, (is_ring ? 20 : 21 * ranks) + ranks);
    }
  return text;
}

TEST(RegretCommand, LeavesOutEachNumberOfRanksAndPredictsIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("made_up.toml");
  std::ofstream(path) << made_up_references();
  const Outcome said = regret_of({path, "--leave-out", "ranks"});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.error, "fitting without ring_1d, 4 ranks")) << said.error;
  for (const char* name :
       {"table of simulated times ", "table of corrected simulated times ", "table of the nearest number of ranks "})
    EXPECT_TRUE(contains(said.out, name)) << said.out;
  EXPECT_TRUE(contains(said.out, "median error of the 12 times that were left out: simulated ")) << said.out;
  const Json rows = Json::parse(regret_of({path, "--leave-out", "ranks", "--json"}).out);
  ASSERT_EQ(rows.size(), 18U);
  for (const Json& row : rows) EXPECT_FALSE(row["takes"].is_null()) << row;
  EXPECT_EQ(rows[0]["left_out"], "2 ranks");
}

TEST(RegretCommand, WithoutFitsOnlyTheNearestNumberOfRanksAnswers) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("times.csv");
  std::ofstream(path) << "ranks,bytes,ring_us,tree_us\n2,8,2,1\n4,8,2,3\n";
  const Outcome said = regret_of({path, "--leave-out", "ranks"});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.out, "nothing is predicted: only references with fits")) << said.out;
  EXPECT_TRUE(contains(said.out, "table of the nearest number of ranks")) << said.out;
}

TEST(RegretCommand, MistakesSayWhatWouldBeRight) {
  const auto error_of = [](const std::vector<std::string>& words) {
    const Outcome said = regret_of(words);
    EXPECT_EQ(said.exit, Exit::misused);
    EXPECT_TRUE(said.out.empty()) << said.out;
    return said.error;
  };
  EXPECT_TRUE(contains(error_of({"vlm", "vllm_all_reduce"}), "the nearest is 'vllm'"));
  EXPECT_TRUE(contains(error_of({"always:", "vllm_all_reduce"}), "write always:NAME"));
  EXPECT_TRUE(contains(error_of({"vllm"}), "give a rule and results"));
  EXPECT_TRUE(contains(error_of({"vllm", "none.csv"}), "there is no file 'none.csv'"));
  EXPECT_TRUE(contains(error_of({"vllm", "nonesuch", "--store", "/none"}), "'nonesuch' is no file"));
  EXPECT_TRUE(contains(error_of({"vllm_all_reduce", "--leave-out", "types"}), "'types' is not ranks or sizes"));
  const std::string no_cells = error_of({"always:ring", "vllm_all_reduce"});
  EXPECT_TRUE(contains(no_cells, "40 where it takes a way that has no time there (ring)")) << no_cells;
  EXPECT_TRUE(contains(no_cells, "the results have times of ca_1stage, ")) << no_cells;
}

TEST(RegretCommand, CellsThatARuleSaysNothingOfAreCounted) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("times.csv");
  std::ofstream(path) << "ranks,bytes,algorithm,time_us\n2,8,ring,2\n2,8,tree,1\n2,64,tree,1\n";
  const Outcome said = regret_of({"always:ring", path});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.out,
                       "always:ring: 1 of 2 cells not judged: 1 where it takes a way that has no time there "
                       "(ring)"))
      << said.out;
  EXPECT_TRUE(contains(said.error, "no column says the collective: taken for all_reduce")) << said.error;
}

}  // namespace
}  // namespace tutti::cli
