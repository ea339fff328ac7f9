// SPDX-License-Identifier: Apache-2.0
// The numbers of the machine profile: whether any of its sections is better as another shipped profile has it. Main
// thread only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/toml/document.hpp"
#include "cli/tune/peer_track.hpp"
#include "table/decision_table.hpp"
#include "tune/cells.hpp"

namespace tutti::cli {

// Numbers that may overrule those of the profile.
struct NumberChange {
  std::string name;  // "spread as amd_epyc has it"
  std::string section;
  document::TomlTable numbers;
};
// Every section of other shipped profiles that the base has otherwise.
[[nodiscard]] std::vector<NumberChange> changes_of(std::string_view base_profile);

struct NumbersResult {
  document::TomlTable numbers;     // what is better; none: the profile's own are
  std::vector<std::string> taken;  // names of changes
  double gain = 1;                 // with them, geometric mean over the cases
};
// With the table in force. Each change races at the sizes; those that look better are taken one after another, if all
// together stay better in new processes and no size gets slower by more than a little.
[[nodiscard]] NumbersResult tune_numbers(const DecisionTable& table, std::vector<NumberChange> changes,
                                         std::span<const tune::Cell> cells, double seconds, PeerTrack& track,
                                         const harness::MeasureOptions& measure,
                                         const std::function<void(const std::string&)>& tell);

}  // namespace tutti::cli
