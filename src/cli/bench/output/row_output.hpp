// SPDX-License-Identifier: Apache-2.0
// Rows of results as the options of output ask for them. Pure but for warnings; main thread only.
#pragma once

#include <string>
#include <vector>

#include "bench/results/result.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

// Their table, or the layout of nccl-tests; what that has no place for is told as a warning.
[[nodiscard]] std::string rendered_rows(const std::vector<harness::Row>& rows, const OutputOptions& options,
                                        const Context& context);

}  // namespace tutti::cli
