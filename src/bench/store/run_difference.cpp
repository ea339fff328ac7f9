// SPDX-License-Identifier: Apache-2.0
#include "bench/store/run_difference.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tutti::harness {

namespace {

constexpr std::string_view kNotSet = "not set";

// The values of each variable and axis in a run's rows, as people read them.
using ValuesByName = std::map<std::string, std::set<std::string>>;

ValuesByName values_of(const std::vector<Row>& rows) {
  ValuesByName values;
  std::map<std::string, std::size_t> counts;
  const auto add = [&](const std::string& name, const std::string& value) {
    values[name].insert(value);
    ++counts[name];
  };
  for (const Row& row : rows) {
    for (const Setting& setting : row.settings) add(setting.name, shown(setting.value));
    for (const auto& [name, value] : row.point.values) add(name, value.text());
  }
  for (auto& [name, of_name] : values)
    if (counts[name] < rows.size()) of_name.insert(std::string(kNotSet));
  return values;
}

bool has(const Row& row, std::string_view name) {
  const auto is_it = [&](const Setting& setting) { return setting.name == name; };
  return row.point.find(name) != nullptr || std::any_of(row.settings.begin(), row.settings.end(), is_it);
}

}  // namespace

std::vector<RunDifference> differences_of(const std::vector<Row>& first, const std::vector<Row>& second) {
  // A run without rows says nothing of what it would have had.
  if (first.empty() || second.empty()) return {};
  ValuesByName of_first = values_of(first);
  ValuesByName of_second = values_of(second);
  const std::set<std::string> nothing = {std::string(kNotSet)};
  for (const auto& [name, values] : of_first) of_second.try_emplace(name, nothing);
  for (const auto& [name, values] : of_second) of_first.try_emplace(name, nothing);
  std::vector<RunDifference> differences;
  for (const auto& [name, values] : of_first) {
    const std::set<std::string>& others = of_second.at(name);
    if (values.size() == 1 && others.size() == 1 && values != others)
      differences.push_back({name, *values.begin(), *others.begin()});
  }
  return differences;
}

bool have_variable_or_axis(const std::vector<Row>& rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return has(row, name); });
}

Result<std::vector<Row>> without(const std::vector<Row>& rows, std::string_view name) {
  std::vector<Row> stripped = rows;
  std::set<std::string> keys;
  for (Row& row : stripped) {
    std::erase_if(row.settings, [&](const Setting& setting) { return setting.name == name; });
    std::erase_if(row.point.values, [&](const auto& value) { return value.first == name; });
    if (!keys.insert(key_of(row)).second)
      return Status(Code::invalid_argument,
                    fmt::format("it has several values of {}, and a comparison needs exactly one", name));
  }
  return stripped;
}

}  // namespace tutti::harness
