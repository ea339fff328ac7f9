// SPDX-License-Identifier: Apache-2.0
// Text as a TOML string, whatever bytes it has. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/text.hpp"

namespace tutti::document {

// Control characters and what is no UTF-8 are shown as printable() shows them.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

}  // namespace tutti::document
