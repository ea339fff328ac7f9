// SPDX-License-Identifier: Apache-2.0
#include "calibrate/steadiness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::calibrate {

namespace {

bool are_alike(double a, double b) { return std::max(a, b) <= kSteady * std::min(a, b); }

double middle_of(const Mark& mark) { return std::sqrt(mark.before * mark.after); }

}  // namespace

Steadiness steadiness_of(std::span<const Mark> marks) {
  Steadiness found;
  if (marks.empty()) return found;
  found.least = std::numeric_limits<double>::infinity();
  for (const Mark& mark : marks) {
    found.least = std::min({found.least, mark.before, mark.after});
    found.greatest = std::max({found.greatest, mark.before, mark.after});
  }
  const auto kept_still = [](const Mark& mark) { return are_alike(mark.before, mark.after); };
  for (const Mark& centre : marks) {
    if (!kept_still(centre)) continue;
    std::vector<std::size_t> alike;
    for (std::size_t pass = 0; pass < marks.size(); ++pass)
      if (kept_still(marks[pass]) && are_alike(middle_of(marks[pass]), middle_of(centre))) alike.push_back(pass);
    const bool is_better =
        alike.size() > found.passes.size() || (alike.size() == found.passes.size() && middle_of(centre) < found.mark);
    if (!is_better) continue;
    found.passes = std::move(alike);
    found.mark = middle_of(centre);
    found.is_steady = true;
  }
  if (found.is_steady) return found;
  for (std::size_t pass = 0; pass < marks.size(); ++pass) found.passes.push_back(pass);
  found.mark = std::sqrt(found.least * found.greatest);
  return found;
}

}  // namespace tutti::calibrate
