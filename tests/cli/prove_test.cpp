// `tutti prove` as a user calls it.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "algorithms/registry.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace tutti::cli {
namespace {

struct Outcome {
  int exit = -1;
  std::string out;
  std::string error;
};

Outcome prove(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "prove");
  const std::array commands{prove_command()};
  std::ostringstream out;
  std::ostringstream error;
  const Environment environment;
  const Exit exit = run_program(commands, arguments, {environment, out, error});
  return {static_cast<int>(exit), out.str(), error.str()};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Prove, ListsEveryAlgorithmAsProven) {
  const Outcome outcome = prove({"--ranks", "1-5"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_TRUE(outcome.out.starts_with("collective")) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n') - 1,
            static_cast<std::ptrdiff_t>(all_algorithms().size()))
      << outcome.out;
  for (const Algorithm* algorithm : all_algorithms()) EXPECT_TRUE(contains(outcome.out, std::string(algorithm->name)));
  EXPECT_FALSE(contains(outcome.out, "wrong"));
  EXPECT_TRUE(contains(outcome.error, " algorithms, ")) << outcome.error;
}

TEST(Prove, GivesJsonOfWhatWasAskedFor) {
  const Outcome outcome = prove({"--algorithm", "ring", "--collective", "all_reduce", "--ranks", "2,4-5", "--json"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["algorithm"], "ring");
  EXPECT_EQ(rows[0]["collective"], "all_reduce");
  EXPECT_EQ(rows[0]["ranks"], "2,4-5");
  EXPECT_EQ(rows[0]["verdict"], "proven");
  // Of five ranks: each sends four fifths of the buffer twice.
  EXPECT_EQ(rows[0]["blocks_out"], 1.6);
}

TEST(Prove, OneCaseCanBeAskedFor) {
  const Outcome all = prove({"--algorithm", "ring", "--ranks", "2-4", "--json"});
  EXPECT_EQ(nlohmann::json::parse(all.out)[0]["cases"], 3);
  const std::array<std::array<const char*, 3>, 6> wrong = {{
      {"--root", "x", "'x' is not a rank"},
      {"--radix", "1", "'1' is not a radix"},
      {"--grid", "4", "'4' is not a grid, like 4x2"},
      {"--grid", "4x", "'4x' is not a grid, like 4x2"},
      {"--groups", "2,,3", "'2,,3' is not a list of sizes"},
      {"--corner", "-1", "'-1' is not 0 to 4"},
  }};
  for (const auto& [option, text, words] : wrong) {
    const Outcome outcome = prove({fmt::format("{}={}", option, text)});
    EXPECT_EQ(outcome.exit, 2) << option;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
  }
}

TEST(Prove, AllIsAsNothing) {
  EXPECT_EQ(prove({"--all", "--ranks", "3"}).out, prove({"--ranks", "3"}).out);
  const Outcome outcome = prove({"--all", "--algorithm", "ring"});
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_TRUE(contains(outcome.error, "--all is every algorithm")) << outcome.error;
}

TEST(Prove, MutantsAreCountedAndNoneDoesHarm) {
  const std::vector<std::string> arguments = {"--algorithm", "ring", "--collective", "all_reduce", "--ranks", "2-4",
                                              "--mutate",    "60",   "--seed",       "3",          "--json"};
  const Outcome outcome = prove(arguments);
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_GE(rows.size(), 3U);
  int mutants = 0;
  for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
    EXPECT_EQ(rows[row]["algorithm"], "ring");
    mutants += rows[row]["mutants"].get<int>();
  }
  const nlohmann::json& all = rows[rows.size() - 1];
  EXPECT_EQ(all["algorithm"], "all");
  EXPECT_EQ(all["mutants"], 60);
  EXPECT_EQ(mutants, 60);
  EXPECT_EQ(all["harmful"], 0);
  EXPECT_EQ(all["rejected"].get<int>() + all["harmless"].get<int>(), 60);
  EXPECT_TRUE(contains(outcome.error, "60 mutants, seed 3: ")) << outcome.error;
  EXPECT_EQ(prove(arguments).out, outcome.out) << "the same seed gives the same mutants";
}

TEST(Prove, RandomSchedulesAreMutatedWithAllAlgorithmsOnly) {
  EXPECT_TRUE(contains(prove({"--ranks", "2", "--mutate", "400"}).out, "random symmetric"));
  EXPECT_FALSE(contains(prove({"--collective", "barrier", "--ranks", "2", "--mutate", "40"}).out, "random"));
  EXPECT_EQ(prove({"--seed", "3"}).exit, 2) << "a seed is for mutants";
}

TEST(Prove, WrongRanksAreMisuse) {
  for (const char* ranks : {"0", "abc", "3-2", "1-", "-4", "2,,3", "2-3-4", "1025", ""}) {
    const Outcome outcome = prove({std::string("--ranks=") + ranks});
    EXPECT_EQ(outcome.exit, 2) << ranks;
    EXPECT_EQ(outcome.out, "") << ranks;
    EXPECT_TRUE(contains(outcome.error, "--ranks")) << ranks << ": " << outcome.error;
  }
  EXPECT_TRUE(contains(prove({"--ranks", "2,x"}).error, "'x' is not a number or a range of ranks from 1 to 1024"));
}

TEST(Prove, UnknownNamesAreMisuseAndTheKnownAreNamed) {
  for (const char* option : {"--algorithm", "--collective"}) {
    const Outcome outcome = prove({option, "rign", "--ranks", "2"});
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.error, "'rign'") && contains(outcome.error, "all_reduce ring")) << outcome.error;
  }
}

const std::string kExample = TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched";

TEST(Prove, ProvesSchedulesThatAreWrittenDown) {
  const Outcome outcome = prove({"--file", kExample, "--json"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
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
  const testing::TemporaryFolder folder;
  std::ifstream example(kExample);
  std::string text{std::istreambuf_iterator<char>(example), {}};
  // Rank 3 folds what it should hand out, so rank 1 receives what nobody sends.
  text.replace(text.find("send output[0.0] to 1\n"), 21, "copy scratch = input");
  const std::string unreadable = folder.write("unreadable.sched", text);
  text.replace(text.find("pieces 2"), 8, "pieces 2\nscratch 1");
  text.replace(text.find("scratch = input"), 15, "scratch[0.0] = input[0.0]");
  const std::string wrong = folder.write("wrong.sched", text);
  const Outcome outcome = prove({"--file", wrong, kExample});
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "wrong") && contains(outcome.out, "proven")) << outcome.out;
  EXPECT_TRUE(contains(outcome.error, "rank 3 sends rank 1 1 messages a round, which receives 2")) << outcome.error;

  const Outcome misused = prove({"--file", unreadable, "--file", folder.file("missing"), kExample});
  EXPECT_EQ(misused.exit, 2);
  EXPECT_TRUE(contains(misused.out, "proven")) << misused.out;
  EXPECT_TRUE(contains(misused.error, unreadable + ":49:8: found 'scratch', expected another space")) << misused.error;
  EXPECT_TRUE(contains(misused.error, "missing': No such file or directory")) << misused.error;
}

TEST(Prove, FilesGoWithNoChoiceOfAlgorithms) {
  for (const char* option : {"--ranks=2", "--algorithm=ring", "--all", "--root=0"}) {
    const Outcome outcome = prove({"--file", kExample, option});
    EXPECT_EQ(outcome.exit, 2) << option;
    EXPECT_TRUE(contains(outcome.error, "excludes --file")) << outcome.error;
  }
}

}  // namespace
}  // namespace tutti::cli
