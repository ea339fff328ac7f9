// SPDX-License-Identifier: Apache-2.0
// The programs of a schedule as the plain structs that devices walk (words.hpp). A channel walks a round's steps in one
// fixed order: first the posts that begin a lane and wait for nothing, then the rest of each lane, one lane after
// another. Programs that cannot be walked so, or have other than direct steps, are refused with the reason. Immutable
// once made.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "device/walk/words.hpp"
#include "schedule/schedule.hpp"

namespace tutti::device {

struct WordProgram {
  std::vector<WordStep> steps;
  std::vector<WordEnd> ends;
};

struct WordPrograms {
  std::vector<WordProgram> ranks;
  bool by_name = false;
  std::uint32_t posts_per_round = 0;
  std::uint32_t exposes_per_round = 0;
  std::uint32_t widest_expose = 0;  // pieces
  std::uint32_t scratch_blocks = 0;
  std::uint32_t pieces = 1;
};

// `by_name`: exposed data are read where they lie, which prove must have found safe. Schedules that open memory are
// always by name.
[[nodiscard]] Result<WordPrograms> make_word_programs(const Schedule& schedule, bool by_name);

}  // namespace tutti::device
