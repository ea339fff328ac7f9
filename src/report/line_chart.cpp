// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/axis.hpp"
#include "report/drawing.hpp"
#include "report/line_styles.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

constexpr double kXNames = 50;     // below a plot
constexpr double kLabelLine = 14;  // of the names behind the lines' ends
constexpr double kLeader = 26;     // from a plot to its names
constexpr double kSwatch = 28;
constexpr double kMostNameWidth = 240;
constexpr double kKeyHeight = 24;
constexpr double kSizeRow = 22;
constexpr std::string_view kOtherLine = "#bbbbbb";
constexpr std::string_view kOtherName = "#777777";
constexpr std::string_view kDashes = "5 4";

std::string size_text(double bytes) { return to_text(Bytes(static_cast<std::uint64_t>(std::llround(bytes)))); }

struct Ends {
  double least = std::numeric_limits<double>::max();
  double greatest = std::numeric_limits<double>::lowest();
  void take(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  [[nodiscard]] bool is_empty() const { return least > greatest; }
};

// How panels of a chart are arranged.
struct Grid {
  std::size_t columns = 1;
  double plot_width = 620;
  double plot_height = 320;
  double name_width = 0;
  [[nodiscard]] double panel_width() const { return kPlotLeft + plot_width + kLeader + kSwatch + name_width + 24; }
};

std::size_t num_panels(const LineChart& chart) { return chart.panels.size() + chart.sizes.size(); }

// The names that stand beside their lines: those with a color.
std::vector<std::string> named_of(const LinePanel& panel) {
  std::vector<std::string> names;
  const std::vector<StylesOfLines> styles = styles_of({panel});
  for (const auto& [name, style] : styles.front())
    if (style) names.push_back(name);
  return names;
}

std::string others_in_words(std::size_t count) { return count == 1 ? "1 other" : fmt::format("{} others", count); }

Grid grid_of(const LineChart& chart) {
  Grid grid;
  if (num_panels(chart) > 3) grid = {.columns = 2, .plot_width = 500, .plot_height = 320};
  if (num_panels(chart) > 8) grid = {.columns = 3, .plot_width = 440, .plot_height = 290};
  for (const LinePanel& panel : chart.panels)
    for (const std::string& name : named_of(panel))
      grid.name_width = std::max(grid.name_width, std::min(width_of_words(name), kMostNameWidth));
  return grid;
}

double plot_height(const LineChart& chart, const Grid& grid, std::size_t number) {
  if (number < chart.panels.size())
    return std::max(grid.plot_height, kLabelLine * static_cast<double>(named_of(chart.panels[number]).size() + 1));
  return kSizeRow * static_cast<double>(chart.sizes[number - chart.panels.size()].rows.size() + 1);
}

// Of the panels that stand side by side.
double row_height(const LineChart& chart, const Grid& grid, std::size_t row) {
  double height = 0;
  for (std::size_t each = row * grid.columns; each < std::min((row + 1) * grid.columns, num_panels(chart)); ++each)
    height = std::max(height, plot_height(chart, grid, each));
  return kPanelHead + height + kXNames;
}

std::size_t num_rows(const LineChart& chart, const Grid& grid) {
  return (num_panels(chart) + grid.columns - 1) / grid.columns;
}

// Which of the three kinds of lines occur.
struct Kinds {
  bool full = false;
  bool dashed = false;
  bool range = false;
};

Kinds kinds_of(const LineChart& chart) {
  Kinds kinds;
  for (const LinePanel& panel : chart.panels)
    for (const Line& line : panel.lines) {
      const bool is_there = std::any_of(line.points.begin(), line.points.end(),
                                        [&](const Point& point) { return is_drawn(panel, point); });
      if (is_there) (line.is_range ? kinds.range : line.is_dashed ? kinds.dashed : kinds.full) = true;
    }
  for (const SizePanel& panel : chart.sizes)
    for (const SizeRow& row : panel.rows) {
      kinds.dashed = true;
      kinds.full = kinds.full || row.full.has_value();
    }
  return kinds;
}

bool has_key(const LineChart& chart) { return !(chart.full + chart.dashed + chart.ranges).empty(); }

void draw_key(Picture& picture, const LineChart& chart, double y) {
  const Kinds kinds = kinds_of(chart);
  double x = kPlotLeft;
  const auto name = [&](std::string_view words) {
    picture.text(x + kSwatch + 4, y, words);
    x += kSwatch + width_of_words(words) + 28;
  };
  picture.add("<g class=\"key\">\n");
  for (const bool is_dashed : {true, false}) {
    const std::string& words = is_dashed ? chart.dashed : chart.full;
    if (words.empty() || !(is_dashed ? kinds.dashed : kinds.full)) continue;
    picture.line(x, y - 4, x + kSwatch, y - 4, kPaleInk, 1.8, is_dashed ? kDashes : "");
    picture.mark(x + kSwatch / 2, y - 4, {kPaleInk, Mark::circle}, is_dashed, "");
    name(words);
  }
  if (kinds.range && !chart.ranges.empty()) {
    picture.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"11\" fill=\"{}\" "
                    "fill-opacity=\"0.25\"/>\n",
                    x, y - 10, kSwatch, kPaleInk));
    name(chart.ranges);
  }
  picture.add("</g>\n");
}

// --- one panel

class LineDrawing {
 public:
  LineDrawing(Picture& picture, const Plot& plot, const LinePanel& panel, const StylesOfLines& styles)
      : picture_(picture), plot_(plot), panel_(panel), styles_(styles), x_(axis_of_x()), y_(axis_of_y()) {}

  void draw(std::string_view x_name, double name_width) {
    draw_axes(x_name);
    for (const Line& line : panel_.lines)
      if (line.is_range) draw_band(line);
    // What is highlighted lies above the others.
    for (const bool is_highlighted : {false, true})
      for (const Line& line : panel_.lines)
        if (!line.is_range && style_of(line.name).has_value() == is_highlighted) draw_line(line);
    draw_names(name_width);
  }

 private:
  [[nodiscard]] std::optional<Style> style_of(const std::string& name) const {
    const auto found = styles_.find(name);
    return found == styles_.end() ? std::nullopt : found->second;
  }
  [[nodiscard]] std::string_view color_of(const std::string& name) const {
    const std::optional<Style> style = style_of(name);
    return style ? style->color : kOtherLine;
  }

  [[nodiscard]] Axis axis_of_x() const {
    Ends ends;
    for (const Line& line : panel_.lines)
      for (const Point& point : line.points)
        if (is_drawn(panel_, point)) ends.take(point.x);
    return Axis::of_sizes(ends.least, ends.greatest);
  }

  [[nodiscard]] Axis axis_of_y() const {
    Ends ends;
    const bool is_logarithmic = panel_.y_scale == Scale::logarithmic;
    for (const Line& line : panel_.lines)
      for (const Point& point : line.points) {
        if (!is_drawn(panel_, point)) continue;
        ends.take(point.y);
        if (point.range && (!is_logarithmic || point.range->low > 0)) ends.take(point.range->low);
        if (point.range) ends.take(point.range->high);
      }
    return is_logarithmic ? Axis::logarithmic(ends.least, ends.greatest) : Axis::linear(ends.least, ends.greatest);
  }

  [[nodiscard]] double at_y(double value) const { return plot_.y(std::clamp(y_.at(value), 0.0, 1.0)); }
  // Of a range that reaches to 0 or below, where the axis has no place for that: its end.
  [[nodiscard]] double at_low(double value) const {
    return panel_.y_scale == Scale::logarithmic && value <= 0 ? plot_.y(0) : at_y(value);
  }

  void draw_axes(std::string_view x_name) {
    for (const double tick : y_.ticks()) draw_y_tick(picture_, plot_, y_.at(tick), tick);
    for (const double tick : x_.ticks()) {
      const double at = plot_.x(x_.at(tick));
      picture_.line(at, plot_.top, at, plot_.top + plot_.height, kGrid);
      picture_.text(at, plot_.top + plot_.height + 16, size_text(tick), {.anchor = "middle"});
    }
    picture_.text(plot_.left + plot_.width / 2, plot_.top + plot_.height + 34, x_name, {.anchor = "middle"});
    draw_frame(picture_, plot_);
    if (panel_.y_scale == Scale::linear && y_.ticks().front() < 0)
      picture_.line(plot_.left, at_y(0), plot_.left + plot_.width, at_y(0), kInk);
  }

  [[nodiscard]] static std::string words_of(const Line& line, const Point& point) {
    std::string words = fmt::format("{}, {}: {}", line.name, size_text(point.x), number_text(point.y));
    if (point.range)
      words = fmt::format("{}{} to {}",
                          line.is_range ? fmt::format("{}, {}: ", line.name, size_text(point.x)) : words + ", ",
                          number_text(point.range->low), number_text(point.range->high));
    return words;
  }

  void draw_whisker(const Line& line, const Point& point, double cap) {
    const double x = plot_.x(x_.at(point.x));
    const double top = at_y(point.range->high);
    const double bottom = at_low(point.range->low);
    picture_.add(
        fmt::format("<path d=\"M{0:.1f} {1:.1f} H{2:.1f} M{3:.1f} {1:.1f} V{4:.1f} M{0:.1f} {4:.1f} H{2:.1f}\" "
                    "fill=\"none\" stroke=\"{5}\"><title>{6}</title></path>\n",
                    x - cap, top, x + cap, x, bottom, color_of(line.name), escaped(printable(words_of(line, point)))));
  }

  // A range holds at all sizes from its first point to its last: only its edge is marked, and a single size.
  void draw_band(const Line& line) {
    std::vector<const Point*> points;
    for (const Point& point : line.points)
      if (is_drawn(panel_, point) && point.range) points.push_back(&point);
    if (points.size() == 1) draw_whisker(line, *points.front(), 5);
    if (points.size() < 2) return;
    std::string there;
    std::string back;
    for (const Point* const point : points) {
      const double x = plot_.x(x_.at(point->x));
      there += fmt::format("{}{:.1f} {:.1f}", there.empty() ? "M" : " L", x, at_y(point->range->high));
      back = fmt::format(" L{:.1f} {:.1f}", x, at_low(point->range->low)) + back;
    }
    picture_.add(
        fmt::format("<path class=\"band\" d=\"{0}{1} Z\" fill=\"{3}\" fill-opacity=\"0.18\" stroke=\"{3}\" "
                    "stroke-width=\"0.8\"><title>{2}</title></path>\n",
                    there, back, escaped(printable(words_of_band(line, points))), color_of(line.name)));
  }

  // "name, 1M to 64M: 10 to 28"; where the range differs from size to size, each.
  [[nodiscard]] static std::string words_of_band(const Line& line, const std::vector<const Point*>& points) {
    const Range& first = *points.front()->range;
    const bool is_one = std::all_of(points.begin(), points.end(), [&](const Point* point) {
      return point->range->low == first.low && point->range->high == first.high;
    });
    if (is_one)
      return fmt::format("{}, {} to {}: {} to {}", line.name, size_text(points.front()->x), size_text(points.back()->x),
                         number_text(first.low), number_text(first.high));
    std::string words;
    for (const Point* const point : points) words += (words.empty() ? "" : "; ") + words_of(line, *point);
    return words;
  }

  // Whether a line that is drawn later lies on it at most sizes.
  [[nodiscard]] bool is_hidden(const Line& line) const {
    const auto covers = [&](const Line& other) {
      std::size_t same = 0;
      for (const Point& point : line.points)
        same += static_cast<std::size_t>(std::any_of(other.points.begin(), other.points.end(), [&](const Point& its) {
          return is_drawn(panel_, its) && its.x == point.x && std::abs(at_y(its.y) - at_y(point.y)) < 1.5;
        }));
      return 2 * same > line.points.size();
    };
    const Line* const behind = &line + 1;
    return std::any_of(behind, panel_.lines.data() + panel_.lines.size(), [&](const Line& other) {
      return !other.is_range && other.name != line.name && style_of(other.name) && covers(other);
    });
  }

  void draw_line(const Line& line) {
    const std::optional<Style> style = style_of(line.name);
    std::string path;
    for (const Point& point : line.points)
      if (is_drawn(panel_, point))
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", plot_.x(x_.at(point.x)), at_y(point.y));
    if (path.empty()) return;
    if (style && is_hidden(line))
      picture_.add(
          fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"6\" stroke-opacity=\"0.45\"/>\n", path,
                      style->color));
    picture_.add(fmt::format("<path class=\"line\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
                             path, color_of(line.name), style ? 1.8 : 1,
                             line.is_dashed ? fmt::format(" stroke-dasharray=\"{}\"", kDashes) : ""));
    for (const Point& point : line.points) {
      if (!is_drawn(panel_, point)) continue;
      const double x = plot_.x(x_.at(point.x));
      if (point.range) draw_whisker(line, point, 2.5);
      if (style) {
        picture_.mark(x, at_y(point.y), *style, line.is_dashed, words_of(line, point));
      } else {
        picture_.add(
            fmt::format("<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.6\" fill=\"{}\"><title>{}"
                        "</title></circle>\n",
                        x, at_y(point.y), kOtherLine, escaped(printable(words_of(line, point)))));
      }
    }
  }

  // Where the last point of a name lies: of its full line, where it has one.
  struct Name {
    const std::string* words = nullptr;
    double x = 0;
    double end = 0;  // of the line
    double y = 0;    // of the name
  };
  [[nodiscard]] std::vector<Name> names() const {
    std::vector<Name> names;
    for (const auto& [words, style] : styles_) {
      if (!style) continue;
      Name name{.words = &words};
      for (const bool is_last : {true, false})  // the last one counts
        for (const Line& line : panel_.lines)
          if (line.name == words && (line.is_dashed || line.is_range) == is_last)
            for (const Point& point : line.points)
              if (is_drawn(panel_, point)) name.x = plot_.x(x_.at(point.x)), name.end = at_y(point.y);
      names.push_back(name);
    }
    std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.end < b.end; });
    // Beside their lines, as far as they do not touch each other.
    double free = plot_.top + 4;
    const double end = plot_.top + plot_.height - (num_others() > 0 ? kLabelLine : 0);
    for (Name& name : names) {
      name.y = std::max(name.end, free);
      free = name.y + kLabelLine;
    }
    double most = end;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      name->y = std::min(name->y, most);
      most = name->y - kLabelLine;
    }
    return names;
  }

  [[nodiscard]] std::size_t num_others() const {
    return static_cast<std::size_t>(
        std::count_if(styles_.begin(), styles_.end(), [](const auto& each) { return !each.second; }));
  }

  [[nodiscard]] bool is_band(const std::string& name) const {
    return std::all_of(panel_.lines.begin(), panel_.lines.end(),
                       [&](const Line& line) { return line.name != name || line.is_range; });
  }

  [[nodiscard]] bool is_only_dashed(const std::string& name) const {
    return std::all_of(panel_.lines.begin(), panel_.lines.end(),
                       [&](const Line& line) { return line.name != name || line.is_dashed || line.is_range; });
  }

  void draw_names(double name_width) {
    const double left = plot_.left + plot_.width + kLeader;
    for (const Name& name : names()) {
      const Style style = *style_of(*name.words);
      picture_.add(
          fmt::format("<path d=\"M{:.1f} {:.1f} L{:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
                      "stroke-width=\"0.6\" stroke-dasharray=\"1 2\"/>\n",
                      name.x + 4, name.end, left - 2, name.y, style.color));
      picture_.add("<g class=\"key\">\n");
      if (is_band(*name.words)) {
        picture_.add(fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"9\" fill=\"{}\" fill-opacity=\"0.3\"/>\n", left,
            name.y - 4.5, kSwatch - 4, style.color));
      } else {
        const bool is_dashed = is_only_dashed(*name.words);
        picture_.line(left, name.y, left + kSwatch - 4, name.y, style.color, 1.8, is_dashed ? kDashes : "");
        picture_.mark(left + (kSwatch - 4) / 2, name.y, style, is_dashed, "");
      }
      picture_.text(left + kSwatch, name.y + 4, shortened_to(*name.words, name_width), {});
      picture_.add("</g>\n");
    }
    if (num_others() == 0) return;
    const double y = plot_.top + plot_.height;
    picture_.add("<g class=\"key\">\n");
    picture_.line(left, y, left + kSwatch - 4, y, kOtherLine, 1);
    picture_.text(left + kSwatch, y + 4, others_in_words(num_others()), {.color = kOtherName});
    picture_.add("</g>\n");
  }

  Picture& picture_;
  const Plot& plot_;
  const LinePanel& panel_;
  const StylesOfLines& styles_;
  Axis x_;
  Axis y_;
};

void draw_panel(Picture& picture, const Plot& plot, const LinePanel& panel, const StylesOfLines& styles,
                std::string_view x_name, double name_width) {
  draw_panel_head(picture, plot, panel.title, panel.y_name);
  if (!styles.empty()) return LineDrawing(picture, plot, panel, styles).draw(x_name, name_width);
  picture.text(plot.left + 20, plot.top + plot.height / 2, "nothing to draw");
  draw_frame(picture, plot);
}

void draw_panel(Picture& picture, const Plot& whole, const SizePanel& panel, std::string_view x_name) {
  draw_panel_head(picture, whole, panel.title, "");
  Ends ends;
  double longest = 0;
  for (const SizeRow& row : panel.rows) {
    longest = std::max(longest, std::min(width_of_words(row.name), kMostNameWidth));
    for (const double size : {row.dashed, row.full.value_or(row.dashed), row.range ? row.range->low : row.dashed,
                              row.range ? row.range->high : row.dashed})
      ends.take(size);
  }
  if (ends.is_empty()) return;
  Plot plot = whole;
  const double indent = std::max(longest + 12 - kPlotLeft + 20, 0.0);
  plot.left += indent;
  plot.width -= indent;
  const Axis x = Axis::of_sizes(ends.least / 2, ends.greatest * 2);
  for (const double tick : x.ticks()) {
    const double at = plot.x(x.at(tick));
    picture.line(at, plot.top, at, plot.top + plot.height, kGrid);
    picture.text(at, plot.top + plot.height + 16, size_text(tick), {.anchor = "middle"});
  }
  picture.text(plot.left + plot.width / 2, plot.top + plot.height + 34, x_name, {.anchor = "middle"});
  draw_frame(picture, plot);
  double y = plot.top + kSizeRow;
  for (const SizeRow& row : panel.rows) {
    const Style style = kStyles[0];
    picture.text(plot.left - 8, y + 4, shortened_to(row.name, kMostNameWidth), {.anchor = "end"});
    if (row.range) picture.line(plot.x(x.at(row.range->low)), y, plot.x(x.at(row.range->high)), y, style.color, 1.4);
    // The one inside the other, where both are the same.
    if (row.full)
      picture.mark(plot.x(x.at(*row.full)), y, style, false, fmt::format("{}: {}", row.name, size_text(*row.full)));
    const double published = plot.x(x.at(row.dashed));
    picture.add(
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"none\" stroke=\"{}\" "
                    "stroke-width=\"1.4\"><title>{}: {}</title></circle>\n",
                    published, y, style.color, escaped(printable(row.name)), size_text(row.dashed)));
    y += kSizeRow;
  }
}

}  // namespace

Extent extent_of(const LineChart& chart) {
  if (num_panels(chart) == 0) return {};
  const Grid grid = grid_of(chart);
  Extent extent{.width = grid.panel_width() * static_cast<double>(std::min(grid.columns, num_panels(chart))),
                .height = has_key(chart) ? kKeyHeight : 0};
  for (std::size_t row = 0; row < num_rows(chart, grid); ++row) extent.height += row_height(chart, grid, row);
  return extent;
}

void draw(Picture& picture, const LineChart& chart, double top) {
  if (has_key(chart)) {
    draw_key(picture, chart, top + 16);
    top += kKeyHeight;
  }
  const Grid grid = grid_of(chart);
  const std::vector<StylesOfLines> styles = styles_of(chart.panels);
  for (std::size_t each = 0; each < num_panels(chart); ++each) {
    const std::size_t column = each % grid.columns;
    if (each > 0 && column == 0) top += row_height(chart, grid, each / grid.columns - 1);
    const Plot plot{.left = static_cast<double>(column) * grid.panel_width() + kPlotLeft,
                    .top = top + kPanelHead,
                    .width = grid.plot_width,
                    .height = plot_height(chart, grid, each)};
    if (each < chart.panels.size())
      draw_panel(picture, plot, chart.panels[each], styles[each], chart.x_name, grid.name_width);
    else
      draw_panel(picture, plot, chart.sizes[each - chart.panels.size()], chart.x_name);
  }
}

}  // namespace tutti::report
