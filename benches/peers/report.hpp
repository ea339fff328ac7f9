// SPDX-License-Identifier: Apache-2.0
// How figures are shown: a table, CSV or JSON; and what they make of a bar. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benches/peers/score.hpp"

namespace tutti::bars {

// Null where the format is none of table, csv and json.
using Show = std::string (*)(const std::vector<Figure>& figures);
[[nodiscard]] Show show_as(std::string_view format);

// Whether a bar is met by its figures, and a line that says so: "bar 1: met", "bar 1: missed (2 of 15: ...)". One of
// which nothing was measured is missed.
struct Conclusion {
  bool is_met = false;
  std::string text;
};
[[nodiscard]] Conclusion conclude(int bar, const std::vector<Figure>& figures);

}  // namespace tutti::bars
