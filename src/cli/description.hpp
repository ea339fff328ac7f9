// SPDX-License-Identifier: Apache-2.0
// The commands of the program as data, from which --help, the man page and completions are made. Taken from the CLI11
// definitions that read the command line. Values; main thread only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace tutti::cli {

struct OptionDescription {
  std::string group;               // its heading; Options where it has none of its own
  std::vector<std::string> names;  // "-n", "--num-ranks"; of a positional its only one, without hyphens
  std::string value;               // "N", "core|none"; empty for a flag
  std::string help;                // with its default and the option that it needs
  bool is_positional = false;
  bool is_required = false;
  bool is_repeated = false;  // takes any number of values

  [[nodiscard]] bool is_flag() const { return value.empty(); }
  // "-n,--num-ranks N".
  [[nodiscard]] std::string heading() const;
};

struct CommandDescription {
  std::string name;
  std::string summary;
  std::string usage;  // behind the program's name
  std::vector<OptionDescription> options;
  std::vector<std::string> examples;  // those that are too long are broken with backslashes
};

[[nodiscard]] CommandDescription describe(const CLI::App& app, std::string_view examples);
[[nodiscard]] std::vector<CommandDescription> describe_all(std::span<const Command> commands);

// Lines of at most so many characters, each but the first behind `indent` spaces; broken at spaces only.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

// What --help shows of a command, no line wider than kHelpWidth.
inline constexpr std::size_t kHelpWidth = 100;
[[nodiscard]] std::string help_of(const CommandDescription& command, std::string_view program);
// A name or heading, and what it means beside it or below.
[[nodiscard]] std::string help_line(std::string_view heading, std::string_view text);

}  // namespace tutti::cli
