// SPDX-License-Identifier: Apache-2.0
// What a rank shares with the others of its own accord: flags, slots and scratch, one behind the other. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/walk/shape.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

struct RegionLayout {
  std::uint64_t slots = 0;
  std::uint64_t scratch = 0;
  std::uint64_t bytes = 0;

  // `buffers`: from where on entries say where buffers lie.
  [[nodiscard]] Peer peer(std::byte* base, const std::byte* buffers) const {
    return {reinterpret_cast<Entry*>(base), base + slots, base + scratch, reinterpret_cast<std::uintptr_t>(buffers)};
  }
};

[[nodiscard]] inline RegionLayout region_layout(std::uint32_t num_ranks, const Limits& limits) {
  constexpr std::uint64_t kAligned = 4096;
  const auto aligned = [](std::uint64_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; };
  RegionLayout layout;
  layout.slots = aligned(std::uint64_t{limits.channels} * num_ranks * sizeof(Entry));
  layout.scratch = layout.slots + aligned(limits.channels * limits.slots_bytes);
  layout.bytes = layout.scratch + aligned(limits.channels * limits.scratch_bytes);
  return layout;
}

}  // namespace tutti::device
