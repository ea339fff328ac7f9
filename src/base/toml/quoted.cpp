// SPDX-License-Identifier: Apache-2.0
#include "base/toml/quoted.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::document {

std::string quoted(std::string_view text) {
  const std::string shown = first_invalid_utf8(text) == std::string_view::npos ? std::string(text) : printable(text);
  std::string made = "\"";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      made += fmt::format("\\u{:04x}", byte);
    } else {
      made += c;
    }
  }
  return made + "\"";
}

}  // namespace tutti::document
