// SPDX-License-Identifier: Apache-2.0
// Sweeps as TOML files (docs/formats/sweep.md): the same words as on the command line, which comes before them. Main
// thread only.
#pragma once

#include <string>

#include "base/status.hpp"
#include "cli/bench/sweep/sweep_options.hpp"

namespace tutti::cli {

// Adds what the file says to the options, in front of what they say themselves.
[[nodiscard]] Status read_sweep_file(const std::string& path, SweepOptions& options);

}  // namespace tutti::cli
