// SPDX-License-Identifier: Apache-2.0
// What a text means for a row of the table, and back.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/variables/variables.hpp"

namespace tutti {

namespace {

Status not_allowed(const VariableRow& row, std::string_view what) {
  return {Code::invalid_argument, fmt::format("{}; allowed: {}", what, allowed_text(row))};
}

std::string ranged_text(const VariableRow& row, std::int64_t number) {
  if (row.type == VariableType::bytes) return to_text(Bytes(static_cast<std::uint64_t>(number)));
  if (row.type == VariableType::duration) return to_text(Nanos(number));
  return fmt::format("{}", number);
}

Result<std::int64_t> parse_ranged(const VariableRow& row, std::string_view text) {
  if (row.type == VariableType::bytes) {
    TUTTI_TRY_ASSIGN(const Bytes bytes, parse_bytes(text));
    return static_cast<std::int64_t>(bytes.value());
  }
  if (row.type == VariableType::duration) {
    TUTTI_TRY_ASSIGN(const Nanos nanos, parse_duration(text));
    return nanos.value();
  }
  return parse_integer(text);
}

VariableValue ranged_value(const VariableRow& row, std::int64_t number) {
  if (row.type == VariableType::bytes) return Bytes(static_cast<std::uint64_t>(number));
  if (row.type == VariableType::duration) return Nanos(number);
  return number;
}

Result<VariableValue> parse_number(const VariableRow& row, std::string_view text) {
  const Result<std::int64_t> plain = parse_integer(text);
  if (row.automatic && (same_name(text, kAutomaticWord) || (plain.ok() && *plain == kAutomatic)))
    return VariableValue();
  if (row.unlimited && plain.ok() && *plain == kNoLimit) return VariableValue(Bytes(kAnyBytes));
  const Result<std::int64_t> number = parse_ranged(row, text);
  if (!number.ok()) return not_allowed(row, number.status().message());
  if (*number < row.range.low || *number > row.range.high) {
    return not_allowed(row, in_quotes(text) + " is out of range");
  }
  return ranged_value(row, *number);
}

Result<VariableValue> parse_boolean(const VariableRow& row, std::string_view text) {
  for (const std::string_view word : {"1", "true", "yes", "on"}) {
    if (same_name(text, word)) return VariableValue(true);
  }
  for (const std::string_view word : {"0", "false", "no", "off"}) {
    if (same_name(text, word)) return VariableValue(false);
  }
  return not_allowed(row, in_quotes(text) + " is neither yes nor no");
}

const std::string_view* find_choice(const VariableRow& row, std::string_view text) {
  const auto same = [&](std::string_view choice) { return same_name(choice, text); };
  const auto found = std::find_if(row.choices.begin(), row.choices.end(), same);
  return found == row.choices.end() ? nullptr : &*found;
}

Result<VariableValue> parse_choice(const VariableRow& row, std::string_view text) {
  if (!row.prefix.empty() && text.starts_with(row.prefix)) {
    if (text.size() == row.prefix.size()) return not_allowed(row, in_quotes(text) + " has nothing behind it");
    return VariableValue(std::string(text));
  }
  const std::size_t open = row.takes_parameters ? text.find('(') : std::string_view::npos;
  const std::string_view* choice = find_choice(row, text.substr(0, open));
  if (choice == nullptr) return not_allowed(row, in_quotes(text) + " is not one of the choices");
  if (open != std::string_view::npos) return VariableValue(std::string(text));
  return VariableValue(VariableChoice{static_cast<std::size_t>(choice - row.choices.data())});
}

Result<VariableValue> parse_list(const VariableRow& row, std::string_view text) {
  VariableList list;
  list.inverted = text.starts_with('^');
  if (list.inverted) text.remove_prefix(1);
  for (const std::string_view word : split(text, ',')) {
    const std::string_view* choice = find_choice(row, word);
    if (word.empty() || (choice == nullptr && !row.choices.empty())) {
      return not_allowed(row, in_quotes(word) + " is not one of the choices");
    }
    list.words.emplace_back(choice != nullptr ? *choice : word);
  }
  return VariableValue(std::move(list));
}

}  // namespace

bool VariableList::contains(std::string_view word) const {
  const auto takes = [&](std::string_view other) { return same_name(other, word) || same_name(other, "all"); };
  return std::any_of(words.begin(), words.end(), takes) != inverted;
}

Result<VariableValue> parse_variable(const VariableRow& row, std::string_view given) {
  if (row.type == VariableType::text) return VariableValue(std::string(given));
  const std::string_view text = trim(given);
  if (text.empty()) return not_allowed(row, "it is set to nothing; unset it for the default");
  switch (row.type) {
    case VariableType::boolean: return parse_boolean(row, text);
    case VariableType::choice: return parse_choice(row, text);
    case VariableType::list: return parse_list(row, text);
    default: return parse_number(row, text);
  }
}

std::string to_text(const VariableRow& row, const VariableValue& value) {
  struct Writer {
    const VariableRow& of;
    std::string operator()(std::monostate) const { return std::string(of.automatic ? kAutomaticWord : ""); }
    std::string operator()(bool flag) const { return flag ? "1" : "0"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(Bytes bytes) const {
      return of.unlimited && bytes.value() == kAnyBytes ? fmt::format("{}", kNoLimit) : to_text(bytes);
    }
    std::string operator()(Nanos nanos) const { return to_text(nanos); }
    std::string operator()(VariableChoice choice) const { return std::string(of.choices[choice.index]); }
    std::string operator()(const VariableList& list) const {
      return fmt::format("{}{}", list.inverted ? "^" : "", fmt::join(list.words, ","));
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{row}, value);
}

std::string allowed_text(const VariableRow& row) {
  switch (row.type) {
    case VariableType::boolean: return "0 or 1";
    case VariableType::text: return "any text";
    case VariableType::choice:
      return fmt::format("{}{}{}{}", fmt::join(row.choices, ", "), row.prefix.empty() ? "" : ", ", row.prefix,
                         row.behind);
    case VariableType::list:
      if (row.choices.empty()) return "a list with commas";
      return fmt::format("a list of {}", fmt::join(row.choices, ", "));
    default: break;
  }
  const std::string front = fmt::format("{}{}", row.automatic ? fmt::format("auto or {}, ", kAutomatic) : "",
                                        row.unlimited ? fmt::format("{} (any size), ", kNoLimit) : "");
  if (row.range.high == VariableRange::kUnbounded)
    return fmt::format("{}{} or more", front, ranged_text(row, row.range.low));
  return fmt::format("{}{} to {}", front, ranged_text(row, row.range.low), ranged_text(row, row.range.high));
}

std::string_view name_of(VariableType type) {
  switch (type) {
    case VariableType::boolean: return "boolean";
    case VariableType::integer: return "integer";
    case VariableType::bytes: return "bytes";
    case VariableType::duration: return "duration";
    case VariableType::choice: return "choice";
    case VariableType::list: return "list";
    case VariableType::text: return "text";
  }
  return "unknown type";
}

std::string_view name_of(VariableGroup group) {
  switch (group) {
    case VariableGroup::diagnosis: return "diagnosis";
    case VariableGroup::tuning: return "tuning";
    case VariableGroup::waiting: return "waiting";
    case VariableGroup::launch: return "launch";
  }
  return "unknown group";
}

}  // namespace tutti
