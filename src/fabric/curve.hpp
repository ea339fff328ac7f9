// SPDX-License-Identifier: Apache-2.0
// A cost that depends on a size: points, with straight lines in log-log scale between them. As text "64:120ns
// 4K:1.1us". Plain values; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::fabric {

struct CurvePoint {
  std::uint64_t bytes = 0;  // at least 1
  double value = 0;         // more than 0: a time, or a rate
  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

inline constexpr std::size_t kMostCurvePoints = 64;

// Each point's size is greater than that of the one before.
struct Curve {
  std::vector<CurvePoint> points;

  [[nodiscard]] bool empty() const { return points.empty(); }
  friend bool operator==(const Curve&, const Curve&) = default;
};

// Of a curve of times. Less than the first point takes as long as that; beyond the last the time grows with the bytes.
// Nothing takes no time, and without points all does.
[[nodiscard]] double time_of(const Curve& curve, double bytes);

// Of a curve of rates, which stay as they are on both sides; 0, which is no limit, without points.
[[nodiscard]] double rate_at(const Curve& curve, double bytes);

}  // namespace tutti::fabric
