// SPDX-License-Identifier: Apache-2.0
// Whole numbers as options have them: digits and nothing else. Pure; thread-safe.
#pragma once

#include <charconv>
#include <concepts>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace tutti::cli {

// Nothing where the text, but for blanks around it, is no number from `least` to `most`.
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> read_number(std::string_view text, T least = 0, T most = std::numeric_limits<T>::max()) {
  text = trim(text);
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) return std::nullopt;
  return number;
}

}  // namespace tutti::cli
