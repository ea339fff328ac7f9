// SPDX-License-Identifier: Apache-2.0
// The programs of a schedule as the words that devices walk (words.hpp). A channel walks a round's steps in one order,
// which is chosen here: all posts first where nothing keeps them, else the one lane there is. So it is for programs of
// direct steps that can be walked so; the others are refused with the reason. Immutable once made.
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

// `by_name`: what is exposed is read where it lies, which prove must have found safe; where something is opened it is
// so anyhow.
[[nodiscard]] Result<WordPrograms> make_word_programs(const Schedule& schedule, bool by_name);

}  // namespace tutti::device
