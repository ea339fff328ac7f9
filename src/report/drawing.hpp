// SPDX-License-Identifier: Apache-2.0
// Charts drawn into a picture, so that several can be in one. Pure; thread-safe.
#pragma once

#include "report/chart.hpp"
#include "report/picture.hpp"

namespace tutti::report {

struct Extent {
  double width = 0;
  double height = 0;
};

// Their sizes without title and remark, and their shapes below `top`.
[[nodiscard]] Extent extent_of(const LineChart& chart);
[[nodiscard]] Extent extent_of(const BarChart& chart);
void draw(Picture& picture, const LineChart& chart, double top);
void draw(Picture& picture, const BarChart& chart, double top);

}  // namespace tutti::report
