// `tutti simulate --against FILE`: figures of a file of references, each beside what is simulated in its place.
#pragma once

#include <string>

#include "base/status.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

// Every figure with its error, and what that is worth; of formats for programs the figures only.
[[nodiscard]] Result<std::string> against(const std::string& path, const OutputOptions& output);

}  // namespace tutti::cli
