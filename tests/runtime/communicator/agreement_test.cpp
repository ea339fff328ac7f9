// SPDX-License-Identifier: Apache-2.0
// Everything that ranks must agree on before they have a communicator: for each of it, two ranks that differ are both
// told what differs, and how.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../ranks.hpp"
#include "base/log.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/settings.hpp"

namespace tutti {
namespace {

struct Line {
  std::string name;
  std::string value;
};

std::vector<Line> agreement_lines() {
  std::vector<Line> lines;
  std::string text = Settings::from(Variables()).agreement(Variables());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t equals = text.find('=');
    lines.push_back({text.substr(0, equals), text.substr(equals + 1, end - equals - 1)});
    text.erase(0, end + 1);
  }
  return lines;
}

// Another value that the variable takes.
std::string other_value(const VariableRow& row, const std::string& usual) {
  if (row.id == VariableId::profile) return "generic";
  for (const std::string_view choice : row.choices)
    if (choice != usual) return std::string(choice);
  return row.type == VariableType::bytes ? "64K" : "8";
}

// What each rank says that joins with that variable.
std::vector<std::string> join_with(const std::string& name, const std::vector<std::string>& values) {
  const auto server = test::start_server();
  const auto outcomes = test::on_threads(static_cast<int>(values.size()), [&](int rank) {
    const Environment environment({{name, values[static_cast<std::size_t>(rank)]}});
    const Variables variables = std::move(Variables::load(environment, {}).value());
    const std::unique_ptr<Log> log = std::move(Log::create(Variables(), LogWriter::of_this_process()).value());
    return Communicator::join(server->id(), static_cast<int>(values.size()), rank, nullptr, variables, *log)
        .status()
        .to_string();
  });
  std::vector<std::string> words;
  words.reserve(outcomes.size());
  for (const auto& each : outcomes) words.push_back(*each);
  return words;
}

TEST(Agreement, EveryVariableThatMattersIsCompared) {
  const test::TemporaryFolder folder;
  int compared = 0;
  for (const Line& line : agreement_lines()) {
    if (line.name == kVersionLine) continue;
    SCOPED_TRACE(line.name);
    const auto row = std::find_if(kVariables.begin(), kVariables.end(),
                                  [&](const VariableRow& each) { return each.name == line.name; });
    ASSERT_NE(row, kVariables.end());
    const std::string usual(row->initial);
    const bool is_table = row->id == VariableId::table;
    const std::string other = is_table ? folder.write("any.toml", "version = 1\n[machine]\nfingerprint = \"any\"\n")
                                       : other_value(*row, usual);
    const bool has_digest = row->id == VariableId::profile || is_table;
    const std::string last = is_table ? "none" : has_digest ? "amd_epyc" : line.value.empty() ? "1M" : line.value;
    const std::vector<std::string> words = join_with(line.name, {other, other, last});
    for (const std::string& each : words) {
      EXPECT_EQ(each, words.front());
      EXPECT_NE(each.find(fmt::format("all ranks must be configured alike: {} is {} {}", line.name, other,
                                      has_digest ? "(digest " : "on rank ")),
                std::string::npos)
          << each;
      EXPECT_TRUE(each.ends_with(" on rank 2")) << each;
    }
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(Agreement, AnotherVersionIsToldToAll) {
  const auto server = test::start_server();
  const std::string usual = Settings::from(Variables()).agreement(Variables());
  const Line version = agreement_lines().front();
  ASSERT_EQ(version.name, kVersionLine);
  const auto outcomes = test::on_threads(3, [&](int rank) {
    JoinRequest request = test::request_of(server->id(), rank, 3);
    request.configuration = usual;
    if (rank == 2) request.configuration.replace(usual.find('=') + 1, version.value.size(), "7.8.9");
    return join(request, test::patient()).status().to_string();
  });
  for (const auto& words : outcomes) {
    EXPECT_NE(words->find(fmt::format("Tutti's version is {} on rank ", version.value)), std::string::npos) << *words;
    EXPECT_NE(words->find("and 7.8.9 on rank 2"), std::string::npos) << *words;
  }
}

}  // namespace
}  // namespace tutti
