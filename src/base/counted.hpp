// SPDX-License-Identifier: Apache-2.0
// Numbers of things in words: "1 rank", "4 ranks", "2 switches". Pure; thread-safe.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tutti {

// `plural`: what the word has behind it where they are not one.
[[nodiscard]] std::string counted(std::integral auto count, std::string_view what, std::string_view plural = "s") {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : plural);
}

// "1 of 8 cases is wrong", "2 of 8 cases are".
[[nodiscard]] constexpr std::string_view are(std::integral auto count) { return count == 1 ? "is" : "are"; }

}  // namespace tutti
