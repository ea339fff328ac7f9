// SPDX-License-Identifier: Apache-2.0
#include "cli/description.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

constexpr std::size_t kTextColumn = 32;

// Characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription made{.group = option.get_group(), .names = {}, .value = {}, .help = option.get_description()};
  made.is_positional = option.get_positional();
  made.is_required = option.get_required();
  made.is_repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  if (made.is_positional) made.names.push_back(option.get_name(true, false));
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  if (option.get_type_size() != 0) made.value = option.get_type_name();
  if (!option.get_default_str().empty()) made.help += fmt::format(" [{}]", option.get_default_str());
  for (const CLI::Option* needed : option.get_needs()) made.help += fmt::format(" (with {})", needed->get_name());
  return made;
}

std::string usage_of(const CommandDescription& command) {
  std::string usage = command.name + " [OPTIONS]";
  for (const OptionDescription& option : command.options) {
    if (!option.is_positional) continue;
    const std::string words = option.names.front() + (option.is_repeated ? "..." : "");
    usage += option.is_required ? " " + words : fmt::format(" [{}]", words);
  }
  return usage;
}

// Before an option outside of quotes, so that the line can be given to a shell as it is.
std::string broken(std::string_view example) {
  constexpr std::size_t kMostOfALine = kHelpWidth - 4;  // the indent, and the backslash
  std::string text;
  while (width_of(example) > kMostOfALine) {
    std::size_t at = 0;
    char quote = 0;
    for (std::size_t i = 0; i + 1 < std::min(example.size(), kMostOfALine); ++i) {
      if (quote == 0 && (example[i] == '\'' || example[i] == '"')) {
        quote = example[i];
      } else if (example[i] == quote) {
        quote = 0;
      } else if (quote == 0 && example[i] == ' ' && example[i + 1] == '-') {
        at = i;
      }
    }
    if (at == 0) break;
    text += fmt::format("{} \\\n      ", example.substr(0, at));
    example.remove_prefix(at + 1);
  }
  return text + std::string(example);
}

}  // namespace

std::string OptionDescription::heading() const {
  std::string text = fmt::format("{}", fmt::join(names, ","));
  if (!value.empty()) text += " " + value;
  return text + (is_repeated && !is_positional ? " ..." : "");
}

CommandDescription describe(const CLI::App& app, std::string_view examples) {
  CommandDescription made{
      .name = app.get_name(), .summary = app.get_description(), .usage = {}, .options = {}, .examples = {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) made.options.push_back(describe_option(*option));
  made.usage = usage_of(made);
  for (const std::string_view line : split(examples, '\n'))
    if (!line.empty()) made.examples.push_back(broken(line));
  return made;
}

std::vector<CommandDescription> describe_all(std::span<const Command> commands) {
  std::vector<CommandDescription> all;
  for (const Command& command : commands) {
    CLI::App app(std::string(command.summary), std::string(command.name));
    app.set_help_flag("-h,--help", "Print this and exit");
    const Run run = command.define(app);  // holds what the options refer to
    all.push_back(describe(app, command.examples));
  }
  return all;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string lines;
  std::size_t used = 0;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t room = width_of(word);
    if (used > 0 && used + 1 + room > width) {
      lines += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) lines += ' ';
    lines += word;
    used += room + (used > 0 ? 1 : 0);
  }
  return lines;
}

std::string help_line(std::string_view heading, std::string_view text) {
  const std::string right = wrapped(text, kTextColumn, kHelpWidth - kTextColumn);
  if (2 + width_of(heading) + 2 <= kTextColumn)
    return fmt::format("  {}{}{}\n", heading, std::string(kTextColumn - 2 - width_of(heading), ' '), right);
  return fmt::format("  {}\n{}{}\n", wrapped(heading, 6, kHelpWidth - 6), std::string(kTextColumn, ' '), right);
}

std::string help_of(const CommandDescription& command, std::string_view program) {
  std::string text = wrapped(command.summary, 0, kHelpWidth);
  text += fmt::format("\nUsage: {} {}\n", program, command.usage);
  std::vector<std::string> groups;
  for (const bool is_positional : {true, false})
    for (const OptionDescription& option : command.options) {
      if (option.is_positional != is_positional) continue;
      const std::string group = is_positional ? "Positionals" : option.group;
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const OptionDescription& option : command.options)
      if (group == (option.is_positional ? "Positionals" : option.group))
        text += help_line(option.heading(), option.help);
  }
  text += "\nExamples:\n";
  for (const std::string& example : command.examples) text += fmt::format("  {}\n", example);
  return text;
}

}  // namespace tutti::cli
