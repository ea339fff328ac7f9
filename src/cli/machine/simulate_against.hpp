// SPDX-License-Identifier: Apache-2.0
// `tutti simulate --against FILE`: figures of a file of references, each beside what is simulated in its place.
#pragma once

#include <string>

#include "base/status.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

struct Against {
  // Every figure with its error, and what that is worth; of formats for programs the figures only.
  std::string text;
  std::string figure;  // SVG; empty where it was not asked for
};
[[nodiscard]] Result<Against> against(const std::string& path, const OutputOptions& output, bool with_figure);

// `--uncertainty`: how far each fitted parameter may be moved, and which bars say so.
[[nodiscard]] Result<std::string> uncertainty(const std::string& path, const OutputOptions& output);

}  // namespace tutti::cli
