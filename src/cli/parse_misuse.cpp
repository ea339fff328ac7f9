// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_misuse.hpp"

#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

// CLI11 names the option at the beginning of its message, and before these words.
std::string_view name_before(std::string_view text, std::string_view words) { return text.substr(0, text.find(words)); }
std::string_view name_behind(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + words.size());
}

std::string type_of(const CLI::Option& option) {
  return option.get_type_name().empty() ? "value" : option.get_type_name();
}

// "'f32' and 'f16'", "'1', '2' and '3'".
std::string in_words(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t each = 0; each < values.size(); ++each)
    text += (each == 0 ? "" : each + 1 == values.size() ? " and " : ", ") + in_quotes(values[each]);
  return text;
}

std::string missing(const CLI::Option& option) {
  if (!option.get_positional()) return fmt::format("{} {} must be given", option.get_name(), type_of(option));
  return fmt::format("{} must be given: {}", type_of(option), option.get_description());
}

std::string wrong_number_of_values(const CLI::Option& option) {
  const std::vector<std::string>& values = option.results();
  if (option.get_expected_max() > 0 && values.size() > 1)
    return fmt::format("{} is given {}, with {}; give it once", option.get_name(), counted(values.size(), "time"),
                       in_words(values));
  return fmt::format("{} has no value; write {} {}", option.get_name(), option.get_name(), type_of(option));
}

std::string not_converted(const CLI::Option& option, std::string_view value) {
  if (option.get_expected_max() == 0)
    return fmt::format("{} takes no value, and has {}", option.get_name(), in_quotes(value));
  return fmt::format("{} is {}; it takes {}", option.get_name(), in_quotes(value), type_of(option));
}

}  // namespace

std::string misuse_in_words(const CLI::App& command, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  const auto option = [&](std::string_view name) { return command.get_option_no_throw(std::string(name)); };
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return fmt::format("{} and {} exclude each other; give one of them", name_before(text, " excludes "),
                       name_behind(text, " excludes "));
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    return fmt::format("{} is only for use with {}; give both or neither", name_before(text, " requires "),
                       name_behind(text, " requires "));
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    if (const CLI::Option* of = option(name_before(text, " is required"))) return missing(*of);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    if (const CLI::Option* of = option(name_before(text, ": "))) return wrong_number_of_values(*of);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    constexpr std::string_view kBeginning = "Could not convert: ";
    const std::string_view rest = name_behind(text, kBeginning);
    if (const CLI::Option* of = option(name_before(rest, " = "))) return not_converted(*of, name_behind(rest, " = "));
  }
  return std::string(text);
}

CLI::Option* not_empty(CLI::Option* option) {
  return option->check([](const std::string& text) { return std::string(text.empty() ? "'' says nothing" : ""); });
}

}  // namespace tutti::cli
