// SPDX-License-Identifier: Apache-2.0
// `tutti demo`: the built program, kept short.
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace tutti {
namespace {

struct Outcome {
  int exit = -1;
  std::string out;
};

Outcome output_of(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = ::popen(fmt::format("'{}' {}", TUTTI_PROGRAM, arguments).c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> bytes{};
  for (std::size_t got = 0; (got = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;)
    outcome.out.append(bytes.data(), got);
  const int status = ::pclose(pipe);
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Outcome demo(const std::string& arguments) { return output_of("demo " + arguments); }

TEST(Demo, TimesRightAllReducesUpToTheSizeAskedFor) {
  const Outcome outcome = demo("--most 100K --json 2>/dev/null");
  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(rows.is_discarded()) << outcome.out;
  ASSERT_GE(rows.size(), 5U);
  EXPECT_EQ(rows.front()["bytes"], "8");
  EXPECT_EQ(rows.back()["bytes"], "100K");
  for (const nlohmann::json& row : rows) {
    EXPECT_EQ(row["data"], "right");
    EXPECT_GT(row["memcpy_us"].get<double>() + row["all_reduce_us"].get<double>(), 0.0);
  }
}

// Its proven counts are those of `tutti prove` and of the README.
TEST(Demo, CountsProvenAlgorithmsAndCases) {
  const std::string said = demo("--most 8 --json 2>&1 >/dev/null").out;
  const std::string table = output_of("prove --collective all_reduce --num-ranks 1-9 --json 2>/dev/null").out;
  std::size_t algorithms = 0;
  std::size_t cases = 0;
  for (const nlohmann::json& row : nlohmann::json::parse(table)) {
    algorithms += row["cases"] > 0 ? 1 : 0;
    cases += row["cases"].get<std::size_t>();
  }
  const std::string line =
      fmt::format("proven: {} all-reduce algorithms in {} cases on 1 to 9 ranks", algorithms, cases);
  EXPECT_NE(said.find(line), std::string::npos) << line << "\n" << said;
  EXPECT_NE(said.find("left out: swing on 1, 3, 5, 7, 9 ranks: swing needs an even number of ranks"), std::string::npos)
      << said;
  std::ifstream readme(TUTTI_SOURCE_DIR "/README.md");
  const std::string text((std::istreambuf_iterator<char>(readme)), {});
  EXPECT_NE(text.find(line), std::string::npos) << line;
}

TEST(Demo, ASizeThatIsNoneIsMisuse) {
  for (const char* size : {"abc", "0", "4", "10", "2G"}) {
    const Outcome outcome = demo(fmt::format("--most {} 2>&1", size));
    EXPECT_EQ(outcome.exit, 2) << outcome.out;
    EXPECT_NE(outcome.out.find(fmt::format("--most is '{}'", size)), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace tutti
