// SPDX-License-Identifier: Apache-2.0
// Rows of measurements as charts: the one description that both pictures (measured_figure.hpp) and pages draw. Pure;
// thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/results/result.hpp"
#include "report/chart.hpp"

namespace tutti::cli {

enum class Quantity { time, bus_bandwidth };

// Rows that belong together. Where several are in one chart, the name says in front of a competitor whose it is.
struct MeasuredRows {
  std::span<const harness::Row> rows;
  std::string name = {};
  std::string command = {};  // that measured them
};

// Panels, lines of a panel and bars beyond these are left out.
struct MostDrawn {
  std::size_t panels = 12;
  std::size_t lines = 40;
  std::size_t bars = 60;
};

// A line for each competitor (peer, algorithm, and the settings in which they differ) with the intervals of its values,
// a panel for each set of the other axes and numbers of ranks; bars where there are no sizes. Neither has a title.
struct MeasuredCharts {
  report::LineChart lines;
  report::BarChart bars;
  std::string bench;       // or "several benches"
  std::string conditions;  // that all share: "num_ranks=2, type=f32"
  bool is_empty = false;
  bool has_sizes = false;
  bool is_reckoned = false;           // all are in virtual time
  std::vector<std::string> left_out;  // "3 rows without times"
};
[[nodiscard]] MeasuredCharts measured_charts(std::span<const MeasuredRows> measured, Quantity quantity,
                                             const MostDrawn& most = {});

}  // namespace tutti::cli
