// SPDX-License-Identifier: Apache-2.0
// A TOML document as a tree in which everything knows its line, and questions to its tables that are answered or
// refused with file, line and key: "my.toml:12: links[3].bandwidth: ...". Values; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace tutti::document {

struct TomlValue;

struct TomlEntry;

struct TomlTable {
  std::vector<TomlEntry> entries;
};

using TomlArray = std::vector<TomlValue>;

// Of a kind that has no use here, such as a date.
struct Useless {};

struct TomlValue {
  std::uint32_t line = 0;
  std::variant<std::string, std::int64_t, double, bool, Useless, TomlArray, TomlTable> value;
};

struct TomlEntry {
  std::string key;
  TomlValue value;
};

// The tables of `text`, or what is wrong with it; `file` stands in messages only.
[[nodiscard]] Result<TomlTable> parse_document(std::string_view text, std::string_view file);

// One table and where it is. Refers to the table and to the name of the file.
class Section {
 public:
  // The whole document.
  Section(const TomlTable& table, std::string_view file) : table_(table), file_(file) {}
  Section(const TomlTable& table, std::string_view file, std::string key, std::uint32_t line)
      : table_(table), file_(file), key_(std::move(key)), line_(line) {}

  // Nothing but these keys is there.
  [[nodiscard]] Status check_keys(std::span<const std::string_view> known) const;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] const TomlValue* find(std::string_view key) const;

  // Into `value` what the key has; where there is no such key, it stays.
  [[nodiscard]] Status read(std::string_view key, std::string& value) const;
  [[nodiscard]] Status read(std::string_view key, bool& value) const;
  [[nodiscard]] Status read(std::string_view key, double& value) const;
  // Up to and including `most`.
  [[nodiscard]] Status read(std::string_view key, std::uint32_t& value, std::uint32_t most) const;

  // The tables of an array of tables, or one table by itself; none where there is no such key.
  [[nodiscard]] Result<std::vector<Section>> sections(std::string_view key) const;
  // One table; nothing where there is no such key.
  [[nodiscard]] Result<std::optional<Section>> section(std::string_view key) const;

  [[nodiscard]] std::uint32_t line() const { return line_; }
  // "my.toml:12: links[3].bandwidth"; without a key, the section itself.
  [[nodiscard]] std::string place_of(std::string_view key = "") const;
  [[nodiscard]] Status wrong(std::string_view key, std::string_view words) const;

 private:
  [[nodiscard]] std::string full_key(std::string_view key) const;
  [[nodiscard]] Status wrong_type(std::string_view key, const TomlValue& value, std::string_view right) const;

  const TomlTable& table_;
  std::string_view file_;
  std::string key_;
  std::uint32_t line_ = 1;
};

// "a text", "a whole number": what the value is.
[[nodiscard]] std::string_view noun_of(const TomlValue& value);

}  // namespace tutti::document
