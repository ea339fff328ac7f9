// SPDX-License-Identifier: Apache-2.0
// Text as RFC 4180 has it: rows of fields with commas between, quoted where they hold one. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::cli {

struct CsvRow {
  std::size_t line = 0;  // on which it begins, from 1
  std::vector<std::string> fields;
};

// Empty lines, and lines that begin with #, are left out. Fields are without blanks around them, unless they are
// quoted.
[[nodiscard]] Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace tutti::cli
