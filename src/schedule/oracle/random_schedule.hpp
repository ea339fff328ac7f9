// SPDX-License-Identifier: Apache-2.0
// Random all-reduce schedules that are right by construction, for differential tests: whatever walks schedules has to
// walk these as execution on numbers does, and prove has to pass them all.
//
// The same seed gives the same schedule on every machine. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "schedule/schedule.hpp"

namespace tutti {

enum class Family : std::uint8_t {
  messages,   // one lane: a random tree for each run of pieces, reduced to its root and handed out from there
  exchange,   // lane 0 exposes runs of the input, lane 1 pulls and folds all ranks' in random order
  symmetric,  // each run has an owner that folds everybody's and stores the result into every rank's output
  lanes,      // as messages, but each connection is in the care of one lane or another, ordered by After
};
inline constexpr int kNumFamilies = 4;

[[nodiscard]] std::string_view name_of(Family family);

// An all-reduce of one block. It promises the uniform order class where it keeps it and free otherwise.
[[nodiscard]] Schedule random_schedule(std::uint64_t seed, Family family, std::uint32_t num_ranks);

}  // namespace tutti
