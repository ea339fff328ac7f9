// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/regret/rank_predictions.hpp"

#include <optional>

#include "cli/tune/results/results_input.hpp"

namespace tutti::cli {

std::vector<tune::MachineCell> predicted_cells(const simulate::References& references,
                                               std::span<const simulate::BlindTime> times,
                                               simulate::Predictor predictor) {
  constexpr double kNanosecondsInMicrosecond = 1000;
  std::vector<tune::Timing> timings;
  for (const simulate::BlindTime& time : times) {
    const std::optional<SeriesNames> names = names_of(*time.series);
    if (!names) continue;
    const double predicted = time.times[static_cast<std::size_t>(predictor)];
    timings.push_back({.machine = names->machine,
                       .peer = {},
                       .key = {.collective = references.collective,
                               .ranks = names->ranks,
                               .memory = {},
                               .types = class_of(references.type)},
                       .bytes = time.bytes,
                       .time = {.way = {.algorithm = names->way, .tuning = {}, .settings = {}},
                                .us = predicted * references.nanoseconds / kNanosecondsInMicrosecond}});
  }
  std::size_t repeated = 0;
  return tune::cells_of(timings, repeated);
}

}  // namespace tutti::cli
