// SPDX-License-Identifier: Apache-2.0
// Comparisons as the options of output ask for them: pairs with the first, or the best of each case. Main thread only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

// Whom the others are compared with, by number: the one of this name, the first where there is no name.
[[nodiscard]] Result<std::size_t> baseline_of(const std::vector<std::string>& competitors, const std::string& name);

// For people in lines that fit, unless the options ask for every column; the other formats have all.
[[nodiscard]] Status write_pairs(const harness::Comparison& comparison, const OutputOptions& options,
                                 const Context& context);
// In short, for each value of that column.
[[nodiscard]] Status write_by(const harness::Comparison& comparison, std::string_view column,
                              const OutputOptions& options, const Context& context);
[[nodiscard]] Status write_best(const harness::Comparison& comparison, std::size_t baseline,
                                const OutputOptions& options, const Context& context);

}  // namespace tutti::cli
