// SPDX-License-Identifier: Apache-2.0
// Everything of a milestone that follows from its rows: figures, tables, the page and the index. The same rows give the
// same files, byte for byte. Main thread only.
#pragma once

#include "base/status.hpp"
#include "cli/milestone/folder.hpp"
#include "cli/milestone/index.hpp"
#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

// Draws all parts whose rows are in the folder and can be read. An error if there are none.
[[nodiscard]] Result<Drawn> draw_milestone(const Milestone& milestone, const MilestoneFolder& folder,
                                           const Context& context);

}  // namespace tutti::cli
