// Numbers of things in words: "1 rank", "4 ranks", "2 switches". Pure; thread-safe.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tutti::cli {

[[nodiscard]] std::string counted(std::integral auto count, std::string_view what, std::string_view plural = "s") {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : plural);
}

}  // namespace tutti::cli
