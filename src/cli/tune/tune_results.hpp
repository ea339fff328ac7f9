// SPDX-License-Identifier: Apache-2.0
// `tutti tune --from`: a table of results that are there already. Main thread only.
#pragma once

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/tune/tune_request.hpp"

namespace tutti::cli {

[[nodiscard]] Status tune_from_results(const TuneOptions& options, const OutputOptions& output, const Context& context);

}  // namespace tutti::cli
