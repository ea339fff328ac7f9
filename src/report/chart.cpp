#include "report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/axis.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

constexpr std::string_view kColors[] = {"#4477aa", "#cc6677", "#228833", "#ccaa22", "#aa3377",
                                        "#66aacc", "#884400", "#555555", "#99bb55", "#ee8866"};
// Beyond the colors, lines differ by their dashes.
constexpr std::string_view kDashes[] = {"", "7 3", "2 3", "9 3 2 3"};

constexpr double kLeft = 78;
constexpr double kRight = 24;
constexpr double kHead = 62;       // title and remark
constexpr double kPanelHead = 34;  // a panel's own
constexpr double kPlotHeight = 300;
constexpr double kLinesWidth = 620;
constexpr double kLegendLine = 17;
constexpr double kXNames = 52;  // below a plot
constexpr std::string_view kInk = "#333333";
constexpr std::string_view kGrid = "#e4e4e4";

std::string_view color_of(std::size_t number) { return kColors[number % std::size(kColors)]; }

// Where a panel's plot lies.
struct Plot {
  double left = kLeft;
  double top = 0;
  double width = 0;
  double height = kPlotHeight;
  [[nodiscard]] double x(double share) const { return left + share * width; }
  [[nodiscard]] double y(double share) const { return top + (1 - share) * height; }
};

class Picture {
 public:
  void text(double x, double y, std::string_view words, std::string_view more = "") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}{}>{}</text>\n", x, y, kInk,
                         more.empty() ? "" : " ", more, escaped(printable(words)));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1) {
    body_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{}\"/>\n",
        x1, y1, x2, y2, color, width);
  }
  void add(std::string_view shapes) { body_ += shapes; }

  [[nodiscard]] std::string with_head(std::string_view title, std::string_view remark, double width,
                                      double height) const {
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height);
    // What is hatched is so in the color below.
    svg +=
        "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"2.4\" height=\"5\" fill=\"#ffffff\"/></pattern></defs>\n";
    svg +=
        fmt::format("<text x=\"16\" y=\"26\" font-size=\"16\" fill=\"#222222\">{}</text>\n", escaped(printable(title)));
    if (!remark.empty())
      svg += fmt::format("<text x=\"16\" y=\"45\" fill=\"#666666\">{}</text>\n", escaped(printable(remark)));
    return svg + body_ + "</svg>\n";
  }

 private:
  std::string body_;
};

void draw_panel_head(Picture& picture, const Plot& plot, std::string_view title, std::string_view y_name) {
  if (!title.empty()) picture.text(plot.left, plot.top - 16, title, "font-size=\"13\" font-weight=\"bold\"");
  const double left = plot.left - kLeft + 20;
  const double middle = plot.top + plot.height / 2;
  picture.text(left, middle, y_name,
               fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {:.1f} {:.1f})\"", left, middle));
}

void draw_y_tick(Picture& picture, const Plot& plot, double share, double value) {
  const double y = plot.y(share);
  picture.line(plot.left, y, plot.left + plot.width, y, kGrid);
  picture.text(plot.left - 6, y + 4, number_text(value), "text-anchor=\"end\"");
}

void draw_frame(Picture& picture, const Plot& plot) {
  picture.line(plot.left, plot.top, plot.left, plot.top + plot.height, kInk);
  picture.line(plot.left, plot.top + plot.height, plot.left + plot.width, plot.top + plot.height, kInk);
}

struct Range {
  double least = std::numeric_limits<double>::max();
  double greatest = std::numeric_limits<double>::lowest();
  void take(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  [[nodiscard]] bool is_empty() const { return least > greatest; }
};

bool is_drawn(const LinePanel& panel, const Point& point) {
  return std::isfinite(point.y) && point.x > 0 && (panel.y_scale == Scale::linear || point.y > 0);
}

std::string size_text(double bytes) { return to_text(Bytes(static_cast<std::uint64_t>(std::llround(bytes)))); }

void draw_line(Picture& picture, const Plot& plot, const LinePanel& panel, const Line& line, const Axis& x,
               const Axis& y) {
  std::string path;
  std::string marks;
  for (const Point& point : line.points) {
    if (!is_drawn(panel, point)) continue;
    const double at_x = plot.x(x.at(point.x));
    const double at_y = plot.y(y.at(point.y));
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", at_x, at_y);
    marks +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"><title>{}</title></circle>\n", at_x,
                    at_y, line.is_dashed ? "#ffffff" : color_of(line.color),
                    escaped(printable(fmt::format("{}, {}: {}", line.name, size_text(point.x), number_text(point.y)))));
  }
  const std::string_view dashes =
      line.is_dashed ? "5 4" : kDashes[line.color / std::size(kColors) % std::size(kDashes)];
  picture.add(
      fmt::format("<g stroke=\"{}\"><path d=\"{}\" fill=\"none\" stroke-width=\"1.6\" "
                  "stroke-dasharray=\"{}\"/>\n{}</g>\n",
                  color_of(line.color), path, dashes, marks));
}

// The best is told first where lines are read from the top: in the order of their last points.
std::vector<const Line*> legend_of(const LinePanel& panel) {
  std::vector<const Line*> lines;
  for (const Line& line : panel.lines)
    if (!line.points.empty()) lines.push_back(&line);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line* a, const Line* b) { return a->points.back().y > b->points.back().y; });
  return lines;
}

void draw_lines(Picture& picture, Plot& plot, const LinePanel& panel, std::string_view x_name) {
  Range of_x;
  Range of_y;
  for (const Line& line : panel.lines)
    for (const Point& point : line.points)
      if (is_drawn(panel, point)) {
        of_x.take(point.x);
        of_y.take(point.y);
      }
  draw_panel_head(picture, plot, panel.title, panel.y_name);
  if (of_x.is_empty()) {
    picture.text(plot.left + 20, plot.top + plot.height / 2, "nothing to draw");
    return draw_frame(picture, plot);
  }
  const Axis x = Axis::of_sizes(of_x.least, of_x.greatest);
  const Axis y = panel.y_scale == Scale::logarithmic ? Axis::logarithmic(of_y.least, of_y.greatest)
                                                     : Axis::linear(of_y.least, of_y.greatest);
  for (const double tick : y.ticks()) draw_y_tick(picture, plot, y.at(tick), tick);
  for (const double tick : x.ticks()) {
    const double at = plot.x(x.at(tick));
    picture.line(at, plot.top, at, plot.top + plot.height, kGrid);
    picture.text(at, plot.top + plot.height + 16, size_text(tick), "text-anchor=\"middle\"");
  }
  picture.text(plot.left + plot.width / 2, plot.top + plot.height + 36, x_name, "text-anchor=\"middle\"");
  draw_frame(picture, plot);
  if (of_y.least < 0) picture.line(plot.left, plot.y(y.at(0)), plot.left + plot.width, plot.y(y.at(0)), kInk);
  for (const Line& line : panel.lines) draw_line(picture, plot, panel, line, x, y);
  double row = plot.top + 10;
  for (const Line* line : legend_of(panel)) {
    const double left = plot.left + plot.width + 18;
    const std::string_view dashes =
        line->is_dashed ? "5 4" : kDashes[line->color / std::size(kColors) % std::size(kDashes)];
    picture.add(
        fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\" "
                    "stroke-width=\"2\" stroke-dasharray=\"{4}\"/>\n",
                    left, row - 4, left + 22, color_of(line->color), dashes));
    picture.text(left + 28, row, line->name);
    row += kLegendLine;
  }
}

// Of a group, side by side or on top of each other.
struct BarPlace {
  double left = 0;
  double width = 0;
  double from = 0;
  double to = 0;
};

double top_of(const BarGroup& group) {
  double sum = 0;
  for (const Bar& bar : group.bars) sum += bar.value;
  return sum;
}

BarAxis axis_of(const BarPanel& panel) {
  std::vector<double> values;
  for (const BarGroup& group : panel.groups) {
    if (panel.is_stacked) {
      values.push_back(top_of(group));
      continue;
    }
    for (const Bar& bar : group.bars) values.push_back(bar.value + bar.uncertainty);
  }
  return BarAxis(std::move(values));
}

void draw_bar(Picture& picture, const Plot& plot, const BarAxis& y, const Bar& bar, const BarPlace& place,
              std::string_view words) {
  const double top = plot.y(y.at(place.to));
  const double bottom = plot.y(y.at(place.from));
  const auto shape = [&](std::string_view fill, std::string_view inside) {
    picture.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\">{}</rect>\n",
                    place.left, top, place.width, std::max(bottom - top, 0.5), fill, inside));
  };
  shape(color_of(bar.kind), "<title>" + escaped(printable(words)) + "</title>");
  if (bar.is_hatched) shape("url(#hatch)", "<title>" + escaped(printable(words)) + "</title>");
  if (bar.uncertainty > 0) {
    const double middle = place.left + place.width / 2;
    picture.line(middle, plot.y(y.at(std::max(place.to - bar.uncertainty, 0.0))), middle,
                 plot.y(y.at(place.to + bar.uncertainty)), kInk, 1.2);
  }
}

void draw_break(Picture& picture, const Plot& plot, double share) {
  const double y = plot.y(share);
  std::string path = fmt::format("M{:.1f} {:.1f}", plot.left - 8, y);
  bool is_up = true;
  for (double x = plot.left; x < plot.left + plot.width + 8; x += 8, is_up = !is_up)
    path += fmt::format(" L{:.1f} {:.1f}", x, y + (is_up ? -4 : 4));
  picture.add(
      fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#ffffff\" stroke-width=\"6\"/>\n"
                  "<path d=\"{}\" fill=\"none\" stroke=\"#999999\" stroke-width=\"1\" "
                  "stroke-dasharray=\"3 2\"><title>the axis is broken here</title></path>\n",
                  path, path));
}

constexpr double kGroupGap = 16;
constexpr double kBarWidth = 22;
constexpr double kValueWidth = 30;  // of a value that stands above its bar

double width_of_group(const BarPanel& panel, const BarGroup& group) {
  const double bars = panel.is_stacked ? 1 : static_cast<double>(std::max<std::size_t>(group.bars.size(), 1));
  return bars * (panel.is_stacked ? kValueWidth : kBarWidth) + kGroupGap;
}

double width_of(const BarPanel& panel) {
  double width = kGroupGap;
  for (const BarGroup& group : panel.groups) width += width_of_group(panel, group);
  return width;
}

// Names of groups are slanted, so this is how far they reach down.
double depth_of_names(const BarPanel& panel) {
  std::size_t longest = 0;
  for (const BarGroup& group : panel.groups) longest = std::max(longest, group.name.size());
  return 18 + 3.9 * static_cast<double>(longest);
}

void draw_bars(Picture& picture, const Plot& plot, const BarPanel& panel, const std::vector<std::string>& kinds) {
  const BarAxis y = axis_of(panel);
  draw_panel_head(picture, plot, panel.title, panel.y_name);
  for (const double tick : y.ticks()) draw_y_tick(picture, plot, y.at(tick), tick);
  const double slack = plot.width / width_of(panel);  // where there is more room than the bars need
  double left = plot.left + kGroupGap * slack;
  for (const BarGroup& group : panel.groups) {
    const double width = (width_of_group(panel, group) - kGroupGap) * slack;
    const double share =
        width / static_cast<double>(panel.is_stacked ? 1 : std::max<std::size_t>(group.bars.size(), 1));
    double below = 0;
    double at = left;
    for (const Bar& bar : group.bars) {
      const BarPlace place{at, 0.9 * share, panel.is_stacked ? below : 0,
                           panel.is_stacked ? below + bar.value : bar.value};
      draw_bar(picture, plot, y, bar, place,
               fmt::format("{}, {}: {}{}{}", group.name, kinds.at(bar.kind), number_text(bar.value),
                           bar.remark.empty() ? "" : "; ", bar.remark));
      if (!panel.is_stacked)
        picture.text(at + 0.45 * share, plot.y(y.at(bar.value + bar.uncertainty)) - 4, number_text(bar.value),
                     "text-anchor=\"middle\" font-size=\"8\"");
      below += bar.value;
      if (!panel.is_stacked) at += share;
    }
    const double x = left + width / 2;
    const double bottom = plot.top + plot.height + 14;
    picture.text(x, bottom, group.name,
                 fmt::format("text-anchor=\"end\" transform=\"rotate(-35 {:.1f} {:.1f})\"", x, bottom));
    left += width + kGroupGap * slack;
  }
  draw_frame(picture, plot);
  if (const auto gap = y.break_at()) draw_break(picture, plot, *gap);
}

double draw_kinds(Picture& picture, const BarChart& chart, double top) {
  double left = kLeft;
  const auto entry = [&](std::string_view fill, bool is_hatched, std::string_view words) {
    const auto box = [&](std::string_view color) {
      picture.add(fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", left,
                              top - 10, color));
    };
    box(fill);
    if (is_hatched) box("url(#hatch)");
    picture.text(left + 17, top, words);
    left += 40 + 6.2 * static_cast<double>(words.size());
  };
  std::vector<bool> is_there(chart.kinds.size(), false);
  bool has_hatched = false;
  for (const BarPanel& panel : chart.panels)
    for (const BarGroup& group : panel.groups)
      for (const Bar& bar : group.bars) {
        is_there.at(bar.kind) = true;
        has_hatched = has_hatched || bar.is_hatched;
      }
  for (std::size_t kind = 0; kind < chart.kinds.size(); ++kind)
    if (is_there[kind]) entry(color_of(kind), false, chart.kinds[kind]);
  if (has_hatched) entry("#999999", true, chart.hatched);
  return left;
}

double width_of_text(std::string_view title, std::string_view remark) {
  return 40 + std::max(9.0 * static_cast<double>(title.size()), 6.0 * static_cast<double>(remark.size()));
}

}  // namespace

std::string to_svg(const LineChart& chart) {
  Picture picture;
  std::size_t longest = 0;
  for (const LinePanel& panel : chart.panels)
    for (const Line& line : panel.lines) longest = std::max(longest, line.name.size());
  const double width = std::max(kLeft + kLinesWidth + 60 + 6.4 * static_cast<double>(longest) + kRight,
                                width_of_text(chart.title, chart.remark));
  double top = kHead;
  for (const LinePanel& panel : chart.panels) {
    Plot plot{.top = top + kPanelHead, .width = kLinesWidth};
    plot.height = std::max(kPlotHeight, kLegendLine * static_cast<double>(panel.lines.size()));
    draw_lines(picture, plot, panel, chart.x_name);
    top = plot.top + plot.height + kXNames;
  }
  return picture.with_head(chart.title, chart.remark, width, top);
}

std::string to_svg(const BarChart& chart) {
  Picture picture;
  const double end_of_kinds = draw_kinds(picture, chart, kHead + 12);
  double plots = 320;
  double names = 0;
  for (const BarPanel& panel : chart.panels) {
    plots = std::max(plots, width_of(panel));
    names = std::max(names, depth_of_names(panel));
  }
  const std::size_t columns = std::clamp<std::size_t>(chart.columns, 1, std::max<std::size_t>(chart.panels.size(), 1));
  const auto beside = static_cast<double>(columns);
  const double width =
      std::max({beside * (kLeft + plots + kRight), width_of_text(chart.title, chart.remark), end_of_kinds + kRight});
  const double panel_width = width / beside;
  plots = panel_width - kLeft - kRight;
  const double panel_height = kPanelHead + kPlotHeight + names;
  for (std::size_t each = 0; each < chart.panels.size(); ++each) {
    const auto row = static_cast<double>(each / columns);
    const auto column = static_cast<double>(each % columns);
    const Plot plot{
        .left = column * panel_width + kLeft, .top = kHead + 22 + row * panel_height + kPanelHead, .width = plots};
    draw_bars(picture, plot, chart.panels[each], chart.kinds);
  }
  const auto rows = static_cast<double>((chart.panels.size() + columns - 1) / columns);
  return picture.with_head(chart.title, chart.remark, width, kHead + 32 + rows * panel_height);
}

}  // namespace tutti::report
