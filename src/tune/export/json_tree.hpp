// SPDX-License-Identifier: Apache-2.0
// JSON as a tree in which everything knows its line, so that readers of formats can name it; objects keep the order of
// their keys, which some formats give a meaning. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/toml/document.hpp"

namespace tutti::tune {

inline constexpr std::uint64_t kMostJsonBytes = std::uint64_t{16} << 20U;

// The object that the text is. Null is document::Useless; a key that is there twice is an error, and so is what is
// nested very deeply.
[[nodiscard]] Result<document::TomlTable> parse_json(std::string_view text, std::string_view place);

// A line for each entry of an object, but an object or array of no more than `inline_width` characters on one.
[[nodiscard]] std::string write_json(const document::TomlTable& object, std::size_t inline_width = 96);

}  // namespace tutti::tune
