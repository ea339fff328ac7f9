// SPDX-License-Identifier: Apache-2.0
// `tutti prove --file`: proves schedules that users have written down.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

// One row a file; the story of each that is wrong goes to context.error. misused where one cannot be read.
[[nodiscard]] Exit prove_files(const std::vector<std::string>& paths, const OutputOptions& output,
                               const Context& context);

}  // namespace tutti::cli
