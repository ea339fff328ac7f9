// SPDX-License-Identifier: Apache-2.0
#include "report/line_styles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tutti::report {

namespace {

static_assert(kMostColored == kStyles.size());

// The sizes at which a name has the best figure of all.
std::map<std::string, std::size_t> wins_of(const LinePanel& panel) {
  std::map<double, std::pair<double, std::string>> best;  // by size
  const bool is_lower = panel.better == Better::lower;
  for (const Line& line : panel.lines)
    for (const Point& point : line.points) {
      if (!is_drawn(panel, point)) continue;
      const auto [found, is_new] = best.try_emplace(point.x, point.y, line.name);
      if (!is_new && (is_lower ? point.y < found->second.first : point.y > found->second.first))
        found->second = {point.y, line.name};
    }
  std::map<std::string, std::size_t> wins;
  for (const auto& [size, winner] : best) ++wins[winner.second];
  return wins;
}

// Those that are best most often first; as many as there are styles.
std::vector<std::string> with_style(const LinePanel& panel) {
  std::vector<std::string> names = names_of(panel);
  if (names.size() <= kStyles.size()) return names;
  std::vector<std::string> first;
  for (const std::string& each : panel.first)
    if (first.size() < kStyles.size() && std::find(names.begin(), names.end(), each) != names.end())
      first.push_back(each);
  if (!first.empty()) return first;
  std::map<std::string, std::size_t> wins = wins_of(panel);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return wins[a] > wins[b]; });
  const auto winners =
      std::count_if(names.begin(), names.end(), [&](const std::string& name) { return wins[name] > 0; });
  names.resize(std::clamp<std::size_t>(static_cast<std::size_t>(winners), 1, kStyles.size()));
  return names;
}

}  // namespace

bool is_drawn(const LinePanel& panel, const Point& point) {
  return std::isfinite(point.y) && point.x > 0 && (panel.y_scale == Scale::linear || point.y > 0);
}

std::vector<std::string> names_of(const LinePanel& panel) {
  std::vector<std::string> names;
  for (const Line& line : panel.lines) {
    const bool is_there =
        std::any_of(line.points.begin(), line.points.end(), [&](const Point& point) { return is_drawn(panel, point); });
    if (is_there && std::find(names.begin(), names.end(), line.name) == names.end()) names.push_back(line.name);
  }
  return names;
}

std::vector<StylesOfLines> styles_of(const std::vector<LinePanel>& panels) {
  std::map<std::string, std::size_t> usual;
  std::vector<StylesOfLines> all;
  for (const LinePanel& panel : panels) {
    StylesOfLines& styles = all.emplace_back();
    for (const std::string& name : names_of(panel)) styles[name] = std::nullopt;
    std::set<std::size_t> taken;
    const std::vector<std::string> chosen = with_style(panel);
    const auto give = [&](const std::string& name, std::size_t number) {
      styles[name] = kStyles.at(number);
      taken.insert(number);
    };
    for (const std::string& name : chosen)
      if (const auto found = usual.find(name); found != usual.end() && !taken.contains(found->second))
        give(name, found->second);
    for (const std::string& name : chosen) {
      if (styles[name]) continue;
      std::size_t number = 0;
      // One that no other name has, where there is one.
      const auto is_free = [&](std::size_t each) {
        return !taken.contains(each) &&
               std::none_of(usual.begin(), usual.end(), [&](const auto& other) { return other.second == each; });
      };
      while (number < kStyles.size() && !is_free(number)) ++number;
      if (number == kStyles.size())
        for (number = 0; taken.contains(number);) ++number;
      usual.try_emplace(name, number);
      give(name, number);
    }
  }
  return all;
}

}  // namespace tutti::report
