// SPDX-License-Identifier: Apache-2.0
// benches/peers as a whole, beside a script in tutti's place whose figures are known.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"

namespace tutti::bars {
namespace {

// Knows the barrier alone. MPICH is the fastest when the best is chosen; beside it Tutti is $1 times as fast.
constexpr const char* kTutti = R"(#!/bin/sh
echo "$*" >>'{0}/asked'
case "$*" in
  "list peers"*) echo '[{{"peer":"tutti","here":true}},{{"peer":"openmpi","here":true}},
                       {{"peer":"mpich","here":true}},{{"peer":"gloo","here":false}}]' ;;
  "run --bench barrier"*)
    echo '[{{"peer":"openmpi","algorithm":"default","time_us":3,"check":"unchecked"}},
          {{"peer":"mpich","algorithm":"default","time_us":2,"check":"unchecked"}},
          {{"peer":"gloo","algorithm":"default","time_us":1,"check":"wrong"}}]' ;;
  "compare --bench barrier"*)
    echo '[{{"mpich_us":2.0,"tutti_us":1.0,"tutti_ratio":{1},"tutti_interval":"1.9-2.2","check":"unchecked"}}]' ;;
  *) exit 1 ;;
esac
)";

struct Outcome {
  int exit;
  std::string out;
  std::string error;
};

class PeersBench : public ::testing::Test {
 protected:
  std::string tutti(double ratio) {
    std::string path = folder_.write("tutti", fmt::format(kTutti, folder_.path(), ratio));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  Outcome run(const std::string& arguments) {
    const int status = std::system(
        fmt::format("'{}' {} >'{}' 2>'{}'", PEERS_PROGRAM, arguments, folder_.file("out"), folder_.file("error"))
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of("out"), text_of("error")};
  }
  std::string text_of(const std::string& name) {
    std::ifstream file(folder_.file(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
};

TEST_F(PeersBench, TheBestIsChosenInOneRunAndScoredInAnother) {
  const Outcome outcome = run(fmt::format("4 --collective barrier --format json --tutti '{}'", tutti(2.0)));
  const auto rows = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_EQ(rows.size(), 4U) << outcome.out << outcome.error;
  EXPECT_EQ(rows[0]["beside"], "mpich default");
  EXPECT_EQ(rows[0]["us"], 1.0);
  EXPECT_EQ(rows[0]["its_us"], 2.0);
  EXPECT_EQ(rows[0]["value"], 2.0);
  EXPECT_EQ(rows[0]["low"], 1.9);
  EXPECT_EQ(rows[1]["what"], "geometric mean");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_NE(outcome.error.find("bar 4: met\n"), std::string::npos) << outcome.error;
  EXPECT_NE(text_of("asked").find("compare --bench barrier --peer mpich,tutti"), std::string::npos);
  EXPECT_EQ(text_of("asked").find("compare --bench barrier --peer openmpi"), std::string::npos);
}

TEST_F(PeersBench, AMissedBarIsSaidAndIsTheExitStatus) {
  const Outcome outcome = run(fmt::format("4 --collective barrier --tutti '{}'", tutti(1.2)));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_NE(outcome.out.find("bar 4: missed (2 of 4: barrier 2 ranks geometric mean 1.2, must be >= 1.5; "),
            std::string::npos)
      << outcome.out;
}

TEST_F(PeersBench, WhatCannotBeMeasuredIsMissed) {
  const std::string program = tutti(2.0);
  for (const char* bars : {"1", "2", "3", "4 --collective barrier,reduce", "5"}) {
    const Outcome outcome = run(fmt::format("{} --quick --tutti '{}'", bars, program));
    EXPECT_EQ(outcome.exit, 1) << bars;
    EXPECT_NE(outcome.out.find("not measured"), std::string::npos) << outcome.out;
  }
}

TEST_F(PeersBench, MistakesAreToldBeforeAnythingStarts) {
  const std::string program = tutti(2.0);
  for (const char* wrong : {"6", "one", "--collective all_reduce", "--format xml", "--bar 1", "-o /nowhere/x"}) {
    const Outcome outcome = run(fmt::format("{} --tutti '{}'", wrong, program));
    EXPECT_EQ(outcome.exit, 2) << wrong;
    EXPECT_FALSE(outcome.error.empty()) << wrong;
  }
  EXPECT_EQ(text_of("asked"), "");
  EXPECT_EQ(run("5 --tutti /nowhere/tutti").exit, 2);
  EXPECT_EQ(run("1 --tutti /bin/true").exit, 2);
  EXPECT_EQ(run("--help").exit, 0);
}

}  // namespace
}  // namespace tutti::bars
