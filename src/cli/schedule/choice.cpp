// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/choice.hpp"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

using Rows = std::vector<const Algorithm*>;

// Each once, in the order of the table.
template <typename Name>
std::vector<std::string_view> names_of(const Rows& rows, Name name) {
  std::vector<std::string_view> names;
  for (const Algorithm* row : rows)
    if (std::find(names.begin(), names.end(), name(*row)) == names.end()) names.push_back(name(*row));
  return names;
}

std::vector<std::string_view> collectives_of(const Rows& rows) {
  return names_of(rows, [](const Algorithm& row) { return name_of(row.collective); });
}

std::vector<std::string_view> algorithms_of(const Rows& rows) {
  return names_of(rows, [](const Algorithm& row) { return row.name; });
}

Status unknown(std::string words) { return {Code::invalid_argument, std::move(words)}; }

// There is no such algorithm of the collective; `rows` are those that there are, and `named` of other collectives.
Status unknown_algorithm(const ChoiceOptions& options, const Rows& rows, const Rows& named) {
  const std::string name = in_quotes(options.algorithm);
  if (options.collective.empty()) {
    return unknown(fmt::format("--algorithm: there is no algorithm {}{} ('tutti algorithms' lists all)", name,
                               nearest_hint(options.algorithm, algorithms_of(rows))));
  }
  const std::string others =
      named.empty() ? "" : fmt::format("; {} is one for {}", name, fmt::join(collectives_of(named), ", "));
  return unknown(fmt::format("--algorithm: there is no algorithm {} for {}; there are: {}{}", name,
                             name_of(rows.front()->collective), fmt::join(algorithms_of(rows), ", "), others));
}

// None of the rows takes every parameter that is asked for.
Status not_taken(const Rows& rows, const CaseFilter& filter) {
  if (rows.size() == 1) {
    const Algorithm& row = *rows.front();
    const std::string inner = filter.inner ? fmt::format(" with {} between groups", printable(*filter.inner)) : "";
    const std::string parameters = parameters_of(row);
    return unknown(fmt::format("--{}: {} {}{} takes none; its parameters: {}", parameter_not_taken(row, filter),
                               name_of(row.collective), row.name, row.takes.groups ? inner : "",
                               parameters.empty() ? "none" : parameters));
  }
  std::vector<std::string_view> asked;
  const auto add = [&](bool is_asked, std::string_view option) {
    if (is_asked) asked.push_back(option);
  };
  add(filter.root.has_value(), "--root");
  add(filter.radix.has_value(), "--radix");
  add(filter.grid.has_value(), "--grid");
  add(filter.groups.has_value(), "--groups");
  add(filter.inner.has_value(), "--inner");
  add(filter.corner.has_value(), "--corner");
  return unknown(fmt::format("{}: none of the {} algorithms that are chosen takes {}", fmt::join(asked, ", "),
                             rows.size(), asked.size() == 1 ? "it" : "these together"));
}

}  // namespace

void add_choice_options(CLI::App& app, ChoiceOptions& options) {
  // An empty one is a variable of the shell's that was not set, and not a wish for all of them.
  const auto is_named = [](const std::string& name) { return name.empty() ? std::string("is empty") : std::string(); };
  app.add_option("--algorithm", options.algorithm, "Only this algorithm")->type_name("ALGORITHM")->check(is_named);
  app.add_option("--collective", options.collective, "Only this collective")->type_name("COLLECTIVE")->check(is_named);
}

Result<Rows> chosen(const ChoiceOptions& options, const CaseFilter& filter) {
  const std::span<const Algorithm* const> all = all_algorithms();
  const auto is_of_collective = [&](const Algorithm* row) {
    return options.collective.empty() || same_name(options.collective, name_of(row->collective));
  };
  const auto is_named = [&](const Algorithm* row) {
    return options.algorithm.empty() || same_name(options.algorithm, row->name);
  };
  const auto those = [](const auto& rows, auto test) {
    Rows kept;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), test);
    return kept;
  };
  const Rows of_collective = those(all, is_of_collective);
  if (of_collective.empty()) {
    return unknown(fmt::format("--collective: there is no collective {}; there are: {}", in_quotes(options.collective),
                               fmt::join(collectives_of({all.begin(), all.end()}), ", ")));
  }
  const Rows named = those(of_collective, is_named);
  if (named.empty()) return unknown_algorithm(options, of_collective, those(all, is_named));
  const Rows rows = those(named, [&](const Algorithm* row) { return parameter_not_taken(*row, filter).empty(); });
  if (!rows.empty()) return rows;
  return not_taken(named, filter);
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
