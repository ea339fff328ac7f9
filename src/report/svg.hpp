// SPDX-License-Identifier: Apache-2.0
// What pictures share. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace tutti::report {

// As text or an attribute of an SVG picture.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return result;
}

}  // namespace tutti::report
