// That charts have what they are given, wherever it is odd. How they look is for eyes.
#include "report/chart.hpp"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

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

TEST(LineChart, HasALineAndAPointForEverything) {
  const LineChart chart{.title = "a <b> & \"c\"",
                        .remark = "remark",
                        .x_name = "bytes",
                        .panels = {{.title = "all_reduce",
                                    .y_name = "us",
                                    .lines = {{.name = "ring", .points = {{64, 1}, {4096, 20}}, .color = 0},
                                              {.name = "tree", .points = {{64, 3}}, .color = 13, .is_dashed = true}}},
                                   {.title = "gains",
                                    .y_name = "percent",
                                    .y_scale = Scale::linear,
                                    .lines = {{.name = "ring", .points = {{64, -3}, {4096, 7}}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<circle "), 5U);
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
  EXPECT_EQ(count_of(svg, "<circle "), 1U);
  EXPECT_EQ(count_of(svg, "nothing to draw"), 2U);
  expect_sound(to_svg(LineChart{}));
}

TEST(BarChart, HasABarForEverything) {
  BarChart chart{
      .title = "t",
      .remark = "r",
      .kinds = {"reference", "simulated"},
      .hatched = "of another configuration",
      .panels = {
          {.title = "times",
           .y_name = "us",
           .groups = {{.name = "one", .bars = {{.kind = 0, .value = 12, .uncertainty = 2}, {.kind = 1, .value = 13}}},
                      {.name = "two", .bars = {{.kind = 0, .value = 22}, {.kind = 1, .value = 21}}},
                      {.name = "far", .bars = {{.kind = 0, .value = 366, .is_hatched = true}}}}}}};
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<title>far, reference: 366</title>"), 2U);  // the bar, and what it is hatched with
  EXPECT_EQ(count_of(svg, "the axis is broken here"), 1U);
  EXPECT_EQ(count_of(svg, "of another configuration"), 1U);
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

}  // namespace
}  // namespace tutti::report
