// SPDX-License-Identifier: Apache-2.0
// Names of options that mean the same. A command lists one of them and also accepts the other, as do sweep files.
// Constants.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace tutti::cli {

inline constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherNames = {
    {{"num-ranks", "ranks"},
     {"peer", "peers"},
     {"bench", "collective"},
     {"timeout", "limit"},
     {"start-timeout", "start-limit"},
     {"figure", "figures"}}};

// The other name of what `name` means; empty where there is none.
[[nodiscard]] inline std::string_view other_name(std::string_view name) {
  for (const auto& [one, other] : kOtherNames) {
    if (same_name(name, one)) return other;
    if (same_name(name, other)) return one;
  }
  return {};
}

}  // namespace tutti::cli
