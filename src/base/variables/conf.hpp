// SPDX-License-Identifier: Apache-2.0
// tutti.conf: lines of NAME = value. docs/formats/conf.md is its specification; what names and values mean is the
// business of base/variables. Pure functions but for read_conf; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti {

inline constexpr int kConfVersion = 1;
inline constexpr std::size_t kConfGreatestBytes = 1U << 20;

struct ConfLine {
  std::string name;
  std::string value;
  int number = 0;  // of the line, from 1

  bool operator==(const ConfLine&) const = default;
};

struct ConfContents {
  std::vector<ConfLine> lines;      // in the order of the file, each name once
  std::vector<std::string> errors;  // all of them, each with path and line
};

// The path only serves the messages. A line that is wrong is left out; the others stand.
[[nodiscard]] ConfContents parse_conf(std::string_view text, std::string_view path);

// The text of the file; nothing where there is no such file; an error where there is one that cannot be read, is not a
// file, or is larger than kConfGreatestBytes.
[[nodiscard]] Result<std::optional<std::string>> read_conf(const std::string& path);

}  // namespace tutti
