// SPDX-License-Identifier: Apache-2.0
// Transcripts of small simulations, in golden/*.txt: words that reckon them by hand, the command, and what it tells,
// event by event. With TUTTI_REWRITE_GOLDEN=1 the files are written anew; read the difference before it is kept.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../cli/calling.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"

namespace tutti::simulate {
namespace {

constexpr std::string_view kPrompt = "$ tutti ";
constexpr std::string_view kRemark = "#";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string output_of(std::string_view words) {
  const std::array commands{cli::simulate_command()};
  std::vector<std::string> arguments;
  for (const std::string_view word : split(words, ' ')) arguments.emplace_back(word);
  const cli::Outcome outcome = cli::call(commands, arguments);
  EXPECT_EQ(outcome.exit, cli::Exit::done) << outcome.error;
  return outcome.out;
}

// The same remarks and commands with what the commands tell now.
std::string told_anew(const std::string& text) {
  std::string anew;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_command = line.starts_with(kPrompt);
    if (is_command || line.starts_with(kRemark)) anew += line + "\n";
    if (is_command) anew += output_of(std::string_view(line).substr(kPrompt.size()));
  }
  return anew;
}

TEST(Golden, TranscriptsAreAsTheyWere) {
  const bool rewrites = std::getenv("TUTTI_REWRITE_GOLDEN") != nullptr;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/tests/simulate/golden")) {
    const std::string kept = text_of(entry.path());
    EXPECT_NE(kept.find(kPrompt), std::string::npos) << entry.path() << " has no command";
    const std::string now = told_anew(kept);
    if (rewrites) std::ofstream(entry.path()) << now;
    EXPECT_EQ(kept, now) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace tutti::simulate
