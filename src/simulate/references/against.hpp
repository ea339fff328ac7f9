// SPDX-License-Identifier: Apache-2.0
// Figures beside what the simulator says in their place, and what that is worth. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/references.hpp"

namespace tutti::simulate {

// One figure.
struct Compared {
  const Series* series = nullptr;
  std::uint64_t bytes = 0;  // of a crossover 0
  double published = 0;     // times in the file's unit, gains in percent, crossovers in bytes
  std::optional<double> simulated = {};
  std::string_view best = {};  // the algorithm of the way that was the fastest
  bool is_left_out = false;

  // Of a time, as a share of it; of a gain, in points; of a crossover, in doublings.
  [[nodiscard]] double error() const;
};

// What a way's fabric is to be instead, in a line; for fits.
using Rewrite = std::function<std::string(const std::string& fabric)>;

// Every figure of the file, or of these series only (empty: all). Those that have no ways are not simulated.
[[nodiscard]] Result<std::vector<Compared>> compare(const References& references, std::span<const Series* const> only,
                                                    const Rewrite& rewrite);

struct Score {
  std::size_t cells = 0;      // that are simulated
  double median_error = 0;    // of their errors' absolute values
  double greatest_error = 0;  // likewise
  std::size_t contests = 0;   // series of a group with one size: of these
  std::size_t winners = 0;    // so many whose fastest is simulated as such, or is within kSameTime of that one
  std::size_t orders = 0;     // so many that are simulated in the order of the published times
};
// Of two published times that are so near each other neither is called the faster one.
inline constexpr double kSameTime = 0.03;

// Of one metric: those for which `counts` says so.
[[nodiscard]] Score score(std::span<const Compared> compared, Metric metric,
                          const std::function<bool(const Compared&)>& counts);

}  // namespace tutti::simulate
