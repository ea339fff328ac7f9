// SPDX-License-Identifier: Apache-2.0
// Pictures of rows of results: lines over sizes, or bars where there are none. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/results/result.hpp"
#include "bench/store/store.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

enum class Quantity { time, bus_bandwidth };

// A line for each competitor (peer, algorithm, and the settings in which they differ) with the intervals of its values,
// a panel for each set of the other axes and numbers of ranks. Rows without times, and panels, lines or bars beyond
// what can be looked at, are left out, which the picture says. `run` is whose rows these are: its number (0: none),
// date, command and machine stand below the title.
[[nodiscard]] std::string measured_to_svg(const std::vector<harness::Row>& rows, const harness::StoredRun& run,
                                          Quantity quantity);

// The file of --figure; empty where it was not asked for, and then neither does anything. The first is for before
// anything is measured: whether it can be written, and is not the file of -o.
[[nodiscard]] Status check_figure(const std::string& path, const OutputOptions& output);
[[nodiscard]] Status write_figure(const std::string& path, const std::vector<harness::Row>& rows,
                                  const harness::StoredRun& run, Quantity quantity, const Context& context);

inline constexpr const char* kFigureHelp = "Also: a picture (SVG) of times over sizes, or bars where there are none";

}  // namespace tutti::cli
