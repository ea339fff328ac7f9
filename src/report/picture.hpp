// SPDX-License-Identifier: Apache-2.0
// The means to draw pictures: a canvas that becomes SVG, styles that color-blind people can tell apart, and the width
// of words. Values; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::report {

inline constexpr double kFontSize = 11;
inline constexpr std::string_view kInk = "#333333";
inline constexpr std::string_view kPaleInk = "#666666";
inline constexpr std::string_view kGrid = "#e4e4e4";
// A fill of shapes in a Picture; hatched in white, so that the color below shows.
inline constexpr std::string_view kHatch = "url(#hatch)";

// An estimate: the reader's font is not known.
[[nodiscard]] double width_of_words(std::string_view words, double font_size = kFontSize);
// As many characters as fit, then "..." if some are missing.
[[nodiscard]] std::string shortened_to(std::string_view words, double width, double font_size = kFontSize);
// Lines that are no wider than that, broken at blanks; a newline always begins a line.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view words, double width, double font_size = kFontSize);

enum class Mark { circle, square, triangle, diamond, down_triangle, cross, plus, star };

// A color and a mark. Each differs from all others in both, so that one of them is enough to tell lines apart.
struct Style {
  std::string_view color;
  Mark mark = Mark::circle;
};
// Colors after Okabe and Ito, which color-blind people can tell apart; dark enough for lines on white.
inline constexpr std::array<Style, 8> kStyles = {{{"#0072b2", Mark::circle},
                                                  {"#d55e00", Mark::square},
                                                  {"#009e73", Mark::triangle},
                                                  {"#cc79a7", Mark::diamond},
                                                  {"#56b4e9", Mark::down_triangle},
                                                  {"#e69f00", Mark::cross},
                                                  {"#111111", Mark::plus},
                                                  {"#7f4fa5", Mark::star}}};

class Picture {
 public:
  struct Look {
    std::string_view anchor = "start";
    double size = kFontSize;
    std::string_view color = kInk;
    bool is_bold = false;
    double turned = 0;      // degrees around its place
    bool has_halo = false;  // a white edge, to be read on any color
  };
  void text(double x, double y, std::string_view words) { text(x, y, words, Look()); }
  void text(double x, double y, std::string_view words, const Look& look);
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1,
            std::string_view dashes = "");
  // Hollow: only its outline has the color. A browser shows the words; none if empty.
  void mark(double x, double y, const Style& style, bool is_hollow, std::string_view words);
  void add(std::string_view shapes) { body_ += shapes; }

  // The whole picture, with these words at its top.
  [[nodiscard]] std::string with_head(std::string_view title, std::string_view remark, double width,
                                      double height) const;

 private:
  std::string body_;
};

// How far a title and a remark reach down in a picture of that width.
[[nodiscard]] double height_of_head(std::string_view remark, double width);

// Where a panel's plot lies. Shares are of its width from the left, and of its height from below.
struct Plot {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double x(double share) const { return left + share * width; }
  [[nodiscard]] double y(double share) const { return top + (1 - share) * height; }
};

// What is the same in all panels.
inline constexpr double kPlotLeft = 78;   // room for ticks and the name of the axis
inline constexpr double kPanelHead = 34;  // room for the panel's title
void draw_panel_head(Picture& picture, const Plot& plot, std::string_view title, std::string_view y_name);
void draw_y_tick(Picture& picture, const Plot& plot, double share, double value);
void draw_frame(Picture& picture, const Plot& plot);

}  // namespace tutti::report
