// SPDX-License-Identifier: Apache-2.0
#include "fabric/curve.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::fabric {

namespace {

// Between the first and the last point.
double between(const Curve& curve, double bytes) {
  const auto after = std::upper_bound(curve.points.begin(), curve.points.end(), bytes,
                                      [](double size, const CurvePoint& point) { return size < double(point.bytes); });
  if (after == curve.points.end()) return curve.points.back().value;
  const CurvePoint& high = *after;
  const CurvePoint& low = *(after - 1);
  if (double(low.bytes) == bytes) return low.value;
  const double share = std::log(bytes / double(low.bytes)) / std::log(double(high.bytes) / double(low.bytes));
  return low.value * std::pow(high.value / low.value, share);
}

}  // namespace

double time_of(const Curve& curve, double bytes) {
  if (curve.empty() || bytes <= 0) return 0;
  const CurvePoint& last = curve.points.back();
  if (bytes <= double(curve.points.front().bytes)) return curve.points.front().value;
  if (bytes >= double(last.bytes)) return last.value * (bytes / double(last.bytes));
  return between(curve, bytes);
}

double rate_at(const Curve& curve, double bytes) {
  if (curve.empty()) return 0;
  if (bytes <= double(curve.points.front().bytes)) return curve.points.front().value;
  if (bytes >= double(curve.points.back().bytes)) return curve.points.back().value;
  return between(curve, bytes);
}

}  // namespace tutti::fabric
