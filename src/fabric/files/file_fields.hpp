// SPDX-License-Identifier: Apache-2.0
// The fields of a table of figures (fields.hpp) as keys of a file. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/toml/document.hpp"
#include "fabric/files/fields.hpp"

namespace tutti::fabric {

// The names of the fields behind those that are there.
template <typename Fields>
[[nodiscard]] std::vector<std::string_view> with_names(std::vector<std::string_view> keys, const Fields& fields) {
  for (const auto& field : fields) keys.push_back(field.name);
  return keys;
}

// The one rule: what has a unit is a text with it, and what is counted is a whole number.
template <typename Owner>
[[nodiscard]] Status read_field(const document::Section& section, const Field<Owner>& field, Owner& owner) {
  const document::TomlValue* value = section.find(field.name);
  if (value == nullptr) return {};
  const auto* text = std::get_if<std::string>(&value->value);
  const auto* number = std::get_if<std::int64_t>(&value->value);
  const bool is_counted = field.unit == Unit::count;
  if (is_counted ? number == nullptr : text == nullptr)
    return section.wrong(
        field.name, fmt::format("this is {}{}; write {}", document::noun_of(*value),
                                number != nullptr && !is_counted ? " without a unit" : "", example_of(field.unit)));
  const Status status = set(field, is_counted ? std::to_string(*number) : *text, owner);
  return status.ok() ? status : section.wrong(field.name, status.message());
}

template <typename Owner, std::size_t count>
[[nodiscard]] Status read_fields(const document::Section& section, const std::array<Field<Owner>, count>& fields,
                                 Owner& owner) {
  for (const Field<Owner>& field : fields) TUTTI_TRY(read_field(section, field, owner));
  return {};
}

}  // namespace tutti::fabric
