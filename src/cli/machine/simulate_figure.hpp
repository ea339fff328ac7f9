// SPDX-License-Identifier: Apache-2.0
// Pictures of what `tutti simulate` answers. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "simulate/references/against.hpp"

namespace tutti::cli {

struct SimulatedTime {
  std::string fabric;
  std::string collective;
  std::string algorithm;
  std::uint64_t bytes = 0;
  double microseconds = 0;
  std::optional<report::Range> range = {};  // of 90 %, where published times are near
};

// Times over sizes: a panel a collective, a line for each algorithm on each fabric. What has no size, such as a
// barrier, is a bar.
[[nodiscard]] std::string times_to_svg(const std::vector<SimulatedTime>& times);

// Figures of a file, each beside what is simulated in its place. Groups with several sizes are lines, a panel each;
// those with one or two are bars; crossovers are marks on an axis of sizes.
[[nodiscard]] std::string comparison_to_svg(const std::vector<simulate::Compared>& all,
                                            const simulate::References& references);

}  // namespace tutti::cli
