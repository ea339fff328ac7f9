// A peer that goes wrong costs its own cases: each has a row that says how, and the others come out right.
#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"

namespace tutti::peers {
namespace {

using Json = nlohmann::json;

struct Outcome {
  int exit = -1;
  Json rows;
  std::string error;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One group that is told to misbehave, and one that is not.
Outcome run(const std::string& variable, const std::string& value, const std::string& bench = "barrier") {
  const testing::TemporaryFolder folder;
  const std::string command = fmt::format(
      "'{}' run --bench {} --peer null --env {}={},unset --no-store --json --budget 50ms --limit 1s --start-limit 5s "
      ">'{}/out' 2>'{}/error' </dev/null",
      TUTTI_PROGRAM, bench, variable, value, folder.path(), folder.path());
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Json::parse(text_of(folder.path() + "/out"), nullptr, false),
          text_of(folder.path() + "/error")};
}

struct Deed {
  const char* variable;
  const char* value;
  const char* words;  // of the row's note
};

class Misbehaviour : public ::testing::TestWithParam<Deed> {};

TEST_P(Misbehaviour, CostsItsOwnCaseAndIsTold) {
  const Deed& deed = GetParam();
  const Outcome outcome = run(deed.variable, deed.value);
  EXPECT_EQ(outcome.exit, 1) << outcome.error;
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_EQ(outcome.rows[0]["check"], "error") << outcome.rows[0];
  EXPECT_NE(outcome.rows[0]["note"].dump().find(deed.words), std::string::npos) << outcome.rows[0];
  EXPECT_EQ(outcome.rows[1]["check"], "unchecked") << outcome.rows[1];
  EXPECT_TRUE(outcome.rows[1]["time_us"].is_number());
}

INSTANTIATE_TEST_SUITE_P(Each, Misbehaviour,
                         ::testing::Values(Deed{"TUTTI_NULL_CRASH", "1@3", "rank 1 was killed by signal"},
                                           Deed{"TUTTI_NULL_HANG", "1@3", "has not answered within 1s"},
                                           Deed{"TUTTI_NULL_EXIT", "1", "rank 1"},
                                           Deed{"TUTTI_NULL_RANK", "1", "says that it is rank 1"},
                                           Deed{"TUTTI_NULL_TWICE", "1", "rank 1"},
                                           Deed{"TUTTI_NULL_GARBAGE", "1", "no JSON object"},
                                           Deed{"TUTTI_NULL_OVERSIZED", "1", "was announced"},
                                           Deed{"TUTTI_NULL_SILENT", "1", "has not answered within 1s"}),
                         [](const auto& each) { return std::string(each.param.variable).substr(11); });

TEST(NullPeer, AWrongResultIsAWrongRow) {
  const Outcome outcome = run("TUTTI_NULL_WRONG", "1", "all_reduce -a bytes=64");
  ASSERT_TRUE(outcome.rows.is_array() && outcome.rows.size() == 2) << outcome.rows << outcome.error;
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.rows[0]["check"], "wrong");
  EXPECT_NE(outcome.rows[0]["note"].dump().find("expected"), std::string::npos) << outcome.rows[0];
}

TEST(NullPeer, AStrangerIsShownOut) {
  const Outcome outcome = run("TUTTI_NULL_STRANGER", "0");
  EXPECT_EQ(outcome.exit, 0) << outcome.rows << outcome.error;
}

}  // namespace
}  // namespace tutti::peers
