// SPDX-License-Identifier: Apache-2.0
// Charts as SVG pictures: lines over sizes, marks on an axis of sizes, and bars side by side or on top of each other.
// Each value is in the picture as text too (titles of its shapes), so that a browser shows it. Their sizes
// are bounded by the number of panels. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tutti::report {

enum class Scale { linear, logarithmic };
enum class Better { lower, higher };

struct Range {
  double low = 0;
  double high = 0;
};
// That of a value and what it may be off by; none where that is 0.
[[nodiscard]] inline std::optional<Range> range_around(double value, double uncertainty) {
  return uncertainty > 0 ? std::optional(Range{value - uncertainty, value + uncertainty}) : std::nullopt;
}
struct Point {
  double x = 0;
  double y = 0;
  std::optional<Range> range = {};  // of y
};
// Lines of one name belong together: they have one color and mark, and one label at their end.
struct Line {
  std::string name;
  std::vector<Point> points;
  bool is_dashed = false;    // with hollow marks
  bool is_range = false;     // only the ranges of its points are drawn, as a band
  std::string made_by = {};  // the command; pages show it beside a value
};
inline constexpr std::size_t kMostColored = 8;
// Up to so many lines have a color each. Of more lines, the first of `first` do, or without these those that are best
// at some size; the others are thin and grey, without a name at their end.
struct LinePanel {
  std::string title;
  std::string y_name;  // with its unit
  Scale y_scale = Scale::logarithmic;
  Better better = Better::lower;
  std::vector<Line> lines;
  std::vector<std::string> first = {};  // names, the most important first
};
// Figures in bytes: a row each, with what is published (hollow, with its range) and what is in its place.
struct SizeRow {
  std::string name;
  double dashed = 0;
  std::optional<Range> range = {};
  std::optional<double> full = {};
};
struct SizePanel {
  std::string title;
  std::vector<SizeRow> rows;
};
// Panels with axes and labels of their own, in up to three columns. x is bytes, above 0, and so is a logarithmic y:
// other points are left out.
struct LineChart {
  std::string title;
  std::string remark;
  std::string x_name;
  // The meaning of full and dashed lines and bands; shown if there are any.
  std::string full = {};
  std::string dashed = {};
  std::string ranges = {};
  std::vector<LinePanel> panels;
  std::vector<SizePanel> sizes = {};
};
[[nodiscard]] std::string to_svg(const LineChart& chart);

struct Bar {
  std::size_t kind = 0;  // of the chart's
  double value = 0;
  std::optional<Range> range = {};  // drawn as a whisker
  bool is_hatched = false;
  std::string remark = {};   // behind the value in its title
  std::string made_by = {};  // as of a line
};
struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};
struct BarPanel {
  std::string title;
  std::string y_name;
  bool is_stacked = false;
  std::vector<BarGroup> groups;
  double reaches = 0;  // to which its axis goes at least, so that panels side by side can be compared
};
// Where a few bars are far above all others the axis is broken between them, and says so. Values are not negative.
struct BarChart {
  std::string title;
  std::string remark;
  std::vector<std::string> kinds;  // the legend; a single one needs none
  std::string hatched = {};        // what hatched bars are; where there are any
  std::size_t columns = 1;         // so many panels beside each other
  std::vector<BarPanel> panels;
};
[[nodiscard]] std::string to_svg(const BarChart& chart);

// The bars below the lines, under the title and remark of the lines. Either may have no panels.
[[nodiscard]] std::string to_svg(const LineChart& lines, const BarChart& bars);

}  // namespace tutti::report
