// SPDX-License-Identifier: Apache-2.0
// `tutti prove` as a user calls it.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "algorithms/registry.hpp"
#include "bench/views/text_grid.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace tutti::cli {
namespace {

Outcome prove(std::vector<std::string> arguments) { return call(prove_command(), std::move(arguments)); }

TEST(Prove, ListsEveryAlgorithmAsProven) {
  const Outcome outcome = prove({"--num-ranks", "1-5"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(outcome.out.starts_with("verdict=proven\n\ncollective")) << outcome.out;
  EXPECT_LE(widest_line(outcome.out), 100U) << outcome.out;
  EXPECT_TRUE(prove({"--num-ranks", "1-2", "--wide"}).out.starts_with("collective"));
  for (const Algorithm* algorithm : all_algorithms()) EXPECT_TRUE(contains(outcome.out, std::string(algorithm->name)));
  EXPECT_EQ(nlohmann::json::parse(prove({"--num-ranks", "1-2", "--json"}).out).size(), all_algorithms().size());
  EXPECT_FALSE(contains(outcome.out, "wrong"));
  EXPECT_TRUE(contains(outcome.error, " algorithms, ")) << outcome.error;
}

TEST(Prove, GivesJsonOfWhatWasAskedFor) {
  const Outcome outcome =
      prove({"--algorithm", "ring", "--collective", "all_reduce", "--num-ranks", "2,4-5", "--json"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["algorithm"], "ring");
  EXPECT_EQ(rows[0]["collective"], "all_reduce");
  EXPECT_EQ(rows[0]["ranks"], "2,4-5");
  EXPECT_EQ(rows[0]["verdict"], "proven");
  // Of five ranks: each sends four fifths of the buffer twice.
  EXPECT_EQ(rows[0]["blocks_out"], 1.6);
  const auto of_three =
      nlohmann::json::parse(prove({"--algorithm", "ring", "--collective", "all_reduce", "-n", "3", "--json"}).out);
  EXPECT_DOUBLE_EQ(of_three[0]["blocks_out"].get<double>(), 4.0 / 3);
  for (const char* name : {"-n", "--ranks"})
    EXPECT_EQ(prove({"--algorithm", "ring", "--collective", "all_reduce", name, "2,4-5", "--json"}).out, outcome.out);
}

TEST(Prove, OneCaseCanBeAskedFor) {
  const Outcome all = prove({"--algorithm", "ring", "--num-ranks", "2-4", "--json"});
  EXPECT_EQ(nlohmann::json::parse(all.out)[0]["cases"], 3);
  const std::array<std::array<const char*, 3>, 14> wrong = {{
      {"--root", "x", "'x' is not a rank"},
      {"--radix", "1", "'1' is not a radix"},
      {"--grid", "4", "'4' is not a grid, like 4x2"},
      {"--grid", "4x", "'4x' is not a grid, like 4x2"},
      {"--groups", "2,,3", "'2,,3' is not a list of sizes"},
      {"--corner", "-1", "'-1' is not 0 to 4"},
      {"--corner", "9", "'9' is not 0 to 4"},
      {"--root", "", "--root has no value; write --root RANK"},
      {"--seed", "-1", "--seed: '-1' is not a number from 0 to 18446744073709551615"},
      {"--seed", "x", "--seed: 'x' is not a number from 0"},
      {"--mutate", "-5", "--mutate: '-5' is not a number from 1 to 1000000000"},
      {"--mutate", "0", "--mutate: '0' is not a number from 1 to 1000000000"},
      {"--mutate", "x", "--mutate: 'x' is not a number from 1 to 1000000000"},
      {"--mutate", "", "--mutate has no value; write --mutate N"},
  }};
  for (const auto& [option, text, words] : wrong) {
    const Outcome outcome = prove({fmt::format("{}={}", option, text)});
    EXPECT_EQ(outcome.exit, Exit::misused) << option;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
  }
}

TEST(Prove, WhereThereIsNoCaseItSaysWhy) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> none = {
      {{"--algorithm", "swing", "--num-ranks", "5"}, "swing needs an even number of ranks, and there are 5"},
      {{"--algorithm", "knomial", "--collective", "broadcast", "--num-ranks", "2", "--root", "9"},
       "there is no case of broadcast knomial: the root is rank 9, and there are 2 ranks"},
      {{"--algorithm", "hierarchical", "--num-ranks", "4", "--inner", "nosuch"},
       "there is no all_reduce algorithm nosuch to run between groups"},
      {{"--algorithm", "bucket_2d", "--num-ranks", "6", "--grid", "2x2"}, "a grid of 2x2 does not have 6 ranks"},
  };
  for (const auto& [without, words] : none) {
    std::vector<std::string> arguments = without;
    const Outcome outcome = prove(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_TRUE(contains(outcome.out, "no case")) << outcome.out;
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
    arguments.insert(arguments.end(), {"--mutate", "10"});
    const Outcome mutated = prove(arguments);
    EXPECT_EQ(mutated.exit, Exit::misused) << "nothing was examined";
    EXPECT_EQ(mutated.out, "");
    EXPECT_TRUE(contains(mutated.error, words)) << mutated.error;
  }
}

TEST(Prove, ParametersThatNothingTakesAreMisuse) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--algorithm", "ring", "--collective", "all_reduce", "--radix", "3"},
       "--radix: all_reduce ring takes none; its parameters: none"},
      {{"--algorithm", "swing", "--root", "0"}, "--root: all_reduce swing takes none; its parameters: none"},
      {{"--algorithm", "centre", "--radix", "3"},
       "--radix: all_reduce centre takes none; its parameters: grid, corner"},
      {{"--algorithm", "hierarchical", "--inner", "ring", "--radix", "3"},
       "--radix: all_reduce hierarchical with ring between groups takes none; its parameters: groups, inner"},
      {{"--collective", "scan", "--radix", "3"}, "--radix: none of the 2 algorithms that are chosen takes it"},
      {{"--root", "0", "--grid", "2x2"},
       "--root, --grid: none of the 62 algorithms that are chosen takes these together"},
  };
  for (const auto& [arguments, words] : wrong) {
    const Outcome outcome = prove(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused) << words;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
  }
  // Of several algorithms, those that take it.
  const nlohmann::json rows =
      nlohmann::json::parse(prove({"--collective", "broadcast", "--num-ranks", "3", "--radix", "3", "--json"}).out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["algorithm"], "knomial");
  EXPECT_EQ(rows[0]["cases"], 3);
}

TEST(Prove, TheParametersOfAnInnerAlgorithmCount) {
  const std::vector<std::string> arguments = {"--algorithm", "hierarchical",          "--groups",
                                              "2,3,2",       "--num-ranks",           "7",
                                              "--inner",     "recursive_multiplying", "--json"};
  EXPECT_EQ(nlohmann::json::parse(prove(arguments).out)[0]["cases"], 7) << "a case for each radix";
  std::vector<std::string> one = arguments;
  one.insert(one.end(), {"--radix", "3"});
  EXPECT_EQ(nlohmann::json::parse(prove(one).out)[0]["cases"], 1);
}

TEST(Prove, SaysTheSeedOfWhatItDraws) {
  const std::vector<std::string> arguments = {"--algorithm", "hierarchical", "--num-ranks", "9"};
  EXPECT_TRUE(contains(prove(arguments).error, " cases, seed 1, in "));
  std::vector<std::string> seeded = arguments;
  seeded.insert(seeded.end(), {"--seed", "7"});
  const Outcome outcome = prove(seeded);
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, " cases, seed 7, in ")) << outcome.error;
}

TEST(Prove, TheTableFitsATerminalOf160Columns) {
  const Outcome outcome = prove({"--num-ranks", "1-6"});
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    const auto wide = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(wide, 160) << line;
  }
}

TEST(Prove, AllIsAsNothing) {
  EXPECT_EQ(prove({"--all", "--num-ranks", "3"}).out, prove({"--num-ranks", "3"}).out);
  const Outcome outcome = prove({"--all", "--algorithm", "ring"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_TRUE(contains(outcome.error, "--all is every algorithm")) << outcome.error;
}

const std::vector<std::string> kMutants = {"--algorithm", "ring", "--collective", "all_reduce", "--num-ranks", "2-4",
                                           "--mutate",    "60",   "--seed",       "3",          "--json"};

TEST(Prove, MutantsAreCountedAndNoneDoesHarm) {
  const Outcome outcome = prove(kMutants);
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_GE(rows.size(), 3U);
  EXPECT_EQ(rows[0]["algorithm"], "ring");
  EXPECT_EQ(rows[0]["mutation"], "all");
  int of_kinds = 0;
  for (std::size_t row = 1; row + 1 < rows.size(); ++row) {
    EXPECT_EQ(rows[row]["algorithm"], "all");
    EXPECT_NE(rows[row]["mutation"], "all");
    of_kinds += rows[row]["mutants"].get<int>();
  }
  EXPECT_EQ(of_kinds, 60);
  for (const nlohmann::json& all : {rows.front(), rows.back()}) {
    EXPECT_EQ(all["mutants"], 60);
    EXPECT_EQ(all["harmful"], 0);
    EXPECT_EQ(all["rejected"].get<int>() + all["harmless"].get<int>(), 60);
  }
  EXPECT_TRUE(contains(outcome.error, "60 mutants, seed 3: ")) << outcome.error;
  EXPECT_EQ(prove(kMutants).out, outcome.out) << "the same seed gives the same mutants";
}

TEST(Prove, DetailsOfMutantsAreARowForEachKindOfEachAlgorithm) {
  std::vector<std::string> arguments = kMutants;
  arguments.emplace_back("--details");
  int mutants = 0;
  for (const nlohmann::json& row : nlohmann::json::parse(prove(arguments).out))
    if (row["algorithm"] == "ring" && row["mutation"] != "all") mutants += row["mutants"].get<int>();
  EXPECT_EQ(mutants, 60);
}

TEST(Prove, MutantsThatAreRejectedWithoutNeedCanBeSeen) {
  std::vector<std::string> arguments = kMutants;
  arguments.insert(arguments.end(), {"--show", "1"});
  const Outcome outcome = prove(arguments);
  const nlohmann::json all = nlohmann::json::parse(outcome.out).back();
  ASSERT_GT(all["too_strict"], 0) << "choose another seed";
  EXPECT_TRUE(contains(outcome.error, " of seed 3, of all_reduce ring with ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "is rejected and does no harm\n  changed: ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "\ntutti schedule 1\n")) << outcome.error;
  EXPECT_EQ(prove({"--show", "1"}).exit, Exit::misused) << "there is nothing to show without --mutate";
}

TEST(Prove, MutatingNothingIsMisuse) {
  const Outcome outcome = prove({"--algorithm", "dissemination", "--num-ranks", "1", "--mutate", "10"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.error, "none of these schedules has anything that a mutation could change"))
      << outcome.error;
}

TEST(Prove, RandomSchedulesAreMutatedWithAllAlgorithmsOnly) {
  EXPECT_TRUE(contains(prove({"--num-ranks", "2", "--mutate", "400"}).out, "random symmetric"));
  EXPECT_FALSE(contains(prove({"--collective", "barrier", "--num-ranks", "2", "--mutate", "40"}).out, "random"));
}

TEST(Prove, WrongRanksAreMisuse) {
  for (const char* ranks : {"0", "abc", "3-2", "1-", "-4", "2,,3", "2-3-4", "1025", ""}) {
    const Outcome outcome = prove({std::string("--num-ranks=") + ranks});
    EXPECT_EQ(outcome.exit, Exit::misused) << ranks;
    EXPECT_EQ(outcome.out, "") << ranks;
    EXPECT_TRUE(contains(outcome.error, "--num-ranks")) << ranks << ": " << outcome.error;
  }
  EXPECT_TRUE(contains(prove({"--num-ranks", "2,x"}).error, "'x' is not a number or a range of ranks from 1 to 1024"));
}

TEST(Prove, UnknownNamesAreMisuseAndTheKnownAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--algorithm", "rign"}, "there is no algorithm 'rign'; the nearest is 'ring' ('tutti algorithms' lists all)\n"},
      {{"--collective", "rign"}, "there is no collective 'rign'; there are: all_reduce, all_gather, "},
      {{"--collective", "scan", "--algorithm", "ring"},
       "there is no algorithm 'ring' for scan; there are: linear, recursive_doubling; 'ring' is one for all_reduce, "},
      {{"--collective", "barrier", "--algorithm", "rign"},
       "there is no algorithm 'rign' for barrier; there are: direct, dissemination\n"},
  };
  for (const auto& [arguments, words] : wrong) {
    const Outcome outcome = prove(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
  }
}

const std::string kExample = TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched";

TEST(Prove, ProvesSchedulesThatAreWrittenDown) {
  const Outcome outcome = prove({"--file", kExample, "--json"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["file"], kExample);
  EXPECT_EQ(rows[0]["name"], "square");
  EXPECT_EQ(rows[0]["ranks"], 4);
  EXPECT_EQ(rows[0]["verdict"], "proven");
  EXPECT_EQ(rows[0]["order"], "uniform");
  // Four halves of the buffer go out.
  EXPECT_EQ(rows[0]["blocks_out"], 2.0);
}

TEST(Prove, TellsTheStoryOfAFileThatIsWrongAndGoesOn) {
  const test::TemporaryFolder folder;
  std::ifstream example(kExample);
  std::string text{std::istreambuf_iterator<char>(example), {}};
  // Rank 3 folds what it should hand out, so rank 1 receives what nobody sends.
  text.replace(text.find("send output[0.0] to 1\n"), 21, "copy scratch = input");
  const std::string unreadable = folder.write("unreadable.sched", text);
  text.replace(text.find("pieces 2"), 8, "pieces 2\nscratch 1");
  text.replace(text.find("scratch = input"), 15, "scratch[0.0] = input[0.0]");
  const std::string wrong = folder.write("wrong.sched", text);
  const Outcome outcome = prove({"--file", wrong, kExample});
  EXPECT_EQ(outcome.exit, Exit::found_wrong) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "wrong") && contains(outcome.out, "proven")) << outcome.out;
  EXPECT_TRUE(contains(outcome.error, "rank 3 sends rank 1 1 messages a round, which receives 2")) << outcome.error;

  const Outcome misused = prove({"--file", unreadable, "--file", folder.file("missing"), kExample});
  EXPECT_EQ(misused.exit, Exit::misused);
  EXPECT_TRUE(contains(misused.out, "proven")) << misused.out;
  EXPECT_TRUE(contains(misused.error, unreadable + ":49:8: found 'scratch', expected another space")) << misused.error;
  EXPECT_TRUE(contains(misused.error, "missing': No such file or directory")) << misused.error;
}

TEST(Prove, FilesGoWithNoChoiceOfAlgorithms) {
  for (const char* option : {"--num-ranks=2", "--algorithm=ring", "--all", "--root=0", "--seed=1"}) {
    const Outcome outcome = prove({"--file", kExample, option});
    EXPECT_EQ(outcome.exit, Exit::misused) << option;
    EXPECT_TRUE(contains(outcome.error, " and --file exclude each other")) << outcome.error;
  }
}

}  // namespace
}  // namespace tutti::cli
