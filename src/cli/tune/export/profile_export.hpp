// SPDX-License-Identifier: Apache-2.0
// A decision table of Tutti's own as a machine profile: what was measured on one machine as rules for its kind. So the
// profiles that ship are made. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "runtime/selection/machine_profile.hpp"
#include "table/decision_table.hpp"

namespace tutti::cli {

struct ExportedProfile {
  MachineProfile profile;
  std::vector<std::string> left_out;  // what rules cannot say of the table: a line each
};

// Over the profile that the table was tuned with: its numbers and its rules stay where the table says nothing. A rule
// holds for the numbers of ranks to which its section is nearest, and at most for twice as many. `name` is the new
// one's.
[[nodiscard]] Result<ExportedProfile> export_to_profile(const DecisionTable& table, const MachineProfile& base,
                                                        const std::string& name);

}  // namespace tutti::cli
