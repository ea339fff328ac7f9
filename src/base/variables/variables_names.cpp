// SPDX-License-Identifier: Apache-2.0
// Which names are variables, and which they may have been meant for.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/variables/bench_variables.hpp"
#include "base/variables/variables.hpp"

namespace tutti {

const VariableRow* find_variable(std::string_view name) {
  for (const VariableRow& row : kVariables) {
    if (same_name(row.name, name)) return &row;
    for (const std::string_view alias : row.aliases) {
      if (!alias.empty() && same_name(alias, name)) return &row;
    }
  }
  return nullptr;
}

std::string_view nearest_variable(std::string_view name) {
  // All names share this prefix, so it does not tell which one is meant.
  const bool has_prefix = same_name(name.substr(0, kVariablePrefix.size()), kVariablePrefix);
  const auto rest_of = [&](std::string_view each) {
    return has_prefix && each.starts_with(kVariablePrefix) ? each.substr(kVariablePrefix.size()) : each;
  };
  std::vector<std::string_view> rests;
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view each) {
    names.push_back(each);
    rests.push_back(rest_of(each));
  };
  for (const VariableRow& row : kVariables) add(row.name);
  for (const BenchVariable& each : kBenchVariables) add(each.name);
  const std::string_view nearest = nearest_name(rest_of(name), rests);
  if (nearest.empty()) return nearest;
  return names[static_cast<std::size_t>(std::find(rests.begin(), rests.end(), nearest) - rests.begin())];
}

std::string allowed_text(const BenchVariable& variable) {
  return variable.choices.empty() ? std::string(variable.allowed)
                                  : fmt::format("{}", fmt::join(variable.choices, ", "));
}

const BenchVariable* find_bench_variable(std::string_view name) {
  const auto found = std::find_if(kBenchVariables.begin(), kBenchVariables.end(),
                                  [&](const BenchVariable& each) { return same_name(each.name, name); });
  return found == kBenchVariables.end() ? nullptr : &*found;
}

std::string no_such_variable(std::string_view name, std::string_view where) {
  const std::string_view nearest = nearest_variable(name);
  return fmt::format("{} ({}) is not a variable of Tutti{}", printable(name), where,
                     nearest.empty() ? "" : fmt::format("; the nearest is {}", nearest));
}

std::string unknown_variable(std::string_view name, std::string_view where) {
  const auto has_name = [&](const auto& known) { return known.name == name; };
  const bool is_known = !name.starts_with(kVariablePrefix) ||
                        std::any_of(kVariables.begin(), kVariables.end(), has_name) ||
                        std::any_of(kBenchVariables.begin(), kBenchVariables.end(), has_name);
  return is_known ? std::string() : no_such_variable(name, where);
}

Status check_variable(std::string_view name, std::string_view value) {
  for (const VariableRow& row : kVariables)
    if (row.name == name) return parse_variable(row, value).status().with_context(std::string(name));
  for (const BenchVariable& each : kBenchVariables) {
    const auto is_it = [&](std::string_view choice) { return same_name(choice, value); };
    if (each.name == name && !each.choices.empty() && std::none_of(each.choices.begin(), each.choices.end(), is_it))
      return {Code::invalid_argument,
              fmt::format("{}: {} is not one of the choices; allowed: {}", name, in_quotes(value), allowed_text(each))};
  }
  return {};
}

}  // namespace tutti
