// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/axis.hpp"
#include "report/drawing.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

constexpr double kPlotHeight = 300;
constexpr double kRight = 24;
constexpr double kKeyHeight = 24;
constexpr double kGroupGap = 16;
constexpr double kBarWidth = 22;
constexpr double kStackWidth = 30;
constexpr double kLeastWidth = 320;
constexpr double kMostSlack = 2;
constexpr double kValueSize = 8;  // of the letters above bars
constexpr double kSlant = 35;     // degrees, of the names of groups
constexpr double kSine = 0.574;
constexpr double kCosine = 0.819;
constexpr double kMostNameWidth = 240;

std::string_view color_of(std::size_t kind) { return kStyles[kind % kStyles.size()].color; }

// Four digits at most: what stands above a bar is to be read, and its title has the rest.
std::string short_text(double value) {
  if (value >= 1e6 || value < 9999.5) return fmt::format("{:.4g}", value);
  return fmt::format("{:.4g}k", value / 1000);
}

// Of a group, side by side or on top of each other.
struct BarPlace {
  double left = 0;
  double width = 0;
  double from = 0;
  double to = 0;
};

double top_of(const Bar& bar) { return bar.range ? std::max(bar.range->high, bar.value) : bar.value; }

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
    for (const Bar& bar : group.bars) values.push_back(top_of(bar));
  }
  return BarAxis(std::move(values), panel.reaches);
}

// So wide that the values above bars do not touch.
double width_of_bar(const BarPanel& panel) {
  if (panel.is_stacked) return kStackWidth;
  double width = kBarWidth;
  for (const BarGroup& group : panel.groups)
    for (const Bar& bar : group.bars) width = std::max(width, width_of_words(short_text(bar.value), kValueSize) + 4);
  return width;
}

double width_of_group(const BarPanel& panel, const BarGroup& group) {
  const double bars = panel.is_stacked ? 1 : static_cast<double>(std::max<std::size_t>(group.bars.size(), 1));
  return bars * width_of_bar(panel) + kGroupGap;
}

double needed_width(const BarPanel& panel) {
  double width = kGroupGap;
  for (const BarGroup& group : panel.groups) width += width_of_group(panel, group);
  return width;
}

double longest_name(const BarPanel& panel) {
  double longest = 0;
  for (const BarGroup& group : panel.groups)
    longest = std::max(longest, std::min(width_of_words(group.name), kMostNameWidth));
  return longest;
}

// How all panels are arranged.
struct Layout {
  std::size_t columns = 1;
  double left = kPlotLeft;  // of a plot in its panel: names of groups reach to the left
  double plot_width = 0;
  double names_height = 0;
  [[nodiscard]] double panel_width() const { return left + plot_width + kRight; }
  [[nodiscard]] double panel_height() const { return kPanelHead + kPlotHeight + names_height; }
};

Layout layout_of(const BarChart& chart) {
  Layout layout;
  layout.columns = std::clamp<std::size_t>(chart.columns, 1, std::max<std::size_t>(chart.panels.size(), 1));
  for (const BarPanel& panel : chart.panels) {
    layout.plot_width = std::max({layout.plot_width, needed_width(panel), kLeastWidth});
    const double longest = longest_name(panel);
    layout.left = std::max(layout.left, kCosine * longest - kGroupGap + 20);
    layout.names_height = std::max(layout.names_height, 30 + kSine * longest);
  }
  return layout;
}

struct Key {
  std::string_view fill;
  bool is_hatched = false;
  std::string_view words;
};

// Of what occurs.
std::vector<Key> keys_of(const BarChart& chart) {
  std::vector<bool> is_there(chart.kinds.size(), false);
  bool has_hatched = false;
  for (const BarPanel& panel : chart.panels)
    for (const BarGroup& group : panel.groups)
      for (const Bar& bar : group.bars) {
        is_there.at(bar.kind) = true;
        has_hatched = has_hatched || bar.is_hatched;
      }
  std::vector<Key> keys;
  for (std::size_t kind = 0; kind < chart.kinds.size() && chart.kinds.size() > 1; ++kind)
    if (is_there[kind]) keys.push_back({.fill = color_of(kind), .words = chart.kinds[kind]});
  if (has_hatched) keys.push_back({.fill = "#999999", .is_hatched = true, .words = chart.hatched});
  return keys;
}

double width_of(const Key& key) { return 40 + width_of_words(key.words); }

void draw_keys(Picture& picture, const BarChart& chart, double top) {
  double left = kPlotLeft;
  picture.add("<g class=\"key\">\n");
  for (const Key& key : keys_of(chart)) {
    for (const std::string_view fill : {key.fill, kHatch})
      if (fill == key.fill || key.is_hatched)
        picture.add(fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", left,
                                top - 10, fill));
    picture.text(left + 17, top, key.words);
    left += width_of(key);
  }
  picture.add("</g>\n");
}

void draw_bar(Picture& picture, const Plot& plot, const BarAxis& y, const Bar& bar, const BarPlace& place,
              std::string_view words) {
  const double top = plot.y(y.at(place.to));
  const double bottom = plot.y(y.at(place.from));
  // A small value is still seen; what is 0 is not.
  const double height = bar.value > 0 ? std::max(bottom - top, 0.5) : 0;
  const auto shape = [&](std::string_view fill) {
    picture.add(fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n",
        place.left, top, place.width, height, fill, escaped(printable(words))));
  };
  shape(color_of(bar.kind));
  if (bar.is_hatched) shape(kHatch);
  if (!bar.range) return;
  const double middle = place.left + place.width / 2;
  // Of a stacked bar, from where its value ends.
  const double shift = place.to - bar.value;
  const double low = plot.y(y.at(std::max(bar.range->low + shift, 0.0)));
  const double high = plot.y(y.at(bar.range->high + shift));
  picture.line(middle, low, middle, high, kInk, 1.2);
  for (const double end : {low, high}) picture.line(middle - 3, end, middle + 3, end, kInk, 1.2);
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

// Above the bar; where a whisker stands there, in the bar below it, if there is room.
void draw_value(Picture& picture, const Plot& plot, const BarAxis& y, const Bar& bar, double middle) {
  constexpr double kLine = kValueSize + 3;
  const double below = bar.range ? plot.y(y.at(std::clamp(bar.range->low, 0.0, bar.value))) + kLine : 0;
  const bool is_within = bar.range && below + 4 < plot.y(0);
  picture.text(middle, is_within ? below : plot.y(y.at(top_of(bar))) - 4, short_text(bar.value),
               {.anchor = "middle", .size = kValueSize, .has_halo = true});
}

// The bars of a group from `left`; `share` is what each has of the width.
void draw_group(Picture& picture, const Plot& plot, const BarChart& chart, const BarPanel& panel, const BarAxis& y,
                const BarGroup& group, double left, double share) {
  double below = 0;
  double at = left;
  for (const Bar& bar : group.bars) {
    const BarPlace place{at, 0.9 * share, panel.is_stacked ? below : 0,
                         panel.is_stacked ? below + bar.value : bar.value};
    draw_bar(picture, plot, y, bar, place,
             fmt::format("{}, {}: {}{}{}", group.name, chart.kinds.at(bar.kind), number_text(bar.value),
                         bar.remark.empty() ? "" : "; ", bar.remark));
    if (!panel.is_stacked) draw_value(picture, plot, y, bar, at + 0.45 * share);
    below += bar.value;
    if (!panel.is_stacked) at += share;
  }
}

void draw_panel(Picture& picture, const Plot& plot, const BarChart& chart, const BarPanel& panel) {
  const BarAxis y = axis_of(panel);
  draw_panel_head(picture, plot, panel.title, panel.y_name);
  for (const double tick : y.ticks()) draw_y_tick(picture, plot, y.at(tick), tick);
  // Where there is more room than the bars need they are wider, up to a point.
  const double slack = std::min(plot.width / needed_width(panel), kMostSlack);
  double left = plot.left + kGroupGap * slack;
  for (const BarGroup& group : panel.groups) {
    const double width = (width_of_group(panel, group) - kGroupGap) * slack;
    const double share =
        width / static_cast<double>(panel.is_stacked ? 1 : std::max<std::size_t>(group.bars.size(), 1));
    draw_group(picture, plot, chart, panel, y, group, left, share);
    picture.text(left + width / 2, plot.top + plot.height + 14, shortened_to(group.name, kMostNameWidth),
                 {.anchor = "end", .turned = -kSlant});
    left += width + kGroupGap * slack;
  }
  draw_frame(picture, plot);
  if (const auto gap = y.break_at()) draw_break(picture, plot, *gap);
}

}  // namespace

Extent extent_of(const BarChart& chart) {
  if (chart.panels.empty()) return {};
  const Layout layout = layout_of(chart);
  double keys = kPlotLeft;
  for (const Key& key : keys_of(chart)) keys += width_of(key);
  const auto rows = static_cast<double>((chart.panels.size() + layout.columns - 1) / layout.columns);
  return {.width = std::max(static_cast<double>(layout.columns) * layout.panel_width(), keys),
          .height = (keys_of(chart).empty() ? 0 : kKeyHeight) + rows * layout.panel_height()};
}

void draw(Picture& picture, const BarChart& chart, double top) {
  if (!keys_of(chart).empty()) {
    draw_keys(picture, chart, top + 16);
    top += kKeyHeight;
  }
  const Layout layout = layout_of(chart);
  for (std::size_t each = 0; each < chart.panels.size(); ++each) {
    const auto row = static_cast<double>(each / layout.columns);
    const auto column = static_cast<double>(each % layout.columns);
    const Plot plot{.left = column * layout.panel_width() + layout.left,
                    .top = top + row * layout.panel_height() + kPanelHead,
                    .width = layout.plot_width,
                    .height = kPlotHeight};
    draw_panel(picture, plot, chart, chart.panels[each]);
  }
}

}  // namespace tutti::report
