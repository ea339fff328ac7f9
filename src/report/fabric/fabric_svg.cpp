// SPDX-License-Identifier: Apache-2.0
#include "report/fabric/fabric_svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/fabric/fabric_cables.hpp"
#include "report/fabric/rail_svg.hpp"
#include "report/picture.hpp"
#include "report/svg.hpp"

namespace tutti::report {

namespace {

using fabric::Fabric;
using fabric::Node;

constexpr double kMargin = 48;
constexpr double kTop = 72;  // of the title
constexpr double kLine = 20;
constexpr double kLeft = 16;  // of words
constexpr double kRemarkLine = 15;
constexpr double kMostExtent = 2160;
constexpr std::string_view kColors[] = {"#4477aa", "#cc6677", "#228833", "#ccaa22", "#aa3377", "#66aacc", "#888888"};

struct Point {
  double x = 0;
  double y = 0;
};

// "0", "0-3", "0,5": the ranks at each node.
std::vector<std::string> rank_labels(const Fabric& fabric) {
  std::vector<std::vector<std::uint32_t>> ranks(fabric.nodes.size());
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) ranks[fabric.ranks[rank].node].push_back(rank);
  std::vector<std::string> labels(fabric.nodes.size());
  for (std::size_t node = 0; node < labels.size(); ++node) {
    const auto& own = ranks[node];
    if (own.empty()) continue;
    const bool is_run = own.back() - own.front() + 1 == own.size() && own.size() > 2;
    labels[node] = is_run ? fmt::format("{}-{}", own.front(), own.back()) : fmt::format("{}", fmt::join(own, ","));
  }
  return labels;
}

// The least distance between two nodes, in the units of their places.
double least_distance(const std::vector<Node>& nodes) {
  double least = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const double each = std::hypot(nodes[i].x - nodes[j].x, nodes[i].y - nodes[j].y); each > 1e-6)
        least = std::min(least, each);
  return nodes.size() < 2 ? 1 : least;
}

class Drawing {
 public:
  Drawing(const Fabric& fabric, const std::string& remark)
      : fabric_(fabric), cables_(cables_of(fabric)), labels_(rank_labels(fabric)) {
    const auto [left, right] = range([](const Node& node) { return node.x; });
    const auto [top, bottom] = range([](const Node& node) { return node.y; });
    left_ = left;
    top_ = top;
    // Nodes with room for a number, but no picture that nobody could look at.
    const double least = std::min(least_distance(fabric.nodes), 1.0);
    const double extent = std::max({right - left, bottom - top, 1e-9});
    scale_ = std::min(std::max(34 / least, 84.0), kMostExtent / extent);
    if (fabric.nodes.size() == 1) scale_ = 1;
    radius_ = std::clamp(0.34 * least * scale_, 2.0, 17.0);
    width_ = std::max((right - left) * scale_ + 2 * kMargin, 440.0);
    indent_ = (width_ - (right - left) * scale_) / 2;
    remark_ = wrapped(remark, width_ - 2 * kLeft);
    if (remark.empty()) remark_.clear();
    top_of_nodes_ = kTop + kMargin + kRemarkLine * static_cast<double>(remark_.size());
    bottom_ = top_of_nodes_ + (bottom - top) * scale_ + kMargin;
    for (const Cable& cable : cables_)
      if (std::find(costs_.begin(), costs_.end(), cable.cost) == costs_.end()) costs_.push_back(cable.cost);
  }

  std::string draw() {
    const double height = bottom_ + kLine * (static_cast<double>(costs_.size()) + 2);
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width_, height);
    out_ += fmt::format("<text x=\"16\" y=\"26\" font-size=\"16\" fill=\"#222222\">{}</text>\n",
                        escaped(shortened(fabric_.name, static_cast<std::size_t>(width_ / 10))));
    const auto switches =
        std::count_if(fabric_.nodes.begin(), fabric_.nodes.end(), [](const Node& node) { return node.is_switch; });
    out_ += fmt::format(
        "<text x=\"16\" y=\"44\" fill=\"#666666\">{}, {}, {}; a line is two links, an arrow is one</text>\n",
        counted(fabric_.num_ranks(), "rank"), counted(switches, "switch", "es"), counted(fabric_.links.size(), "link"));
    double y = 44;
    for (const std::string& line : remark_) {
      y += kRemarkLine;
      out_ +=
          fmt::format("<text x=\"{}\" y=\"{:.0f}\" fill=\"#666666\">{}</text>\n", kLeft, y, escaped(printable(line)));
    }
    for (const Cable& cable : cables_) draw_cable(cable);
    for (std::size_t node = 0; node < fabric_.nodes.size(); ++node) draw_node(node);
    draw_legend();
    return out_ + "</svg>\n";
  }

 private:
  template <typename Coordinate>
  std::pair<double, double> range(Coordinate coordinate) const {
    std::pair<double, double> range(coordinate(fabric_.nodes[0]), coordinate(fabric_.nodes[0]));
    for (const Node& node : fabric_.nodes)
      range = {std::min(range.first, coordinate(node)), std::max(range.second, coordinate(node))};
    return range;
  }

  static std::string shortened(const std::string& text, std::size_t most) {
    const std::string shown = printable(text);
    return shown.size() <= most ? shown : shown.substr(0, most) + " ...";
  }

  [[nodiscard]] Point place(std::size_t node) const {
    return {indent_ + (fabric_.nodes[node].x - left_) * scale_,
            top_of_nodes_ + (fabric_.nodes[node].y - top_) * scale_};
  }

  [[nodiscard]] std::string_view color(const std::string& cost) const {
    const auto index = std::find(costs_.begin(), costs_.end(), cost) - costs_.begin();
    return kColors[static_cast<std::size_t>(index) % std::size(kColors)];
  }

  // The nodes, other than its ends, that are so near to the straight line between its ends.
  [[nodiscard]] std::vector<Point> nodes_near(const Cable& cable, double distance) const {
    std::vector<Point> near;
    const Point a = place(cable.a);
    const Point b = place(cable.b);
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    for (std::size_t node = 0; node < fabric_.nodes.size() && length > 0; ++node) {
      if (node == cable.a || node == cable.b) continue;
      const Point p = place(node);
      const double along = ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / length;
      const double aside = std::abs((p.x - a.x) * (b.y - a.y) - (p.y - a.y) * (b.x - a.x)) / length;
      if (along > 0 && along < length && aside < distance) near.push_back(p);
    }
    return near;
  }

  // Both control points of a curve are so far from its ends, across the line between them.
  [[nodiscard]] static Point aside_of(Point a, Point b, double height) {
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    return {(b.y - a.y) / length * height, -(b.x - a.x) / length * height};
  }

  // Points on that curve, without its ends.
  static std::vector<Point> points_of_curve(Point a, Point b, double height) {
    constexpr int kPoints = 48;
    const Point aside = aside_of(a, b, height);
    std::vector<Point> points;
    for (int each = 1; each < kPoints; ++each) {
      const double t = static_cast<double>(each) / kPoints;
      const double from = (1 - t) * (1 - t) * (1 + 2 * t);
      const double bent = 3 * t * (1 - t);
      points.push_back(
          {from * a.x + (1 - from) * b.x + bent * aside.x, from * a.y + (1 - from) * b.y + bent * aside.y});
    }
    return points;
  }

  // How much of the curve is covered by nodes, and, which matters less, lies on curves that are drawn already.
  [[nodiscard]] double trouble_of(const std::vector<Point>& curve, const std::pair<Point, Point>& ends,
                                  const std::vector<Point>& nodes) const {
    constexpr double kSameLine = 5;
    double trouble = 0;
    for (const Point& each : curve) {
      const auto is_within = [&](double distance) {
        return [&each, distance](const Point& other) {
          return std::abs(each.x - other.x) < distance && std::hypot(each.x - other.x, each.y - other.y) < distance;
        };
      };
      if (std::any_of(nodes.begin(), nodes.end(), is_within(1.2 * radius_))) trouble += 100;
      // Curves of one node come together there.
      if (is_within(3 * radius_)(ends.first) || is_within(3 * radius_)(ends.second)) continue;
      if (std::any_of(on_curves_.begin(), on_curves_.end(), is_within(kSameLine))) trouble += 1;
    }
    return trouble;
  }

  // The height of the curve of a cable that a straight line cannot show: beside the nodes that it passes, and apart
  // from other curves, with the least bend that does.
  double height_of(const Cable& cable) {
    constexpr std::array<double, 10> kBends = {1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 3, -3};
    const Point a = place(cable.a);
    const Point b = place(cable.b);
    // Not so far that it meets the next row.
    const double height = std::min(1.9 * radius_ + 4, 0.6 * std::hypot(b.x - a.x, b.y - a.y));
    const std::vector<Point> near = nodes_near(cable, 3 * height + radius_);
    double best = height;
    double least = std::numeric_limits<double>::max();
    for (const double bend : kBends) {
      const double trouble = trouble_of(points_of_curve(a, b, bend * height), {a, b}, near);
      if (trouble < least) best = bend * height;
      least = std::min(least, trouble);
      if (least == 0) break;
    }
    constexpr std::size_t kMostOnCurves = 2'000;  // to draw large fabrics in a moment
    if (on_curves_.size() < kMostOnCurves) {
      const std::vector<Point> curve = points_of_curve(a, b, best);
      on_curves_.insert(on_curves_.end(), curve.begin(), curve.end());
    }
    return best;
  }

  void draw_cable(const Cable& cable) {
    const Point a = place(cable.a);
    const Point b = place(cable.b);
    std::string path = fmt::format("M{:.1f} {:.1f}", a.x, a.y);
    Point middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    if (!nodes_near(cable, radius_).empty()) {
      const Point aside = aside_of(a, b, height_of(cable));
      path += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x + aside.x, a.y + aside.y, b.x + aside.x,
                          b.y + aside.y, b.x, b.y);
      middle.x += 0.75 * aside.x;
      middle.y += 0.75 * aside.y;
    } else {
      path += fmt::format(" L{:.1f} {:.1f}", b.x, b.y);
    }
    const std::string_view direction = cable.there && cable.back ? " - " : cable.there ? " > " : " < ";
    out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"><title>{}</title></path>\n",
                        path, color(cable.cost), radius_ < 6 ? 0.8 : 1.6,
                        escaped(fmt::format("{}{}{}: {}", fabric_.nodes[cable.a].name, direction,
                                            fabric_.nodes[cable.b].name, cable.cost)));
    if (cable.there && cable.back) return;
    const double sign = cable.there ? 1 : -1;
    const Point ahead{sign * (b.x - a.x) / length * 7, sign * (b.y - a.y) / length * 7};
    out_ += fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"{}\"/>\n",
                        middle.x + ahead.x, middle.y + ahead.y, middle.x - ahead.y / 2, middle.y + ahead.x / 2,
                        middle.x + ahead.y / 2, middle.y - ahead.x / 2, color(cable.cost));
  }

  void draw_node(std::size_t number) {
    const Node& node = fabric_.nodes[number];
    const Point at = place(number);
    const std::string& ranks = labels_[number];
    out_ += fmt::format("<g><title>{}</title>",
                        escaped(ranks.empty() ? node.name : fmt::format("{}: rank {}", node.name, ranks)));
    if (node.is_switch) {
      const double half = 0.85 * radius_;
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" fill=\"{}\" "
          "stroke=\"#555555\"/>",
          at.x - half, at.y - half, 2 * half, 2 * half, half / 4, node.multicast ? "#ee9955" : "#eeddbb");
    } else {
      out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"#223344\"/>", at.x,
                          at.y, radius_, ranks.empty() ? "#ffffff" : "#ddeeff");
    }
    const double size = std::min(11.0, 2.6 * radius_ / std::max<double>(2, static_cast<double>(ranks.size())));
    if (!ranks.empty() && size >= 4)
      out_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{:.1f}\" "
          "fill=\"#222222\">{}</text>",
          at.x, at.y + 0.36 * size, size, ranks);
    constexpr std::size_t kMostNamed = 100;
    if (node.is_switch && fabric_.nodes.size() <= kMostNamed && radius_ >= 8)
      out_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#555555\" "
          "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
          at.x, at.y + 0.85 * radius_ + 10, escaped(node.name));
    out_ += "</g>\n";
  }

  void draw_legend() {
    double y = bottom_ + kLine;
    for (const std::string& cost : costs_) {
      out_ += fmt::format(
          "<line x1=\"16\" y1=\"{0:.1f}\" x2=\"40\" y2=\"{0:.1f}\" stroke=\"{1}\" stroke-width=\"2\"/>"
          "<text x=\"48\" y=\"{2:.1f}\" fill=\"#444444\">{3}</text>\n",
          y - 4, color(cost), y, escaped(cost));
      y += kLine;
    }
  }

  const Fabric& fabric_;
  std::vector<Cable> cables_;
  std::vector<std::string> labels_;
  std::vector<std::string> costs_;  // in the order of the legend
  std::vector<Point> on_curves_;    // that are drawn
  double left_ = 0;
  double top_ = 0;
  double scale_ = 1;  // from the units of nodes' places to those of the picture
  double radius_ = 1;
  double width_ = 0;
  double indent_ = 0;
  double top_of_nodes_ = 0;
  double bottom_ = 0;
  std::vector<std::string> remark_;  // in lines
  std::string out_;
};

}  // namespace

std::string fabric_to_svg(const Fabric& fabric, const std::string& remark) {
  const std::optional<RailGrid> grid = rail_grid_of(fabric);
  return grid ? rails_to_svg(fabric, *grid) : Drawing(fabric, remark).draw();
}

}  // namespace tutti::report
