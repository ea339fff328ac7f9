// Pictures of what `tutti simulate` answers. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/against.hpp"

namespace tutti::cli {

struct SimulatedTime {
  std::string fabric;
  std::string collective;
  std::string algorithm;
  std::uint64_t bytes = 0;
  double microseconds = 0;
};

// Times over sizes: a panel a collective, a line for each algorithm on each fabric. Sizes of 0 have no place there.
[[nodiscard]] std::string times_to_svg(const std::vector<SimulatedTime>& times);

// Figures of a file, each beside what is simulated in its place. Series of several sizes are lines, a panel for each
// group of them; those of one or two are bars.
[[nodiscard]] std::string comparison_to_svg(const std::vector<simulate::Compared>& all,
                                            const simulate::References& references);

}  // namespace tutti::cli
