// SPDX-License-Identifier: Apache-2.0
// `tutti simulate --workload`: the calls of a program on a fabric, each by its fastest algorithm. Used by the main
// thread only.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "fabric/fabric.hpp"

namespace tutti::cli {

struct WorkloadArguments {
  std::string path;
  std::vector<std::string> asked;  // fabrics, as they were asked for
  std::vector<fabric::Fabric> fabrics;
  bool no_correction = false;
  OutputOptions output;
};

[[nodiscard]] Result<Exit> simulate_workload(const WorkloadArguments& arguments, const Context& context);

}  // namespace tutti::cli
