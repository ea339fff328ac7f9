#include "cli/choice.hpp"

#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

void add_choice_options(CLI::App& app, ChoiceOptions& options) {
  app.add_option("--algorithm", options.algorithm, "This algorithm only")->type_name("NAME");
  app.add_option("--collective", options.collective, "This collective only")->type_name("NAME");
}

std::vector<const Algorithm*> chosen(const ChoiceOptions& options, std::string_view command, const Context& context) {
  std::vector<const Algorithm*> rows;
  std::string known;
  for (const Algorithm* algorithm : all_algorithms()) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", name_of(algorithm->collective), algorithm->name);
    if (!options.algorithm.empty() && !same_name(options.algorithm, algorithm->name)) continue;
    if (!options.collective.empty() && !same_name(options.collective, name_of(algorithm->collective))) continue;
    rows.push_back(algorithm);
  }
  if (rows.empty()) {
    context.error << fmt::format("tutti {}: there is no algorithm {} for {}; there are: {}\n", command,
                                 options.algorithm.empty() ? "at all" : in_quotes(options.algorithm),
                                 options.collective.empty() ? "any collective" : in_quotes(options.collective), known);
  }
  return rows;
}

std::string parameters_of(const Algorithm& algorithm) {
  std::string text;
  const auto add_word = [&](bool is_there, std::string_view word) {
    if (is_there) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  };
  add_word(facts_of(algorithm.collective).has_root, "root");
  add_word(algorithm.takes.radix, "radix");
  add_word(algorithm.takes.grid, "grid");
  add_word(algorithm.takes.corner, "corner");
  add_word(algorithm.takes.groups, "groups, inner");
  return text;
}

}  // namespace tutti::cli
