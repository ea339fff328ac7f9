// SPDX-License-Identifier: Apache-2.0
// Ranks on a grid: row after row and layer after layer, so rank = x + width · (y + height · z), and rows are runs of
// neighbouring ranks. Pure arithmetic; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct Grid {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  std::uint32_t depth = 1;  // 1 for algorithms of two dimensions
  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{width} * height * depth; }
  friend bool operator==(const Grid&, const Grid&) = default;
};

// "4x2", and of three dimensions "4x2x1".
[[nodiscard]] std::string to_text(const Grid& grid, std::uint32_t dimensions);

namespace patterns {

// In the first layer, and so in grids of two dimensions.
struct Position {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

[[nodiscard]] Position position_of(const Grid& grid, std::uint32_t rank);
[[nodiscard]] std::uint32_t rank_at(const Grid& grid, const Position& position);

// Column width / 2 of row height / 2: where a side is even, the later of the two in the middle.
[[nodiscard]] Position centre_of(const Grid& grid);
// Corners 1 to 4 are those of rank 0, of the end of its row, of the end of its column, and of the last rank.
[[nodiscard]] Position corner_of(const Grid& grid, std::uint32_t corner);

// A row, a column, or what leads through the layers, seen by one of its ranks.
struct Line {
  std::uint32_t first = 0;   // the rank at place 0
  std::uint32_t stride = 1;  // from one place to the next
  std::uint32_t length = 1;
  std::uint32_t own = 0;  // this rank's place

  [[nodiscard]] std::uint32_t at(std::uint32_t place) const { return first + place * stride; }
  // The neighbours; around the end, where the line is a ring.
  [[nodiscard]] std::uint32_t next() const { return at(around(own + 1)); }
  [[nodiscard]] std::uint32_t previous() const { return at(around(own + length - 1)); }
  // The place `distance` before this rank's own, on the ring; a distance of at most one length.
  [[nodiscard]] std::uint32_t place_before(std::uint32_t distance) const { return around(own + length - distance); }
  // A place, or one behind the end by less than a length; without a division, since rings ask for every step.
  [[nodiscard]] std::uint32_t around(std::uint32_t place) const { return place < length ? place : place - length; }
  friend bool operator==(const Line&, const Line&) = default;
};

[[nodiscard]] Line row_of(const Grid& grid, std::uint32_t rank);
[[nodiscard]] Line column_of(const Grid& grid, std::uint32_t rank);
[[nodiscard]] Line pillar_of(const Grid& grid, std::uint32_t rank);  // through the layers

// The tree of chains that lead along the rows to the target's column, and along that to the target. Where a rank's
// parent is, nothing at the target.
[[nodiscard]] std::optional<std::uint32_t> step_towards(const Grid& grid, const Position& target, std::uint32_t rank);

// The neighbours that step_towards leads here from. What they bring is, in the order of the members here and with the
// rank's own between left and right, in the order of the ranks.
struct Feeders {
  std::optional<std::uint32_t> above = {};
  std::optional<std::uint32_t> left = {};
  std::optional<std::uint32_t> right = {};
  std::optional<std::uint32_t> below = {};
  friend bool operator==(const Feeders&, const Feeders&) = default;
};

[[nodiscard]] Feeders feeders_of(const Grid& grid, const Position& target, std::uint32_t rank);

}  // namespace patterns

}  // namespace tutti
