// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/near.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace tutti::simulate {

namespace {

struct Point {
  double x = 0;
  double y = 0;
};

// Of points in the order of their x.
double value_at(const std::vector<Point>& points, double x, Near how) {
  if (points.size() == 1) return points.front().y;
  if (how == Near::nearest)
    return std::min_element(points.begin(), points.end(),
                            [&](const Point& a, const Point& b) { return std::abs(a.x - x) < std::abs(b.x - x); })
        ->y;
  auto right =
      std::lower_bound(points.begin(), points.end(), x, [](const Point& point, double at) { return point.x < at; });
  right = std::clamp(right, points.begin() + 1, points.end() - 1);
  const Point& left = *(right - 1);
  return left.y + (right->y - left.y) * (x - left.x) / (right->x - left.x);
}

}  // namespace

std::optional<double> value_near(std::span<const Known> known, std::uint32_t ranks, std::uint64_t bytes, Near how) {
  const auto place = [&](double number) { return how == Near::linear ? number : std::log(number); };
  std::map<std::uint32_t, std::map<double, double>> by_ranks;
  for (const Known& each : known)
    by_ranks[each.ranks][place(static_cast<double>(each.bytes))] =
        how == Near::log_log ? std::log(each.value) : each.value;
  if (by_ranks.empty()) return std::nullopt;
  std::vector<Point> over_ranks;
  for (const auto& [number, sizes] : by_ranks) {
    std::vector<Point> over_sizes;
    for (const auto& [x, y] : sizes) over_sizes.push_back({x, y});
    over_ranks.push_back({place(number), value_at(over_sizes, place(static_cast<double>(bytes)), how)});
  }
  const double value = value_at(over_ranks, place(ranks), how);
  return how == Near::log_log ? std::exp(value) : value;
}

}  // namespace tutti::simulate
