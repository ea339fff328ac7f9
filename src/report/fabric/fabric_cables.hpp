// SPDX-License-Identifier: Apache-2.0
// The links of a fabric as pictures have them. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"

namespace tutti::report {

// Both directions between two nodes; a direction without a link has none.
struct Cable {
  std::uint32_t a = 0;  // the lesser
  std::uint32_t b = 0;
  bool there = false;
  bool back = false;
  std::string cost;
};

// Links that differ in cost are cables of their own.
[[nodiscard]] std::vector<Cable> cables_of(const fabric::Fabric& fabric);

}  // namespace tutti::report
