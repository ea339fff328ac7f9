// SPDX-License-Identifier: Apache-2.0
// That charts have what they are given, wherever it is odd. How they look is for eyes.
#include "report/chart.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "report/line_styles.hpp"
#include "svg_check.hpp"

namespace tutti::report {
namespace {

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// Every element is closed, and there is no number that is none.
void expect_sound(const std::string& svg) {
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n")) << svg;
  for (const std::string_view name : {"text", "g", "title", "defs", "pattern"})
    EXPECT_EQ(count_of(svg, "<" + std::string(name) + ">") + count_of(svg, "<" + std::string(name) + " "),
              count_of(svg, "</" + std::string(name) + ">"))
        << name;
  for (const std::string_view word : {"nan", "inf"}) EXPECT_EQ(count_of(svg, word), 0U) << svg;
}

// Those of points have words, those of keys do not.
std::size_t num_marks(const std::string& svg) {
  std::size_t count = 0;
  for (std::size_t at = svg.find("class=\"mark\""); at != std::string::npos; at = svg.find("class=\"mark\"", at + 1))
    count += svg.substr(svg.find('>', at), 8) == "><title>" ? 1 : 0;
  return count;
}

TEST(LineChart, HasALineAndAPointForEverything) {
  const LineChart chart{.title = "a <b> & \"c\"",
                        .remark = "remark",
                        .x_name = "bytes",
                        .panels = {{.title = "all_reduce",
                                    .y_name = "us",
                                    .lines = {{.name = "ring", .points = {{64, 1}, {4096, 20}}},
                                              {.name = "tree", .points = {{64, 3}}, .is_dashed = true}}},
                                   {.title = "gains",
                                    .y_name = "percent",
                                    .y_scale = Scale::linear,
                                    .lines = {{.name = "ring", .points = {{64, -3}, {4096, 7}}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_EQ(num_marks(svg), 5U);
  EXPECT_EQ(count_of(svg, "a &lt;b&gt; &amp; &quot;c&quot;"), 1U);
  EXPECT_EQ(count_of(svg, "<title>ring, 4K: 20</title>"), 1U);
}

TEST(LineChart, LeavesOutWhatHasNoPlace) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const LineChart chart{.title = "t",
                        .remark = "",
                        .x_name = "bytes",
                        .panels = {{.title = "p",
                                    .y_name = "us",
                                    .lines = {{.name = "l", .points = {{0, 1}, {8, 0}, {8, none}, {8, -1}, {8, 2}}}}},
                                   {.title = "q", .y_name = "us", .lines = {{.name = "l", .points = {{0, 1}}}}},
                                   {.title = "r", .y_name = "us", .lines = {}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_EQ(num_marks(svg), 1U);
  EXPECT_EQ(count_of(svg, "nothing to draw"), 2U);
  expect_sound(to_svg(LineChart{}));
}

TEST(SvgCheck, SeesWordsThatOverlap) {
  const auto words = [](const std::string& first, const std::string& second) {
    return test::words_of_svg("<text " + first + ">hello</text><text " + second + ">world</text>");
  };
  const auto overlap = [&](const std::string& first, const std::string& second) {
    const std::vector<test::SvgWords> both = words(first, second);
    return test::do_overlap(both.at(0), both.at(1));
  };
  EXPECT_TRUE(overlap(R"(x="10" y="20")", R"(x="30" y="22")"));
  EXPECT_FALSE(overlap(R"(x="10" y="20")", R"(x="10" y="32")"));
  EXPECT_FALSE(overlap(R"(x="10" y="20")", R"(x="41" y="20")"));
  EXPECT_TRUE(overlap(R"(x="10" y="20")", R"(x="41" y="20" text-anchor="end")"));
  EXPECT_TRUE(overlap(R"(x="10" y="20" font-size="16")", R"(x="41" y="20")"));
  // Turned, they stand upright side by side.
  const std::string upright = R"_(x="20" y="100" transform="rotate(-90 20 100)")_";
  EXPECT_FALSE(overlap(R"_(x="10" y="100" transform="rotate(-90 10 100)")_", upright));
  EXPECT_TRUE(overlap(R"(x="10" y="90")", upright));
  const std::string svg = "<rect fill=\"#aaaaaa\"/><g class=\"key\"><g><rect fill=\"#bbbbbb\"/></g></g>";
  EXPECT_EQ(test::colors_of_svg(svg, true), std::set<std::string>{"#bbbbbb"});
  EXPECT_EQ(test::colors_of_svg(svg, false), std::set<std::string>{"#aaaaaa"});
}

LinePanel panel_of_lines(std::size_t num_lines) {
  LinePanel panel{.title = "all_reduce", .y_name = "time, us", .lines = {}};
  for (std::size_t each = 0; each < num_lines; ++each) {
    Line line{.name = "algorithm_" + std::to_string(each), .points = {}};
    for (int size = 3; size <= 30; ++size) {
      const double per_byte = 1e-4 * static_cast<double>(each + 1);
      line.points.push_back({std::exp2(size), 100.0 / static_cast<double>(each + 1) + per_byte * std::exp2(size)});
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

TEST(LineChart, ColoredLinesDifferInColorAndMark) {
  const std::vector<StylesOfLines> styles = styles_of({panel_of_lines(8), panel_of_lines(17)});
  for (const StylesOfLines& of_panel : styles) {
    std::set<std::string_view> colors;
    std::set<Mark> marks;
    std::size_t num_styled = 0;
    for (const auto& [name, style] : of_panel) {
      if (!style) continue;
      ++num_styled;
      colors.insert(style->color);
      marks.insert(style->mark);
    }
    EXPECT_EQ(colors.size(), num_styled);
    EXPECT_EQ(marks.size(), num_styled);
    EXPECT_GT(num_styled, 0U);
  }
  EXPECT_EQ(styles[0].size(), 8U);
  EXPECT_EQ(styles[1].size(), 17U);
  EXPECT_TRUE(styles[1].at("algorithm_0"));   // the best of the greatest size
  EXPECT_TRUE(styles[1].at("algorithm_16"));  // the best of the least
  // One name has one style.
  EXPECT_EQ(styles[0].at("algorithm_0")->color, styles[1].at("algorithm_0")->color);
}

TEST(LineChart, ManyLinesAreReadable) {
  LineChart chart{.title = "many", .remark = "simulated", .x_name = "bytes", .panels = {}};
  for (const std::size_t num_lines : {17, 3, 1, 8, 9, 40}) chart.panels.push_back(panel_of_lines(num_lines));
  for (const std::size_t num_panels : {6, 2}) {
    chart.panels.resize(num_panels);
    const std::string svg = to_svg(chart);
    expect_sound(svg);
    test::expect_readable(svg, 2400, 2400);
    test::expect_keys_occur(svg);
  }
  // Every line with a color has its name beside it; the others have theirs in the titles of their points.
  const StylesOfLines styles = styles_of({panel_of_lines(17)}).front();
  const std::string svg = to_svg(LineChart{.title = "", .remark = "", .x_name = "", .panels = {panel_of_lines(17)}});
  std::size_t num_others = 0;
  for (std::size_t each = 0; each < 17; ++each) {
    const std::string name = "algorithm_" + std::to_string(each);
    const bool is_named = styles.at(name).has_value();
    num_others += is_named ? 0 : 1;
    EXPECT_EQ(count_of(svg, ">" + name + "</text>"), is_named ? 1U : 0U);
    EXPECT_EQ(count_of(svg, "<title>" + name + ", "), 28U);
  }
  EXPECT_EQ(count_of(svg, ">" + std::to_string(num_others) + " others</text>"), 1U);
}

TEST(LineChart, OfManyLinesTheNamedOnesHaveColors) {
  LinePanel panel = panel_of_lines(17);
  panel.first = {"algorithm_8", "none of these", "algorithm_3"};
  const StylesOfLines styles = styles_of({panel}).front();
  for (const auto& [name, style] : styles)
    EXPECT_EQ(style.has_value(), name == "algorithm_8" || name == "algorithm_3") << name;
  const std::string svg = to_svg(LineChart{.title = "", .remark = "", .x_name = "", .panels = {panel}});
  test::expect_readable(svg, 2400, 2400);
  EXPECT_EQ(count_of(svg, ">15 others</text>"), 1U);
}

TEST(BarChart, ValuesStandBelowWhiskersNotOnTheirTips) {
  const auto y_of = [](const std::string& svg, const std::string& words) {
    const std::size_t end = svg.find(">" + words + "</text>");
    EXPECT_NE(end, std::string::npos) << svg;
    const std::size_t at = svg.rfind(" y=\"", end) + 4;
    return std::stod(svg.substr(at, svg.find('"', at) - at));
  };
  BarChart chart{.title = "",
                 .remark = "",
                 .kinds = {"time"},
                 .panels = {{.title = "", .y_name = "us", .groups = {{.name = "", .bars = {{.value = 50}}}}}}};
  chart.panels[0].groups[0].bars.push_back({.value = 51, .range = Range{49, 100}});
  chart.panels[0].groups[0].bars.push_back({.value = 1, .range = Range{0.5, 1.5}});  // no room in it
  const std::string svg = to_svg(chart);
  test::expect_readable(svg, 1000, 1000);
  EXPECT_GT(y_of(svg, "51"), y_of(svg, "50"));
  EXPECT_GT(y_of(svg, "1"), y_of(svg, "51"));
}

TEST(LineChart, PairsHaveOneNameAndRangesAreBands) {
  LineChart chart{
      .title = "t",
      .remark = "r",
      .x_name = "bytes",
      .full = "simulated",
      .dashed = "published",
      .ranges = "published range",
      .panels = {{.title = "p",
                  .y_name = "us",
                  .lines = {{.name = "nccl", .points = {{64, 1, Range{0.5, 1.5}}, {128, 2}}, .is_dashed = true},
                            {.name = "nccl", .points = {{64, 1.2}, {128, 2.2}}}}}}};
  const std::string pair = to_svg(chart);
  expect_sound(pair);
  EXPECT_EQ(count_of(pair, ">nccl</text>"), 1U);
  EXPECT_EQ(count_of(pair, "<path class=\"line\""), 2U);
  EXPECT_EQ(count_of(pair, "<title>nccl, 64: 1, 0.5 to 1.5</title>"), 2U);  // the mark and the whisker
  EXPECT_EQ(count_of(pair, "published range"), 0U);
  chart.panels[0].lines[0] = {.name = "nccl",
                              .points = {{64, 19, Range{10, 28}}, {128, 19, Range{10, 28}}},
                              .is_dashed = true,
                              .is_range = true};
  const std::string range = to_svg(chart);
  expect_sound(range);
  test::expect_readable(range, 1000, 600);
  EXPECT_EQ(count_of(range, "<path class=\"line\""), 1U);  // none through the middle of the range
  EXPECT_EQ(count_of(range, "<title>nccl, 64 to 128: 10 to 28</title>"), 1U);
  EXPECT_EQ(count_of(range, "published range"), 1U);
  // Of a single size there is no area.
  chart.panels[0].lines[0].points.pop_back();
  EXPECT_EQ(count_of(to_svg(chart), "<title>nccl, 64: 10 to 28</title>"), 1U);
}

TEST(LineChart, NameOfDashedLineIsDashed) {
  LineChart chart{.title = "t",
                  .remark = "r",
                  .x_name = "bytes",
                  .panels = {{.title = "p",
                              .y_name = "us",
                              .lines = {{.name = "model", .points = {{64, 1}, {128, 2}}, .is_dashed = true}}}}};
  EXPECT_EQ(count_of(to_svg(chart), "stroke-dasharray=\"5 4\""), 2U);  // the line, and beside its name
  chart.panels[0].lines[0].is_dashed = false;
  EXPECT_EQ(count_of(to_svg(chart), "stroke-dasharray=\"5 4\""), 0U);
}

TEST(LineChart, SizesAreMarksOnTheirAxis) {
  const LineChart chart{.title = "t",
                        .remark = "",
                        .x_name = "bytes",
                        .full = "simulated",
                        .dashed = "published",
                        .panels = {},
                        .sizes = {{.title = "crossovers",
                                   .rows = {{.name = "8 <nodes>", .dashed = 4194304, .full = 8388608},
                                            {.name = "16", .dashed = 8388608, .range = Range{4194304, 16777216}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  test::expect_readable(svg, 1000, 400);
  EXPECT_EQ(count_of(svg, "<title>8 &lt;nodes&gt;: 4M</title>"), 1U);
  EXPECT_EQ(count_of(svg, "<title>8 &lt;nodes&gt;: 8M</title>"), 1U);
}

TEST(BarChart, ValuesAndNamesDoNotOverlap) {
  BarChart chart{.title = "t", .remark = "r", .kinds = {"one", "two"}, .columns = 2, .panels = {}};
  for (const double scale : {1.0, 98765.4, 3e9}) {
    BarPanel panel{.title = "512x512x512", .y_name = "ns", .groups = {}};
    for (int group = 0; group < 5; ++group)
      panel.groups.push_back({.name = "a long name of a configuration, " + std::to_string(group),
                              .bars = {{.kind = 0, .value = scale}, {.kind = 1, .value = 1.01 * scale}}});
    chart.panels.push_back(std::move(panel));
    const std::string svg = to_svg(chart);
    expect_sound(svg);
    test::expect_readable(svg, 2400, 2400);
    test::expect_keys_occur(svg);
  }
}

TEST(BarChart, BarsBelowLinesShowGroupsWithoutASize) {
  const LineChart lines{.title = "t", .remark = "r", .x_name = "bytes", .panels = {panel_of_lines(3)}};
  const BarChart bars{
      .title = "",
      .remark = "",
      .kinds = {"time"},
      .panels = {{.title = "barrier", .y_name = "us", .groups = {{.name = "direct", .bars = {{.value = 3}}}}}}};
  const std::string svg = to_svg(lines, bars);
  expect_sound(svg);
  test::expect_readable(svg, 2400, 2400);
  EXPECT_EQ(count_of(svg, ">barrier</text>"), 1U);
  EXPECT_EQ(count_of(svg, "nothing to draw"), 0U);
}

std::string id_of_hatch(const std::string& svg) {
  const std::string begin = "<pattern id=\"";
  const std::size_t at = svg.find(begin) + begin.size();
  return svg.substr(at, svg.find('"', at) - at);
}

TEST(BarChart, HasABarForEverything) {
  BarChart chart{
      .title = "t",
      .remark = "r",
      .kinds = {"reference", "simulated"},
      .hatched = "of another configuration",
      .panels = {{.title = "times",
                  .y_name = "us",
                  .groups = {{.name = "one",
                              .bars = {{.kind = 0, .value = 12, .range = Range{10, 14}}, {.kind = 1, .value = 13}}},
                             {.name = "two", .bars = {{.kind = 0, .value = 22}, {.kind = 1, .value = 21}}},
                             {.name = "far", .bars = {{.kind = 0, .value = 366, .is_hatched = true}}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<title>far, reference: 366</title>"), 2U);  // the bar, and what it is hatched with
  EXPECT_EQ(count_of(svg, "the axis is broken here"), 1U);
  EXPECT_EQ(count_of(svg, "of another configuration"), 1U);
  EXPECT_EQ(count_of(svg, "<pattern id=\"" + id_of_hatch(svg) + "\""), 1U);
  EXPECT_EQ(count_of(svg, "fill=\"url(#" + id_of_hatch(svg) + ")\""), 2U);  // a bar and a key
  EXPECT_EQ(to_svg(chart), svg);
  BarChart other = chart;
  other.panels[0].groups[0].bars[0].value = 11;
  EXPECT_NE(id_of_hatch(to_svg(other)), id_of_hatch(svg)) << "both may be on one page";
  // Stacked, a group is one bar to the axis.
  chart.panels[0].is_stacked = true;
  chart.panels[0].groups.pop_back();
  chart.columns = 3;
  const std::string stacked = to_svg(chart);
  expect_sound(stacked);
  EXPECT_EQ(count_of(stacked, "the axis is broken here"), 0U);
  EXPECT_EQ(count_of(stacked, "of another configuration"), 0U);
  expect_sound(to_svg(BarChart{}));
}

TEST(BarChart, WhatIsNothingIsNotSeenInAStack) {
  const BarChart chart{
      .title = "t",
      .remark = "r",
      .kinds = {"none", "little", "much"},
      .panels = {
          {.title = "p",
           .y_name = "ns",
           .is_stacked = true,
           .groups = {{.name = "g",
                       .bars = {{.kind = 0, .value = 0}, {.kind = 1, .value = 1}, {.kind = 2, .value = 9000}}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  const auto height_of = [&](const std::string& words) {
    const std::size_t at = svg.find("<title>" + words + "</title>");
    const std::size_t height = svg.rfind("height=\"", at);
    return at == svg.npos ? -1 : std::strtod(svg.c_str() + height + 8, nullptr);
  };
  EXPECT_EQ(height_of("g, none: 0"), 0);
  EXPECT_EQ(height_of("g, little: 1"), 0.5);
  EXPECT_GT(height_of("g, much: 9000"), 100);
}

}  // namespace
}  // namespace tutti::report
