// SPDX-License-Identifier: Apache-2.0
// Operations on the units of a machine in virtual time. A unit does one at a time, in the order in which they can
// begin: when those that they come after have ended. A queue between two units with so many slots is such an order,
// too: who fills a slot comes after who has emptied it. Bytes cross the fabric's links by the same rules, events and
// account as messages do. Deterministic, pure, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "simulate/network/network.hpp"

namespace tutti::simulate {

inline constexpr std::uint32_t kNoOperation = UINT32_MAX;

struct Operation {
  std::uint32_t unit = 0;
  double work = 0;                                                                  // first the unit is busy with this
  double bytes = 0;                                                                 // and then until these have crossed
  std::span<const std::uint32_t> links = {};                                        // borrowed
  std::array<std::uint32_t, 3> after = {kNoOperation, kNoOperation, kNoOperation};  // operations before it in the list
};

struct Ran {
  double begin = 0;
  double end = 0;
};

struct Operated {
  std::vector<Ran> operations;  // each of them
  std::vector<LinkUse> links = {};
  std::uint64_t events = 0;
};

// Less than kNoOperation of them. Only the links of the fabric matter.
[[nodiscard]] Operated operate(std::span<const Operation> operations, std::uint32_t num_units,
                               const fabric::Fabric& fabric);

}  // namespace tutti::simulate
