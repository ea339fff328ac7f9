// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/sweep_file.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "cli/other_names.hpp"

namespace tutti::cli {

namespace {

struct Word {
  std::string_view key;
  std::string SweepOptions::*option;
};
constexpr std::array<Word, 16> kWords = {{{"bench", &SweepOptions::bench},
                                          {"peer", &SweepOptions::peers},
                                          {"sync", &SweepOptions::sync},
                                          {"budget", &SweepOptions::budget},
                                          {"precision", &SweepOptions::precision},
                                          {"least_samples", &SweepOptions::least_samples},
                                          {"launches", &SweepOptions::launches},
                                          {"launcher", &SweepOptions::launcher},
                                          {"bind", &SweepOptions::bind},
                                          {"timeout", &SweepOptions::timeout},
                                          {"start_timeout", &SweepOptions::start_timeout},
                                          {"seed", &SweepOptions::seed},
                                          {"read", &SweepOptions::read},
                                          {"time", &SweepOptions::time},
                                          {"name", &SweepOptions::name},
                                          {"keep_output", &SweepOptions::keep_output}}};

struct List {
  std::string_view key;
  std::vector<std::string> SweepOptions::*option;
};
constexpr std::array<List, 5> kLists = {{{"align", &SweepOptions::align},
                                         {"axes", &SweepOptions::axes},
                                         {"skip", &SweepOptions::skips},
                                         {"env", &SweepOptions::env},
                                         {"env_zip", &SweepOptions::env_zip}}};

// The words of a program: those of the command line come in their place, not behind them.
constexpr std::string_view kCommand = "command";

Status wrong(const std::string& path, const toml::node& node, std::string words) {
  return {Code::invalid_argument, fmt::format("{}:{}: {}", path, node.source().begin.line, words)};
}

std::string_view example_of(std::string_view key) { return key == kCommand ? "\"./program\"" : "\"NAME=VALUES\""; }

// A text, or a whole number in its place.
std::optional<std::string> word_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  return std::nullopt;
}

Status read_list(const std::string& path, std::string_view key, const toml::node& node,
                 std::vector<std::string>& option) {
  const toml::array* array = node.as_array();
  if (array == nullptr)
    return wrong(path, node, fmt::format("{} is no array of texts such as {}", key, example_of(key)));
  std::vector<std::string> texts;
  for (const toml::node& each : *array) {
    const auto text = each.value_exact<std::string>();
    if (!text) return wrong(path, each, fmt::format("{} has what is no text such as {}", key, example_of(key)));
    texts.push_back(*text);
  }
  // What the command line says comes behind, and so counts.
  option.insert(option.begin(), texts.begin(), texts.end());
  return {};
}

Status read_entry(const std::string& path, std::string_view key, const toml::node& node, SweepOptions& options) {
  static const SweepOptions defaults;
  for (const Word& word : kWords) {
    if (word.key != key && !same_name(word.key, other_name(key))) continue;
    const std::optional<std::string> text = word_of(node);
    if (!text) return wrong(path, node, fmt::format("{} is neither a text nor a whole number", key));
    if (options.*word.option == defaults.*word.option) options.*word.option = *text;
    return {};
  }
  for (const List& list : kLists)
    if (list.key == key) return read_list(path, key, node, options.*list.option);
  if (key == kCommand) {
    std::vector<std::string> words;
    TUTTI_TRY(read_list(path, key, node, words));
    if (options.command.empty()) options.command = std::move(words);
    return {};
  }
  std::string known;
  for (const Word& word : kWords) known += fmt::format("{}{}", known.empty() ? "" : ", ", word.key);
  for (const List& list : kLists) known += fmt::format(", {}", list.key);
  known += fmt::format(", {}", kCommand);
  return wrong(path, node, fmt::format("{} is not known; there are: {}", in_quotes(key), known));
}

}  // namespace

Status read_sweep_file(const std::string& path, SweepOptions& options) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text.ok()) return text.status();
  try {
    const toml::table table = toml::parse(*text, path);
    for (const auto& [key, node] : table) TUTTI_TRY(read_entry(path, key.str(), node, options));
  } catch (const toml::parse_error& error) {
    return {Code::invalid_argument, fmt::format("{}:{}:{}: {}", path, error.source().begin.line,
                                                error.source().begin.column, printable(error.description()))};
  }
  return {};
}

}  // namespace tutti::cli
