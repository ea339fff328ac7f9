// SPDX-License-Identifier: Apache-2.0
#include "device/walk/shape.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace tutti::device {

namespace {

constexpr std::uint64_t kAligned = 16;

std::uint64_t divide_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

// The bytes of a window when `places` of them, each with room to be aligned as its buffer is, share `bytes`.
Result<std::uint64_t> window_bytes(std::uint64_t bytes, std::uint64_t places, const char* what) {
  const std::uint64_t each = bytes / places / kAligned * kAligned;
  if (each >= 2 * kAligned) return each - kAligned;
  return Status(Code::unsupported,
                fmt::format("{} pieces do not fit the {} bytes of {} of a channel", places, bytes, what));
}

}  // namespace

Result<Shape> shape_of(const WordPrograms& programs, std::uint64_t count, std::uint32_t element, const Limits& limits) {
  Shape shape;
  const std::uint64_t piece = divide_up(count, programs.pieces);
  const std::uint64_t wanted = limits.channel_bytes == 0 ? limits.channels : count * element / limits.channel_bytes;
  shape.channels = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, limits.channels));
  if (programs.by_name && programs.scratch_blocks == 0) {
    // A thread has a chunk of each tile.
    const std::uint64_t tile = limits.threads * kAligned / element;
    shape.tile_shift = static_cast<std::uint32_t>(std::countr_zero(tile));
    shape.window = divide_up(std::max<std::uint64_t>(piece, 1), tile) * tile;
    const std::uint64_t tiles = divide_up(std::max<std::uint64_t>(count, 1), tile);
    shape.channels = static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.channels, tiles));
    shape.num_rounds = shape.channels;
    return shape;
  }
  const std::uint64_t fair = divide_up(std::max<std::uint64_t>(piece, 1), shape.channels) * element;
  std::uint64_t window = divide_up(fair, kAligned) * kAligned;
  if (!programs.by_name && programs.exposes_per_round > 0) {
    const std::uint64_t places = std::uint64_t{2} * programs.exposes_per_round * programs.widest_expose;
    TUTTI_TRY_ASSIGN(const std::uint64_t most, window_bytes(limits.slots_bytes, places, "slots"));
    window = std::min(window, most);
  }
  if (programs.scratch_blocks > 0) {
    const std::uint64_t places = std::uint64_t{programs.scratch_blocks} * programs.pieces;
    TUTTI_TRY_ASSIGN(const std::uint64_t most, window_bytes(limits.scratch_bytes, places, "scratch"));
    window = std::min(window, most);
  }
  shape.window = window / element;
  shape.num_rounds = piece == 0 ? 1 : divide_up(piece, shape.window);
  shape.channels = static_cast<std::uint32_t>(std::min<std::uint64_t>(shape.channels, shape.num_rounds));
  shape.slot_stride = window + kAligned;
  shape.slot_bytes = shape.slot_stride * programs.widest_expose;
  return shape;
}

WalkCall walk_call_of(const WordPrograms& programs, const Shape& shape, std::uint64_t count, std::uint32_t element) {
  return {.num_ranks = static_cast<std::uint32_t>(programs.ranks.size()),
          .posts_per_round = programs.posts_per_round,
          .exposes_per_round = programs.exposes_per_round,
          .pieces = programs.pieces,
          .element = element,
          .by_name = programs.by_name,
          .count = count,
          .piece = divide_up(count, programs.pieces),
          .window = shape.window,
          .num_rounds = shape.num_rounds,
          .tile_shift = shape.tile_shift,
          .slot_stride = shape.slot_stride,
          .slot_bytes = shape.slot_bytes};
}

}  // namespace tutti::device
