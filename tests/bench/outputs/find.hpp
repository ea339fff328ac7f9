// SPDX-License-Identifier: Apache-2.0
// What tests ask of readings. Pure.
#pragma once

#include <algorithm>
#include <string_view>

#include "bench/outputs/reading.hpp"

namespace tutti::harness::testing {

// The value of that name; the word "none" where there is none.
inline Value value_of(const Reading& reading, std::string_view name) {
  const auto found =
      std::find_if(reading.values.begin(), reading.values.end(), [&](const auto& each) { return each.first == name; });
  return found == reading.values.end() ? Value("none") : found->second;
}

}  // namespace tutti::harness::testing
