// SPDX-License-Identifier: Apache-2.0
#include "simulate/explain/reason.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace tutti::simulate {

namespace {

constexpr std::array<std::string_view, kNumShares> kWhere = {"of launching and finishing",
                                                             "of overheads of messages and posts",
                                                             "of latencies of links",
                                                             "of bytes crossing links",
                                                             "of waiting for links",
                                                             "of waiting for cores",
                                                             "of waiting for peers to take messages",
                                                             "of copying",
                                                             "of reducing"};
// Parts of the difference that are smaller than this explain nothing.
constexpr double kWorthSaying = 0.05;

std::string list_of(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

}  // namespace

std::string why_faster(const Named& faster, const Named& slower) {
  const double gain = slower.answer.time - faster.answer.time;
  std::string text = fmt::format("{} takes {:.4g} us, {} {:.4g} us", faster.name, faster.answer.time / 1e3, slower.name,
                                 slower.answer.time / 1e3);
  if (gain <= 0) return text + ": they are alike";
  if (faster.answer.time > 0) text += fmt::format(" ({:.3g} times that)", slower.answer.time / faster.answer.time);
  struct Part {
    std::size_t share;
    double less;
  };
  std::vector<Part> parts;
  for (std::size_t share = 0; share < kNumShares; ++share) {
    const auto which = static_cast<Share>(share);
    parts.push_back({share, slower.answer.shares.of(which) - faster.answer.shares.of(which)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return std::abs(a.less) > std::abs(b.less); });
  std::vector<std::string> less;
  std::vector<std::string> more;
  for (const Part& part : parts) {
    if (std::abs(part.less) < gain * kWorthSaying) continue;
    (part.less > 0 ? less : more).push_back(fmt::format("{:.4g} us {}", std::abs(part.less) / 1e3, kWhere[part.share]));
  }
  text += fmt::format(": on the way to the last rank it saves {}", list_of(less));
  if (!more.empty()) text += fmt::format(", and spends {} more", list_of(more));
  return text;
}

}  // namespace tutti::simulate
