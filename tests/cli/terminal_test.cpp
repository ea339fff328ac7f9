// SPDX-License-Identifier: Apache-2.0
// When text for people has tones, and how wide it is; and where `tutti compare` writes them.
#include "cli/terminal.hpp"

#include <array>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/program.hpp"
#include "peers/collectives.hpp"
#include "peers/simulated/simulated_peer.hpp"

namespace tutti::cli {
namespace {

TEST(TerminalTest, TonesAreForTerminalsThatWantThem) {
  EXPECT_TRUE(style_of_terminal(80, {}).has_tones);
  EXPECT_TRUE(style_of_terminal(80, {{"NO_COLOR", ""}, {"TERM", "xterm"}}).has_tones);
  EXPECT_FALSE(style_of_terminal(80, {{"NO_COLOR", "0"}}).has_tones);
  EXPECT_FALSE(style_of_terminal(80, {{"TERM", "dumb"}}).has_tones);
  EXPECT_TRUE(style_of_terminal(80, {{"TERM", "dumb"}}).is_terminal);
  EXPECT_FALSE(style_of_terminal({}, {}).has_tones);
  EXPECT_FALSE(style_of_terminal({}, {}).is_terminal);
}

TEST(TerminalTest, LinesAreNoLongerThanATerminalIsWideNorThanIsRead) {
  EXPECT_EQ(style_of_terminal(80, {}).width, 80U);
  EXPECT_EQ(style_of_terminal(300, {}).width, 100U);
  EXPECT_EQ(style_of_terminal(0, {}).width, 100U) << "it does not say";
  EXPECT_EQ(style_of_terminal({}, {}).width, 100U);
}

// Fabrics only.
BenchWorld world_of_fabrics(const Environment& environment) {
  BenchWorld world;
  world.benches = peers::collective_benches(nullptr);
  world.peers = {{.name = "simulate", .package = "", .wants = "FABRIC"}};
  world.default_peers = "simulate";
  world.look_for = [](const std::string&) -> Result<std::string> { return std::string("virtual time"); };
  world.program_of = [&environment](std::string_view name) {
    harness::PeerProgram program{.name = std::string(name), .program = {}, .launcher = harness::Launcher::local};
    program.reckoner = *simulated::simulated_peer(name.substr(name.find(':') + 1), environment);
    return program;
  };
  return world;
}

class CompareOnATerminal : public ::testing::Test {
 protected:
  // Two fabrics side by side, which take no time.
  std::string compare(const std::vector<std::string>& more, const TextStyle& style) {
    std::ostringstream out;
    std::ostringstream error;
    const Environment environment;
    const BenchWorld world = world_of_fabrics(environment);
    std::vector<std::string> arguments = {"compare", "--no-store", "--peer", "simulate:switch:4,simulate:ring_1d:4",
                                          "-a",      "bytes=1K"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Context context{environment, out, error, arguments};
    context.out_style = style;
    const std::array commands{compare_command(world)};
    EXPECT_EQ(run_program(commands, arguments, context), Exit::done) << error.str();
    return out.str();
  }

  TextStyle terminal_ = style_of_terminal(100, {});
};

TEST_F(CompareOnATerminal, ShowsTonesThereAndNowhereElse) {
  EXPECT_NE(compare({}, terminal_).find("\x1b[1m"), std::string::npos);
  EXPECT_EQ(compare({}, style_of_terminal({}, {})).find('\x1b'), std::string::npos);
  const test::TemporaryFolder folder;
  EXPECT_EQ(compare({"-o", folder.file("table")}, terminal_), "");
  EXPECT_EQ(folder.read("table"), compare({}, {}));
}

TEST_F(CompareOnATerminal, WideHasTheColumnsThatOtherFormatsHave) {
  const std::string wide = compare({"--wide"}, terminal_);
  EXPECT_NE(wide.find("simulate:ring_1d:4_verdict"), std::string::npos) << wide;
  EXPECT_EQ(compare({}, terminal_).find("_verdict"), std::string::npos);
  const std::string csv = compare({"--format", "csv"}, terminal_);
  EXPECT_TRUE(csv.starts_with("bench,ranks,bytes,")) << csv;
  EXPECT_EQ(csv, compare({"--format", "csv", "--wide"}, {}));
  EXPECT_NE(compare({"--format", "md"}, terminal_).find("| simulate:ring_1d:4_ratio_low |"), std::string::npos);
  EXPECT_NE(compare({"--by", "bytes", "--wide"}, terminal_).find("mean_percent"), std::string::npos);
  EXPECT_NE(compare({"--by", "bytes"}, terminal_).find(" is "), std::string::npos);
}

}  // namespace
}  // namespace tutti::cli
