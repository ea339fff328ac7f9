// The variables that a sweep sets: --env and --env-zip of the command line and of a sweep's file, as axes. Main thread
// only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/case.hpp"
#include "cli/sweep_options.hpp"

namespace tutti::cli {

// Puts them behind what the bench declares; of the same variables, a file goes before the bench, and the command line
// before both. `given` is what the command line says, and `options` have the file's texts in front of it. Names that
// nothing reads are warned of, and a value that a variable of Tutti does not allow is an error.
[[nodiscard]] Status add_environments(const SweepOptions& given, const SweepOptions& options, harness::Sweep& sweep,
                                      std::vector<std::string>& warnings);

}  // namespace tutti::cli
