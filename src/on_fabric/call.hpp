// SPDX-License-Identifier: Apache-2.0
// A collective on a simulated fabric. Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "schedule/collective.hpp"
#include "table/decision_table.hpp"

namespace tutti::on_fabric {

struct Call {
  Collective collective = Collective::all_reduce;
  std::uint64_t element_size = 1;
  std::uint64_t count = 0;  // elements of a block
  // Where blocks differ in size, instead: of each size class (schedule/prove/definition.hpp).
  std::vector<std::uint64_t> counts = {};
  std::uint64_t message_bytes = 0;  // of all blocks, as nccl-tests counts
  std::uint32_t root = 0;
  bool in_place = false;
  bool symmetric = false;              // the buffers are in symmetric memory
  TypeClass types = TypeClass::plain;  // for tables

  [[nodiscard]] auto key() const {
    return std::tie(collective, element_size, count, counts, message_bytes, root, in_place, symmetric, types);
  }
  friend bool operator<(const Call& left, const Call& right) { return left.key() < right.key(); }
};

// What a fabric cannot do.
[[nodiscard]] inline Status not_here(std::string words) { return {Code::unsupported, std::move(words)}; }

}  // namespace tutti::on_fabric
