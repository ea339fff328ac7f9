// SPDX-License-Identifier: Apache-2.0
// Environments as a file that POSIX shells read: the best one for all sizes, or with BYTES set that for this size.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/tune/program/settings_race.hpp"

namespace tutti::cli {

struct ShellFile {
  std::vector<std::string> remarks;  // at its head, a line each
  Settings overall;                  // empty: as it is
  std::vector<std::pair<std::uint64_t, Settings>>
      by_size;  // up to so many bytes; in ascending order, the last one for all above
};

// Values are quoted, whatever they hold.
[[nodiscard]] std::string to_text(const ShellFile& file);

// From sizes to ranges: neighbours with one environment are one, and between two the geometric mean is the limit. None
// where a size is there more than once with different environments, as of several types: BYTES does not tell them
// apart.
[[nodiscard]] std::vector<std::pair<std::uint64_t, Settings>> ranges_of(std::span<const BestSettings> best,
                                                                        const std::vector<Settings>& settings);

}  // namespace tutti::cli
