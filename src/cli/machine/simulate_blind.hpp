// SPDX-License-Identifier: Apache-2.0
// The answer of `tutti simulate --against FILE --leave-out`: how well what was left out is predicted. Pure but for
// reading the file.
#pragma once

#include <string>

#include "base/status.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "simulate/references/blind.hpp"

namespace tutti::cli {

// Tells of each fit on the context's error stream.
[[nodiscard]] Result<std::string> blind_test(const std::string& path, simulate::LeftOut what,
                                             const OutputOptions& output, const Context& context);

}  // namespace tutti::cli
