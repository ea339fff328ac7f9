// SPDX-License-Identifier: Apache-2.0
// Which lines of a chart have their own style, and which style. Pure; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "report/picture.hpp"

namespace tutti::report {

// The style of each name of a panel; none for those that are drawn thin and grey.
using StylesOfLines = std::map<std::string, std::optional<Style>>;

// The names of a panel's lines, each once, in their order.
[[nodiscard]] std::vector<std::string> names_of(const LinePanel& panel);

// For each panel. A name keeps its style from panel to panel, as far as no two of a panel would have the same.
[[nodiscard]] std::vector<StylesOfLines> styles_of(const std::vector<LinePanel>& panels);

[[nodiscard]] bool is_drawn(const LinePanel& panel, const Point& point);

}  // namespace tutti::report
