// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/environment_axis.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/axes/list_text.hpp"
#include "bench/axes/toml_array.hpp"
#include "bench/axes/value.hpp"
#include "bench/process/launcher_variables.hpp"

namespace tutti::harness {

namespace {

using EnvironmentPoint = std::vector<std::optional<std::string>>;

constexpr std::string_view kUnsetWord = "unset";

// What differs between --env and --env-zip in messages.
constexpr std::string_view kEnvForm = "write NAME=a,b,unset or PEER:NAME=a,b";
constexpr std::string_view kZipForm = "write A,B=[[1,2],[3,4]] or PEER:A,B=[[1,2],[3,4]]";

Status wrong(std::string_view text, std::string_view why, std::string_view right) {
  return {Code::invalid_argument, fmt::format("{}: {}; {}", in_quotes(text), why, right)};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_variable_name(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_peer_name(std::string_view name) {
  if (name.empty()) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; });
}

// Also of what stands in the place of variables that are unset.
bool is_padding(std::string_view name) {
  if (!name.starts_with(kPaddingVariable)) return false;
  const std::string_view rest = name.substr(kPaddingVariable.size());
  return rest.empty() || (rest.front() == '_' && std::all_of(rest.begin() + 1, rest.end(), is_digit));
}

// An axis without points, and what stands behind the equals sign.
struct Head {
  EnvironmentAxis axis;
  std::string_view values;
};

Result<Head> parse_head(std::string_view text, std::string_view right) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong(text, "it has no =", right);
  Head head;
  head.values = trim(text.substr(equals + 1));
  std::string_view names = text.substr(0, equals);
  if (const std::size_t colon = names.find(':'); colon != std::string_view::npos) {
    head.axis.peer = trim(names.substr(0, colon));
    if (!is_peer_name(head.axis.peer)) {
      return wrong(text, fmt::format("{} before the colon is not the name of a peer", in_quotes(head.axis.peer)),
                   right);
    }
    names.remove_prefix(colon + 1);
  }
  for (const std::string_view name : split(names, ',')) {
    if (!is_variable_name(name)) {
      return wrong(
          text,
          fmt::format("{} is not the name of a variable (letters, digits and _, no digit first)", in_quotes(name)),
          right);
    }
    if (is_padding(name)) {
      return wrong(text, fmt::format("{} is the padding that keeps the environment's size constant", name),
                   "sweep another variable");
    }
    if (std::find(head.axis.names.begin(), head.axis.names.end(), name) != head.axis.names.end()) {
      return wrong(text, fmt::format("{} is named twice", name), right);
    }
    head.axis.names.emplace_back(name);
  }
  return head;
}

// An array in the place of a value is an error, as is a zero byte: the environment ends a value there.
Result<std::optional<std::string>> value_from(const TomlValue& item, std::string_view text, std::string_view right) {
  if (std::holds_alternative<BareUnset>(item.value)) return std::optional<std::string>();
  if (const auto* number = std::get_if<std::int64_t>(&item.value)) return std::optional(Value(*number).text());
  if (const auto* number = std::get_if<double>(&item.value)) return std::optional(Value(*number).text());
  if (const auto* truth = std::get_if<bool>(&item.value)) return std::optional<std::string>(*truth ? "true" : "false");
  const auto* value = std::get_if<std::string>(&item.value);
  if (value == nullptr) return wrong(text, "an array stands where a value is due", right);
  if (value->find('\0') != std::string::npos) {
    return wrong(text, fmt::format("the value {} has a zero byte in it, which no variable can hold", in_quotes(*value)),
                 right);
  }
  return std::optional(*value);
}

Result<EnvironmentPoint> point_from(const TomlArray& array, std::string_view text, std::string_view right) {
  EnvironmentPoint point;
  for (const TomlValue& item : array) {
    Result<std::optional<std::string>> value = value_from(item, text, right);
    if (!value.ok()) return value.status();
    point.push_back(*std::move(value));
  }
  return point;
}

// The settled environment of a child, by name.
struct Variables {
  std::map<std::string, std::string, std::less<>> values;
  std::size_t unset = 0;  // how many variables are named and not there
};

Variables changed(const std::vector<std::string>& inherited, const std::vector<Setting>& settings) {
  Variables variables;
  for (const std::string& entry : inherited) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = entry.substr(0, equals);
    // Where a name stands twice the first counts, as it does for getenv.
    if (!is_padding(name) && !is_of_a_launch(name)) variables.values.emplace(name, entry.substr(equals + 1));
  }
  std::map<std::string_view, const Setting*> last;
  for (const Setting& setting : settings) last[setting.name] = &setting;
  for (const auto& [name, setting] : last) {
    if (is_padding(name)) continue;
    if (setting->value) {
      variables.values.insert_or_assign(setting->name, *setting->value);
    } else {
      variables.values.erase(setting->name);
      const std::string in_its_place = fmt::format("{}_{}", kPaddingVariable, variables.unset++);
      variables.values.emplace(in_its_place, "");
    }
  }
  variables.values.emplace(kPaddingVariable, "");
  return variables;
}

std::size_t size_of(const Variables& variables) {
  std::size_t size = 0;
  for (const auto& [name, value] : variables.values) size += name.size() + value.size() + 2;  // the sign and the zero
  return size;
}

}  // namespace

Result<EnvironmentAxis> parse_env(std::string_view text) {
  Result<Head> head = parse_head(text, kEnvForm);
  if (!head.ok()) return head.status();
  EnvironmentAxis axis = std::move(head->axis);
  if (axis.names.size() != 1) {
    return wrong(text, "it names several variables", "write --env for each, or --env-zip A,B=[[1,2],[3,4]] for pairs");
  }
  if (text.find('\0') != std::string_view::npos) return wrong(text, "it has a zero byte in it", kEnvForm);

  if (head->values.starts_with('[')) {
    const Result<TomlArray> array = parse_toml_array(head->values, UnsetWord::allowed);
    if (!array.ok()) return array.status().with_context(fmt::format("cannot read the values of {}", axis.names[0]));
    const Result<EnvironmentPoint> values = point_from(*array, text, "write a list of values, or pairs with --env-zip");
    if (!values.ok()) return values.status();
    if (values->empty()) return wrong(text, "the array is empty", kEnvForm);
    for (const std::optional<std::string>& value : *values) axis.points.push_back({value});
    return axis;
  }
  const Result<std::vector<ListItem>> items = split_list(head->values);
  if (!items.ok()) return items.status().with_context(fmt::format("cannot read the values of {}", axis.names[0]));
  for (const ListItem& item : *items) {
    const bool unset = !item.quoted && item.text == kUnsetWord;
    axis.points.push_back({unset ? std::nullopt : std::optional(item.text)});
  }
  return axis;
}

Result<EnvironmentAxis> parse_env_zip(std::string_view text) {
  Result<Head> head = parse_head(text, kZipForm);
  if (!head.ok()) return head.status();
  EnvironmentAxis axis = std::move(head->axis);
  if (!head->values.starts_with('[')) return wrong(text, "no [ follows the =", kZipForm);
  const Result<TomlArray> rows = parse_toml_array(head->values, UnsetWord::allowed);
  if (!rows.ok()) {
    return rows.status().with_context(fmt::format("cannot read the values of {}", fmt::join(axis.names, ", ")));
  }
  if (rows->empty()) return wrong(text, "the array is empty", kZipForm);
  for (const TomlValue& row : *rows) {
    const auto* values = std::get_if<TomlArray>(&row.value);
    const std::size_t number = axis.points.size() + 1;
    if (values == nullptr) {
      return wrong(text, fmt::format("element {} of the array is not an array itself", number), kZipForm);
    }
    if (values->size() != axis.names.size()) {
      return wrong(
          text,
          fmt::format("element {} of the array has {} values for {} names", number, values->size(), axis.names.size()),
          kZipForm);
    }
    Result<EnvironmentPoint> point = point_from(*values, text, kZipForm);
    if (!point.ok()) return point.status();
    axis.points.push_back(*std::move(point));
  }
  return axis;
}

std::string shown(const std::optional<std::string>& value) {
  if (!value) return std::string(kUnsetWord);
  return value->empty() || *value == kUnsetWord || value->starts_with('"') ? with_quotes(*value) : *value;
}

std::vector<std::string> environment_block(const std::vector<std::string>& inherited,
                                           const std::vector<Setting>& settings, std::size_t size) {
  Variables variables = changed(inherited, settings);
  const std::size_t least = size_of(variables);
  if (size > least) variables.values.find(kPaddingVariable)->second.assign(size - least, '.');
  std::vector<std::string> block;
  for (const auto& [name, value] : variables.values) block.push_back(fmt::format("{}={}", name, value));
  return block;
}

std::size_t size_of_block(const std::vector<std::string>& inherited, const std::vector<Setting>& settings) {
  return size_of(changed(inherited, settings));
}

}  // namespace tutti::harness
