// SPDX-License-Identifier: Apache-2.0
#include "report/picture.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/text.hpp"
#include "report/axis.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

constexpr double kWidthOfLetter = 0.6;  // of the font's size: that of wide fonts, such as DejaVu Sans
constexpr double kMargin = 16;
constexpr double kTitleSize = 16;
constexpr double kTitleLine = 26;
constexpr double kRemarkLine = 15;

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

std::size_t num_letters(std::string_view words) {
  return static_cast<std::size_t>(std::count_if(words.begin(), words.end(), begins_letter));
}

// Without its element, so that it can be filled or outlined.
std::string outline(Mark mark, double x, double y, double r) {
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string path;
    for (const auto& [dx, dy] : corners)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x + dx * r, y + dy * r);
    return path + " Z";
  };
  switch (mark) {
    case Mark::circle:
      return fmt::format("M{0:.1f} {1:.1f} a{2} {2} 0 1 0 {3} 0 a{2} {2} 0 1 0 -{3} 0 Z", x - r, y, r, 2 * r);
    case Mark::square: return polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Mark::triangle: return polygon({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
    case Mark::diamond: return polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    case Mark::down_triangle: return polygon({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
    case Mark::cross:
      return polygon({{-1.2, -0.7},
                      {-0.7, -1.2},
                      {0, -0.5},
                      {0.7, -1.2},
                      {1.2, -0.7},
                      {0.5, 0},
                      {1.2, 0.7},
                      {0.7, 1.2},
                      {0, 0.5},
                      {-0.7, 1.2},
                      {-1.2, 0.7},
                      {-0.5, 0}});
    case Mark::plus:
      return polygon({{-0.4, -1.3},
                      {0.4, -1.3},
                      {0.4, -0.4},
                      {1.3, -0.4},
                      {1.3, 0.4},
                      {0.4, 0.4},
                      {0.4, 1.3},
                      {-0.4, 1.3},
                      {-0.4, 0.4},
                      {-1.3, 0.4},
                      {-1.3, -0.4},
                      {-0.4, -0.4}});
    case Mark::star:
      return polygon({{0, -1.5}, {0.4, -0.4}, {1.5, 0}, {0.4, 0.4}, {0, 1.5}, {-0.4, 0.4}, {-1.5, 0}, {-0.4, -0.4}});
  }
  return "";
}

std::vector<std::string> lines_of_remark(std::string_view remark, double width) {
  return remark.empty() ? std::vector<std::string>() : wrapped(remark, width - 2 * kMargin);
}

// An id is one of the whole page, which may have other pictures: it is made of what the picture shows. Words cannot be
// taken for it, since their quotes are escaped.
std::string with_hatch(std::string_view body, std::string_view id) {
  const std::string wanted = fmt::format("fill=\"{}\"", kHatch);
  std::string result;
  for (std::size_t at = body.find(wanted); at != body.npos; at = body.find(wanted)) {
    result += fmt::format("{}fill=\"url(#{})\"", body.substr(0, at), id);
    body.remove_prefix(at + wanted.size());
  }
  return result += body;
}

}  // namespace

double width_of_words(std::string_view words, double font_size) {
  return kWidthOfLetter * font_size * static_cast<double>(num_letters(words));
}

std::string shortened_to(std::string_view words, double width, double font_size) {
  if (width_of_words(words, font_size) <= width) return std::string(words);
  constexpr std::string_view kDots = "...";
  const auto fitting = static_cast<std::size_t>(std::max(width / (kWidthOfLetter * font_size), 0.0));
  std::size_t most = fitting > kDots.size() ? fitting - kDots.size() : 0;
  std::size_t end = 0;
  for (; end < words.size(); ++end)
    if (begins_letter(words[end]) && most-- == 0) break;
  return std::string(words.substr(0, end)) + std::string(kDots);
}

std::vector<std::string> wrapped(std::string_view words, double width, double font_size) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(words, '\n')) {
    std::string line;
    for (const std::string_view word : split(paragraph, ' ')) {
      const std::string longer = line.empty() ? std::string(word) : fmt::format("{} {}", line, word);
      if (line.empty() || width_of_words(longer, font_size) <= width) {
        line = longer;
        continue;
      }
      lines.push_back(std::move(line));
      line = word;
    }
    lines.push_back(std::move(line));
  }
  for (std::string& line : lines) line = shortened_to(line, width, font_size);
  return lines;
}

void Picture::text(double x, double y, std::string_view words, const Look& look) {
  std::string more;
  if (look.anchor != "start") more += fmt::format(" text-anchor=\"{}\"", look.anchor);
  if (look.size != kFontSize) more += fmt::format(" font-size=\"{}\"", look.size);
  if (look.is_bold) more += " font-weight=\"bold\"";
  if (look.has_halo) more += " stroke=\"#ffffff\" stroke-width=\"2.5\" paint-order=\"stroke\"";
  if (look.turned != 0) more += fmt::format(" transform=\"rotate({} {:.1f} {:.1f})\"", look.turned, x, y);
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>{}</text>\n", x, y, look.color, more,
                       escaped(printable(words)));
}

void Picture::line(double x1, double y1, double x2, double y2, std::string_view color, double width,
                   std::string_view dashes) {
  body_ += fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x1, y1,
      x2, y2, color, width, dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

void Picture::mark(double x, double y, const Style& style, bool is_hollow, std::string_view words) {
  constexpr double kRadius = 3.2;
  // So that a full one at the same place is seen within.
  constexpr double kHollowRadius = 4.6;
  body_ += fmt::format("<path class=\"mark\" d=\"{}\" fill=\"{}\" stroke=\"{}\">{}</path>\n",
                       outline(style.mark, x, y, is_hollow ? kHollowRadius : kRadius), is_hollow ? "none" : style.color,
                       style.color, words.empty() ? "" : fmt::format("<title>{}</title>", escaped(printable(words))));
}

std::string Picture::with_head(std::string_view title, std::string_view remark, double width, double height) const {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"{2}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, kFontSize);
  // What is hatched is so in the color below.
  const std::string hatch = fmt::format("hatch-{:016x}", digest(body_, digest(remark, digest(title))));
  svg += fmt::format(
      "<defs><pattern id=\"{}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"2.4\" height=\"5\" fill=\"#ffffff\"/></pattern></defs>\n",
      hatch);
  Picture head;
  head.text(kMargin, kTitleLine, shortened_to(title, width - 2 * kMargin, kTitleSize),
            {.size = kTitleSize, .color = "#222222"});
  double y = kTitleLine + kRemarkLine + 4;
  for (const std::string& line : lines_of_remark(remark, width)) {
    head.text(kMargin, y, line, {.color = kPaleInk});
    y += kRemarkLine;
  }
  return svg + head.body_ + with_hatch(body_, hatch) + "</svg>\n";
}

double height_of_head(std::string_view remark, double width) {
  return kTitleLine + 8 + kRemarkLine * static_cast<double>(lines_of_remark(remark, width).size());
}

void draw_panel_head(Picture& picture, const Plot& plot, std::string_view title, std::string_view y_name) {
  constexpr double kSize = 13;
  if (!title.empty())
    picture.text(plot.left, plot.top - 14, shortened_to(title, plot.width, kSize), {.size = kSize, .is_bold = true});
  picture.text(plot.left - kPlotLeft + 20, plot.top + plot.height / 2, y_name, {.anchor = "middle", .turned = -90});
}

void draw_y_tick(Picture& picture, const Plot& plot, double share, double value) {
  const double y = plot.y(share);
  picture.line(plot.left, y, plot.left + plot.width, y, kGrid);
  picture.text(plot.left - 6, y + 4, number_text(value), {.anchor = "end"});
}

void draw_frame(Picture& picture, const Plot& plot) {
  picture.line(plot.left, plot.top, plot.left, plot.top + plot.height, kInk);
  picture.line(plot.left, plot.top + plot.height, plot.left + plot.width, plot.top + plot.height, kInk);
}

}  // namespace tutti::report
