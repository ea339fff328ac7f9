// SPDX-License-Identifier: Apache-2.0
// What a sweep really starts, counted where processes begin: a script in the null peer's place notes each start.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/program.hpp"
#include "peers/collectives.hpp"

namespace tutti::peers {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** each = environ; *each != nullptr; ++each) entries.emplace_back(*each);
  return entries;
}

class Starts : public ::testing::Test {
 protected:
  struct Start {
    std::string group;  // the id that all workers of one start of a group have
    std::string rank;
    std::string settings;  // of the two variables
  };

  // The program's own command in this process, with the script as its only peer.
  cli::Exit tutti(const std::string& words) {
    std::vector<std::string> arguments;
    for (const std::string_view word : split(words, ' ')) arguments.emplace_back(word);
    const Environment environment = Environment::of_this_process();
    cli::BenchWorld world;
    world.benches = collective_benches(nullptr);
    world.peers = {{.name = "null", .package = ""}};
    world.default_peers = "null";
    world.look_for = [](const std::string&) { return Result<std::string>("here"); };
    world.program_of = [this](std::string_view name) {
      return harness::PeerProgram{.name = std::string(name), .program = {folder_.file("worker")}};
    };
    const std::vector<cli::Command> commands = {cli::run_command(world), cli::show_command(world)};
    std::ofstream error(folder_.file("error"));
    std::ostringstream out;
    const cli::Exit exit = cli::run_program(commands, arguments, {environment, out, error, arguments});
    out_ = out.str();
    return exit;
  }
  [[nodiscard]] std::string error() const { return folder_.read("error"); }

  // Runs the sweep; the environment of who runs it is as before.
  std::vector<Start> starts_of(const std::string& sweep, const std::string& announced) {
    const std::string script = fmt::format(
        "#!/bin/sh\n"
        "exec 3>>'{}'\n"
        "grep -q '^{}, ' '{}' || echo unannounced 0 none >&3\n"
        "echo \"$BENCH_WORKER $BENCH_RANK ${{TUTTI_NULL_WORK-unset}},${{TUTTI_NULL_FACTOR-unset}}\" >&3\n"
        "exec '{}' 3>&-\n",
        folder_.file("starts"), announced, folder_.file("error"), PEER_NULL);
    ::chmod(folder_.write("worker", script).c_str(), 0700);
    const std::vector<std::string> before = own_environment();
    EXPECT_EQ(tutti(fmt::format(
                  "run all_reduce -a bytes=8:256 --budget 1ms --least-samples 1 --sync meeting --json --store {} {}",
                  folder_.file("store"), sweep)),
              cli::Exit::done)
        << error() << out_;
    EXPECT_EQ(own_environment(), before);
    std::vector<Start> starts;
    std::ifstream noted(folder_.file("starts"));
    for (Start start; noted >> start.group >> start.rank >> start.settings;) starts.push_back(start);
    return starts;
  }

  static std::size_t num_groups(const std::vector<Start>& starts) {
    std::set<std::string> groups;
    for (const Start& start : starts) groups.insert(start.group);
    EXPECT_FALSE(groups.contains("unannounced")) << "something was started before it was announced";
    return groups.size();
  }

  test::TemporaryFolder folder_;
  std::string out_;
};

// 3 values x 3 values x (1 and 2 ranks), and all six sizes in each start.
TEST_F(Starts, AreOneOfEachGroupWhateverItsCases) {
  const std::vector<Start> starts = starts_of(
      "-a num_ranks=1,2 --env TUTTI_NULL_WORK=1us,2us,unset --env TUTTI_NULL_FACTOR=1,2,unset", "18 groups, 108 cases");
  EXPECT_EQ(starts.size(), 27U);
  EXPECT_EQ(num_groups(starts), 18U);
  std::set<std::string> settings;
  for (const Start& start : starts) settings.insert(start.settings);
  EXPECT_EQ(settings.size(), 9U);
  for (const std::string& each : settings) {
    const auto of_it = std::count_if(starts.begin(), starts.end(),
                                     [&](const Start& start) { return start.settings == each && start.rank == "0"; });
    EXPECT_EQ(of_it, 2) << each << " was not started once with each number of ranks";
  }

  // In two columns of variables a third of all rows is unset, which JSON has null for.
  using Words = std::vector<std::string>;
  const Words unset = {"unset"};
  for (const auto& [format, words] :
       {std::pair("table", unset), std::pair("csv", unset), std::pair("md", unset),
        std::pair("json", Words{"\"TUTTI_NULL_WORK\": null", "\"TUTTI_NULL_FACTOR\": null"})}) {
    ASSERT_EQ(tutti(fmt::format("show --store {} --format {}", folder_.file("store"), format)), cli::Exit::done)
        << error();
    std::size_t num_unset = 0;
    for (const std::string& each : words)
      for (std::size_t at = 0; (at = out_.find(each, at)) != std::string::npos; ++at) ++num_unset;
    EXPECT_EQ(num_unset, 2U * 36U) << format << "\n" << out_;
  }
}

TEST_F(Starts, OfZippedVariablesAreOneOfEachPair) {
  const std::vector<Start> starts =
      starts_of("-a num_ranks=2 --env-zip TUTTI_NULL_WORK,TUTTI_NULL_FACTOR=[[\"1us\",1],[\"2us\",unset],[unset,3]]",
                "3 groups, 18 cases");
  EXPECT_EQ(starts.size(), 6U);
  EXPECT_EQ(num_groups(starts), 3U);
}

}  // namespace
}  // namespace tutti::peers
