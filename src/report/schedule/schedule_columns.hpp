// SPDX-License-Identifier: Apache-2.0
// Which units of time a picture of a schedule shows: all of them where there is room, else those that are not like the
// ones before them. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/programs.hpp"
#include "schedule/timeline/timeline.hpp"

namespace tutti::report {

// Neighbouring units that are shown, and how many come behind them that are not.
struct ShownColumns {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t num_left_out = 0;
  bool is_repeated = false;  // those that are left out repeat the last ones before them
};

// At most about `most` units. `signatures` has one value a unit, equal where ranks do the same.
[[nodiscard]] std::vector<ShownColumns> columns_to_show(const std::vector<std::uint64_t>& signatures,
                                                        std::uint32_t most);

// Of each unit: what every rank does, and with whom, whatever pieces it is about.
[[nodiscard]] std::vector<std::uint64_t> signatures_of(const Programs& programs, const Timeline& timeline);

}  // namespace tutti::report
