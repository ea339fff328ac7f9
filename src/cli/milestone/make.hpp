// SPDX-License-Identifier: Apache-2.0
// Makes the rows of a milestone's parts: the missing ones, or all anew if none is missing. Main thread only; several
// threads of its own make the cases in virtual time.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.hpp"
#include "cli/milestone/folder.hpp"
#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

struct Making {
  std::size_t num_cases = 0;   // of all requested parts
  std::size_t num_before = 0;  // that were there
  std::size_t num_made = 0;
  bool is_interrupted = false;
};

[[nodiscard]] Result<Making> make_rows(const Milestone& milestone, const std::vector<const Part*>& parts,
                                       const MilestoneFolder& folder, bool is_full, const BenchWorld& world,
                                       const Context& context);

}  // namespace tutti::cli
