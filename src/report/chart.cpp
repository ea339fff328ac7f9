// SPDX-License-Identifier: Apache-2.0
#include "report/chart.hpp"

#include <algorithm>

#include "report/drawing.hpp"

namespace tutti::report {

namespace {

// Room for a title that is no longer than most.
constexpr double kLeastWidth = 560;
constexpr double kBelow = 10;

}  // namespace

std::string to_svg(const LineChart& lines, const BarChart& bars) {
  const Extent of_lines = extent_of(lines);
  const Extent of_bars = extent_of(bars);
  const double width = std::max({of_lines.width, of_bars.width, kLeastWidth});
  Picture picture;
  double top = height_of_head(lines.remark, width);
  draw(picture, lines, top);
  top += of_lines.height;
  draw(picture, bars, top);
  return picture.with_head(lines.title, lines.remark, width, top + of_bars.height + kBelow);
}

std::string to_svg(const LineChart& chart) { return to_svg(chart, BarChart{}); }

std::string to_svg(const BarChart& chart) {
  return to_svg(LineChart{.title = chart.title, .remark = chart.remark, .x_name = "", .panels = {}}, chart);
}

}  // namespace tutti::report
