// SPDX-License-Identifier: Apache-2.0
// Lists as people write them on a command line: values with commas between, of which each may stand in double quotes.
// Between quotes, \" is a quote and \\ a backslash; any other backslash is itself. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::harness {

// More values than anybody means; a list or an array that has more is an error.
inline constexpr std::size_t kMostValues = 65536;

struct ListItem {
  std::string text;  // what stands between the quotes where there are some, else trimmed
  bool quoted = false;

  friend bool operator==(const ListItem&, const ListItem&) = default;
};

// "" has one empty item, as it has for split(). A quote counts where it begins an item; one that is not closed, and
// text behind a closed one, are errors.
[[nodiscard]] Result<std::vector<ListItem>> split_list(std::string_view text);

// What stands between the quotes; null where the text is not all one quoted string.
[[nodiscard]] std::optional<std::string> without_quotes(std::string_view text);

// without_quotes() reads it back to the same text.
[[nodiscard]] std::string with_quotes(std::string_view text);

}  // namespace tutti::harness
