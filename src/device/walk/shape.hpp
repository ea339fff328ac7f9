// SPDX-License-Identifier: Apache-2.0
// How a call is spread over channels and rounds: pure arithmetic on values.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "device/walk/program.hpp"

namespace tutti::device {

// Of one rank on its device. The default of `channels` follows from the device (most_channels in device_rank.cpp).
struct Limits {
  std::uint32_t channels = 1;       // the most that all run at the same time
  std::uint32_t threads = 512;      // of a channel; a power of two
  std::uint64_t channel_bytes = 0;  // bytes of a block for each channel of a call; 0: always all channels
  std::uint64_t slots_bytes = 0;    // of a channel
  std::uint64_t scratch_bytes = 0;  // of a channel
};

struct Shape {
  std::uint32_t channels = 1;
  std::uint64_t window = 1;  // elements
  std::uint64_t num_rounds = 1;
  std::uint32_t tile_shift = kNoTiles;
  std::uint64_t slot_stride = 0;
  std::uint64_t slot_bytes = 0;
};

// An error where a slot, or scratch, is too small for the pieces of the schedule.
[[nodiscard]] Result<Shape> shape_of(const WordPrograms& programs, std::uint64_t count, std::uint32_t element,
                                     const Limits& limits);

// What all ranks of a call have alike; the rest is the caller's to fill in.
[[nodiscard]] WalkCall walk_call_of(const WordPrograms& programs, const Shape& shape, std::uint64_t count,
                                    std::uint32_t element);

}  // namespace tutti::device
