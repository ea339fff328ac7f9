// SPDX-License-Identifier: Apache-2.0
// Checks of a picture without looking at it: its size, that its words neither overlap nor leave it, and that everything
// in its keys is drawn.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::test {

struct SvgCorner {
  double x = 0;
  double y = 0;
};

// The words of a text element, and the box around them: an estimate by the font's size and their length.
struct SvgWords {
  std::string words;
  std::array<SvgCorner, 4> corners = {};
};

inline std::string attribute_of(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 3;
  return element.substr(begin, element.find('"', begin) - begin);
}

inline double number_of(const std::string& element, const std::string& name, double usual = 0) {
  const std::string text = attribute_of(element, name);
  return text.empty() ? usual : std::strtod(text.c_str(), nullptr);
}

inline std::vector<SvgWords> words_of_svg(const std::string& svg) {
  constexpr double kWidthOfLetter = 0.55;
  std::vector<SvgWords> all;
  for (std::size_t at = svg.find("<text "); at != std::string::npos; at = svg.find("<text ", at + 1)) {
    const std::size_t end = svg.find('>', at);
    const std::string element = svg.substr(at, end - at);
    std::string words = svg.substr(end + 1, svg.find("</text>", end) - end - 1);
    // An escaped letter is one.
    for (std::size_t begin = words.find('&'); begin != std::string::npos; begin = words.find('&', begin + 1))
      words.erase(begin + 1, words.find(';', begin) - begin);
    if (words.empty()) continue;
    const double size = number_of(element, "font-size", 11);
    const auto letters = std::count_if(words.begin(), words.end(),
                                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; });
    const double width = kWidthOfLetter * size * static_cast<double>(letters);
    const std::string anchor = attribute_of(element, "text-anchor");
    const double x = number_of(element, "x");
    const double y = number_of(element, "y");
    const double left = anchor == "middle" ? -width / 2 : anchor == "end" ? -width : 0;
    const std::string turned = attribute_of(element, "transform");
    const double degrees = turned.empty() ? 0 : std::strtod(turned.c_str() + turned.find('(') + 1, nullptr);
    const double turn = degrees * 3.14159265358979 / 180;
    SvgWords one{.words = words};
    const std::array<SvgCorner, 4> box = {
        {{left, -0.72 * size}, {left + width, -0.72 * size}, {left + width, 0.1 * size}, {left, 0.1 * size}}};
    for (std::size_t corner = 0; corner < box.size(); ++corner)
      one.corners[corner] = {x + box[corner].x * std::cos(turn) - box[corner].y * std::sin(turn),
                             y + box[corner].x * std::sin(turn) + box[corner].y * std::cos(turn)};
    all.push_back(one);
  }
  return all;
}

// Of two boxes that may be turned, by the axes along their sides.
inline bool do_overlap(const SvgWords& a, const SvgWords& b) {
  const auto is_apart_along = [&](SvgCorner from, SvgCorner to) {
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const auto ends = [&](const SvgWords& one) {
      std::pair<double, double> range{1e18, -1e18};
      for (const SvgCorner& corner : one.corners) {
        const double place = corner.x * dx + corner.y * dy;
        range = {std::min(range.first, place), std::max(range.second, place)};
      }
      return range;
    };
    const auto [a_from, a_to] = ends(a);
    const auto [b_from, b_to] = ends(b);
    return a_to <= b_from || b_to <= a_from;
  };
  for (const SvgWords* one : {&a, &b})
    for (const std::size_t side : {0U, 1U})
      if (is_apart_along(one->corners[side], one->corners[side + 1])) return false;
  return true;
}

// The colors of shapes, in key groups or outside of them.
inline std::set<std::string> colors_of_svg(const std::string& svg, bool in_keys) {
  std::set<std::string> colors;
  std::size_t depth = 0;  // of groups within a key
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::string element = svg.substr(at, svg.find('>', at) - at);
    if (element.starts_with("<g") && (depth > 0 || attribute_of(element, "class") == "key")) ++depth;
    if (element.starts_with("</g") && depth > 0) --depth;
    if (element.starts_with("<text") || element.starts_with("<svg") || (depth > 0) != in_keys) continue;
    for (const char* name : {"fill", "stroke"})
      if (const std::string color = attribute_of(element, name); color.starts_with("#")) colors.insert(color);
  }
  return colors;
}

inline void expect_readable(const std::string& svg, double most_width, double most_height) {
  const std::string head = svg.substr(0, svg.find('>'));
  const double width = number_of(head, "width");
  const double height = number_of(head, "height");
  EXPECT_GT(width, 0);
  EXPECT_LE(width, most_width);
  EXPECT_GT(height, 0);
  EXPECT_LE(height, most_height);
  const std::vector<SvgWords> all = words_of_svg(svg);
  EXPECT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const SvgCorner& corner : all[i].corners) {
      const bool is_within = corner.x >= 0 && corner.x <= width && corner.y >= 0 && corner.y <= height;
      EXPECT_TRUE(is_within) << "'" << all[i].words << "' leaves the picture at " << corner.x << " " << corner.y;
    }
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(do_overlap(all[i], all[j])) << "'" << all[j].words << "' and '" << all[i].words << "' overlap";
  }
}

// The grey of examples in keys is of no line, so that only other colors count.
inline void expect_keys_occur(const std::string& svg) {
  const std::set<std::string> drawn = colors_of_svg(svg, false);
  for (const std::string& color : colors_of_svg(svg, true)) {
    const bool is_grey = color == "#ffffff" || color == "#666666" || color == "#999999";
    EXPECT_TRUE(is_grey || drawn.contains(color)) << color << " is in a key only";
  }
}

}  // namespace tutti::test
