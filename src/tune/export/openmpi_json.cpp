// SPDX-License-Identifier: Apache-2.0
// The JSON form of Open MPI's rules, from release 6 on. Algorithms are written as numbers, since Open MPI ignores rules
// whose names it does not know, and has renamed some.
#include <fmt/format.h>

#include "base/text.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/openmpi_rules.hpp"

namespace tutti::tune {

namespace {

using document::TomlArray;
using document::TomlTable;
using document::TomlValue;

// Objects of arrays of objects, with the line of what is wrong.
class RulesJson {
 public:
  explicit RulesJson(std::string_view place) : place_(printable(place)) {}

  [[nodiscard]] Status wrong(const TomlValue& at, std::string_view words) const {
    return wrong_argument(fmt::format("{}:{}: {}", place_, at.line, words));
  }

  static const TomlValue* find(const TomlTable& object, std::string_view key) {
    for (const document::TomlEntry& entry : object.entries)
      if (entry.key == key) return &entry.value;
    return nullptr;
  }

  // "inf" is no bound; where there is no such key, `value` stays.
  [[nodiscard]] Status read_bound(const TomlTable& object, std::string_view key, std::uint64_t& value) const {
    const TomlValue* const found = find(object, key);
    if (found == nullptr) return {};
    if (const auto* const text = std::get_if<std::string>(&found->value); text != nullptr && same_name(*text, "inf")) {
      value = kNoEnd;
      return {};
    }
    const auto* const number = std::get_if<std::int64_t>(&found->value);
    if (number == nullptr || *number < 0)
      return wrong(*found, fmt::format("{} is neither a number from 0 on nor \"inf\"", key));
    value = static_cast<std::uint64_t>(*number);
    return {};
  }

  [[nodiscard]] Status read_parameter(const TomlTable& object, std::string_view key, std::uint32_t& value) const {
    std::uint64_t number = value;
    TUTTI_TRY(read_bound(object, key, number));
    if (number > ~std::uint32_t{0}) return wrong(*find(object, key), fmt::format("{} is too great", key));
    value = static_cast<std::uint32_t>(number);
    return {};
  }

  [[nodiscard]] Result<OpenMpiMessageRule> read_message(const TomlValue& value) const {
    const auto* const object = std::get_if<TomlTable>(&value.value);
    if (object == nullptr) return wrong(value, "a rule is no object");
    OpenMpiMessageRule rule;
    TUTTI_TRY(read_bound(*object, "msg_size_min", rule.least_bytes));
    TUTTI_TRY(read_bound(*object, "msg_size_max", rule.most_bytes));
    TUTTI_TRY(read_parameter(*object, "faninout", rule.choice.fan_out));
    TUTTI_TRY(read_parameter(*object, "seg_size", rule.choice.segment_bytes));
    if (find(*object, "reqs") != nullptr) {
      std::uint32_t requests = 0;
      TUTTI_TRY(read_parameter(*object, "reqs", requests));
      rule.choice.most_requests = requests;
    }
    const TomlValue* const algorithm = find(*object, "alg");
    if (algorithm == nullptr) return wrong(value, "alg is missing: a name or number");
    if (const auto* const name = std::get_if<std::string>(&algorithm->value)) {
      rule.choice.name = *name;
    } else {
      TUTTI_TRY(read_parameter(*object, "alg", rule.choice.algorithm));
    }
    return rule;
  }

  [[nodiscard]] Result<OpenMpiCommunicatorRule> read_communicator(const TomlValue& value) const {
    const auto* const object = std::get_if<TomlTable>(&value.value);
    if (object == nullptr) return wrong(value, "a communicator's rules are no object");
    OpenMpiCommunicatorRule rule;
    TUTTI_TRY(read_bound(*object, "comm_size_min", rule.least_ranks));
    TUTTI_TRY(read_bound(*object, "comm_size_max", rule.most_ranks));
    const TomlValue* const rules = find(*object, "rules");
    const auto* const array = rules == nullptr ? nullptr : std::get_if<TomlArray>(&rules->value);
    if (array == nullptr) return wrong(value, "rules is missing: an array of rules for messages");
    for (const TomlValue& each : *array) {
      TUTTI_TRY_ASSIGN(OpenMpiMessageRule message, read_message(each));
      rule.messages.push_back(std::move(message));
    }
    return rule;
  }

 private:
  std::string place_;
};

TomlValue json_number(std::uint64_t number) { return {.line = 0, .value = static_cast<std::int64_t>(number)}; }

TomlTable object_of(const OpenMpiMessageRule& message) {
  TomlTable object;
  const OpenMpiChoice& choice = message.choice;
  object.entries.push_back({"msg_size_min", json_number(message.least_bytes)});
  if (message.most_bytes != kNoEnd) object.entries.push_back({"msg_size_max", json_number(message.most_bytes)});
  if (choice.name.empty()) {
    object.entries.push_back({"alg", json_number(choice.algorithm)});
  } else {
    object.entries.push_back({"alg", {.line = 0, .value = choice.name}});
  }
  object.entries.push_back({"faninout", json_number(choice.fan_out)});
  object.entries.push_back({"seg_size", json_number(choice.segment_bytes)});
  if (choice.most_requests) object.entries.push_back({"reqs", json_number(*choice.most_requests)});
  return object;
}

// Nothing where it has nothing but Open MPI's own choice, which is what no rule says.
std::optional<TomlTable> object_of(const OpenMpiCommunicatorRule& communicator) {
  TomlArray rules;
  for (const OpenMpiMessageRule& message : communicator.messages)
    if (!message.choice.is_own()) rules.push_back({.line = 0, .value = object_of(message)});
  if (rules.empty()) return std::nullopt;
  TomlTable object;
  object.entries.push_back({"comm_size_min", json_number(communicator.least_ranks)});
  if (communicator.most_ranks != kNoEnd)
    object.entries.push_back({"comm_size_max", json_number(communicator.most_ranks)});
  object.entries.push_back({"rules", {.line = 0, .value = std::move(rules)}});
  return object;
}

}  // namespace

Result<OpenMpiRules> read_openmpi_json(std::string_view text, std::string_view place) {
  TUTTI_TRY_ASSIGN(const TomlTable root, parse_json(text, place));
  const RulesJson json(place);
  const TomlValue* const collectives = RulesJson::find(root, "collectives");
  const auto* const object = collectives == nullptr ? nullptr : std::get_if<TomlTable>(&collectives->value);
  if (object == nullptr)
    return wrong_argument(fmt::format("{}:1: collectives is missing: an object", printable(place)));
  OpenMpiRules rules;
  rules.has_bounds = true;
  for (const auto& [word, value] : object->entries) {
    const std::optional<std::uint32_t> number = openmpi_number_of(word);
    if (!number) return json.wrong(value, fmt::format("{} is no collective", in_quotes(word)));
    const auto* const array = std::get_if<TomlArray>(&value.value);
    if (array == nullptr) return json.wrong(value, "a collective's rules are no array");
    OpenMpiCollectiveRules collective{.number = *number, .communicators = {}};
    for (const TomlValue& each : *array) {
      TUTTI_TRY_ASSIGN(OpenMpiCommunicatorRule rule, json.read_communicator(each));
      collective.communicators.push_back(std::move(rule));
    }
    rules.collectives.push_back(std::move(collective));
  }
  return rules;
}

std::string write_openmpi_json(const OpenMpiRules& rules) {
  TomlTable collectives;
  for (const OpenMpiCollectiveRules& collective : rules.collectives) {
    TomlArray communicators;
    for (const OpenMpiCommunicatorRule& communicator : collective.communicators)
      if (std::optional<TomlTable> object = object_of(communicator))
        communicators.push_back({.line = 0, .value = std::move(*object)});
    collectives.entries.push_back(
        {std::string(openmpi_word_of(collective.number)), {.line = 0, .value = std::move(communicators)}});
  }
  TomlTable root;
  root.entries.push_back({"rule_file_version", json_number(3)});
  root.entries.push_back({"module", {.line = 0, .value = std::string("tuned")}});
  root.entries.push_back({"collectives", {.line = 0, .value = std::move(collectives)}});
  return write_json(root);
}

}  // namespace tutti::tune
