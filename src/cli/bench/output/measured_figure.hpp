// SPDX-License-Identifier: Apache-2.0
// Pictures of rows of results: lines over sizes, or bars where there are none. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/results/result.hpp"
#include "bench/store/store.hpp"
#include "cli/bench/output/measured_charts.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

// The charts of the rows. What is left out of them, the picture says. `run` is whose rows these are: its number (0:
// none), date, command and machine stand below the title.
[[nodiscard]] std::string measured_to_svg(const std::vector<harness::Row>& rows, const harness::StoredRun& run,
                                          Quantity quantity);

// The file of --figure; empty where it was not asked for, and then neither does anything. The first is for before
// anything is measured: whether it can be written, and is not the file of -o.
[[nodiscard]] Status check_figure(const std::string& path, const OutputOptions& output);
[[nodiscard]] Status write_figure(const std::string& path, const std::vector<harness::Row>& rows,
                                  const harness::StoredRun& run, Quantity quantity, const Context& context);

inline constexpr const char* kFigureHelp = "Also: a picture (SVG) of times over sizes, or bars where there are none";

}  // namespace tutti::cli
