// SPDX-License-Identifier: Apache-2.0
// `tutti simulate --file` of traces in GOAL: a row for each on each fabric. Used by the main thread only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "fabric/fabric.hpp"
#include "simulate/trace/trace.hpp"

namespace tutti::cli {

struct TracesArguments {
  std::vector<std::string> asked;  // fabrics, as they were asked for
  std::vector<fabric::Fabric> fabrics;
  std::vector<simulate::Trace> traces;
  bool transcript = false;
  std::string timeline;
  OutputOptions output;
};

[[nodiscard]] Result<Exit> simulate_traces(TracesArguments arguments, const Context& context);

}  // namespace tutti::cli
