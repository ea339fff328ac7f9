// Charts as SVG pictures: lines over sizes, and bars side by side or on top of each other. What is drawn is in the
// picture as text too (titles of its shapes), so that a browser tells each value. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::report {

enum class Scale { linear, logarithmic };

struct Point {
  double x = 0;
  double y = 0;
};
// Lines of the same color number share a color, in all panels.
struct Line {
  std::string name;
  std::vector<Point> points;
  std::size_t color = 0;
  bool is_dashed = false;
};
struct LinePanel {
  std::string title;
  std::string y_name;  // with its unit
  Scale y_scale = Scale::logarithmic;
  std::vector<Line> lines;
};
// Panels one below the other, each with its own axes and legend. x is bytes, above 0, and so is a logarithmic y: other
// points are left out.
struct LineChart {
  std::string title;
  std::string remark;
  std::string x_name;
  std::vector<LinePanel> panels;
};
[[nodiscard]] std::string to_svg(const LineChart& chart);

struct Bar {
  std::size_t kind = 0;  // of the chart's
  double value = 0;
  double uncertainty = 0;  // drawn as a whisker; 0: none
  bool is_hatched = false;
  std::string remark = {};  // behind the value in its title
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
};
// Where a few bars are far above all others the axis is broken between them, and says so. Values are not negative.
struct BarChart {
  std::string title;
  std::string remark;
  std::vector<std::string> kinds;  // the legend
  std::string hatched = {};        // what hatched bars are; where there are any
  std::size_t columns = 1;         // so many panels beside each other
  std::vector<BarPanel> panels;
};
[[nodiscard]] std::string to_svg(const BarChart& chart);

}  // namespace tutti::report
