// SPDX-License-Identifier: Apache-2.0
// The variables that a sweep sets: --env and --env-zip of the command line and of a sweep's file, as axes. Main thread
// only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/axes/case.hpp"
#include "cli/bench/sweep/sweep_options.hpp"

namespace tutti::cli {

// Appends them to what the bench declares. For the same variables, a file overrides the bench, and the command line
// overrides both. `given` is what the command line says, and `options` have the file's texts in front of it. An unknown
// name is a warning; a value that a variable of Tutti does not allow is an error.
[[nodiscard]] Status add_environments(const SweepOptions& given, const SweepOptions& options, harness::Sweep& sweep,
                                      std::vector<std::string>& warnings);

}  // namespace tutti::cli
