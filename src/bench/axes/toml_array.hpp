// SPDX-License-Identifier: Apache-2.0
// Arrays as TOML 1.0 writes them, as values of our own. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace tutti::harness {

// The bare word unset, which is not TOML.
struct BareUnset {
  friend bool operator==(const BareUnset&, const BareUnset&) = default;
};

struct TomlValue;
using TomlArray = std::vector<TomlValue>;

// What an array may hold here; numbers are finite.
struct TomlValue {
  std::variant<std::string, std::int64_t, double, bool, TomlArray, BareUnset> value;

  friend bool operator==(const TomlValue&, const TomlValue&) = default;
};

enum class UnsetWord : std::uint8_t { refused, allowed };

// "[8, 0.5, true, \"a,b\", [1, 2]]": the whole text is one array, with nothing but blanks and comments around it. Where
// the word unset is allowed, it may stand wherever a value may. Tables, dates and more than kMostValues values are
// errors.
[[nodiscard]] Result<TomlArray> parse_toml_array(std::string_view text, UnsetWord unset = UnsetWord::refused);

}  // namespace tutti::harness
