// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/regret/rule_input.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "cli/tune/regret/shipped_rules.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kAlways = "always:";
constexpr std::string_view kDefaultWay = "default";

// The file's name up to the machine: "vllm_h100" is of vllm.
std::string_view rule_of_file(std::string_view file) { return file.substr(0, file.rfind('_')); }

Result<DecisionTable> table_in(const std::string& file) {
  TUTTI_TRY_ASSIGN(const std::optional<std::string> text, read_file_if_there(file, kMostTableBytes));
  if (!text) {
    const std::vector<std::string> names = names_of_shipped_rules();
    const std::vector<std::string_view> known(names.begin(), names.end());
    return wrong_argument(fmt::format("{} is no file; a rule is a decision table, always:NAME, or one of {}{}",
                                      in_quotes(file), fmt::join(names, ", "), nearest_hint(file, known)));
  }
  TUTTI_TRY_ASSIGN(DecisionTable table, read_table(*text, file));
  if (table.sections.empty()) return wrong_argument(fmt::format("{} has no sections, so it says nothing", file));
  return table;
}

}  // namespace

std::vector<std::string> names_of_shipped_rules() {
  std::vector<std::string> names;
  for (const ShippedRule& rule : shipped_rules())
    if (const std::string_view name = rule_of_file(rule.file);
        std::find(names.begin(), names.end(), name) == names.end())
      names.emplace_back(name);
  return names;
}

Result<tune::Rule> read_rule(const std::string& name) {
  tune::Rule rule{.name = name, .tables = {}, .always = {}};
  if (name.starts_with(kAlways)) {
    const std::string_view way = trim(std::string_view(name).substr(kAlways.size()));
    if (way.empty()) return wrong_argument("always: names no way; write always:NAME, such as always:ring");
    rule.always = same_name(way, kDefaultWay) ? TableWay().to_string() : std::string(way);
    return rule;
  }
  for (const ShippedRule& shipped : shipped_rules()) {
    if (!same_name(rule_of_file(shipped.file), name)) continue;
    TUTTI_TRY_ASSIGN(DecisionTable table, read_table(shipped.text, shipped.file));
    rule.tables.push_back(std::move(table));
  }
  if (!rule.tables.empty()) return rule;
  for (const std::string_view file : split(name, ',')) {
    TUTTI_TRY_ASSIGN(DecisionTable table, table_in(std::string(file)));
    rule.tables.push_back(std::move(table));
  }
  return rule;
}

std::string peer_of(const tune::Rule& rule) {
  if (rule.tables.empty()) return "";
  const std::string peer(rule.tables.front().measured_peer());
  const bool is_one = std::all_of(rule.tables.begin(), rule.tables.end(),
                                  [&](const DecisionTable& table) { return table.measured_peer() == peer; });
  return is_one ? peer : "";
}

}  // namespace tutti::cli
