// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/grid.hpp"

#include <fmt/format.h>

namespace tutti {

std::string to_text(const Grid& grid, std::uint32_t dimensions) {
  const std::string layer = fmt::format("{}x{}", grid.width, grid.height);
  return dimensions == 2 ? layer : fmt::format("{}x{}", layer, grid.depth);
}

namespace patterns {

Position position_of(const Grid& grid, std::uint32_t rank) { return {rank % grid.width, rank / grid.width}; }

std::uint32_t rank_at(const Grid& grid, const Position& position) { return position.y * grid.width + position.x; }

Position centre_of(const Grid& grid) { return {grid.width / 2, grid.height / 2}; }

Position corner_of(const Grid& grid, std::uint32_t corner) {
  const bool at_right = corner == 2 || corner == 4;
  const bool at_bottom = corner == 3 || corner == 4;
  return {at_right ? grid.width - 1 : 0, at_bottom ? grid.height - 1 : 0};
}

Line row_of(const Grid& grid, std::uint32_t rank) {
  const std::uint32_t x = rank % grid.width;
  return {.first = rank - x, .stride = 1, .length = grid.width, .own = x};
}

Line column_of(const Grid& grid, std::uint32_t rank) {
  const std::uint32_t y = rank / grid.width % grid.height;
  return {.first = rank - y * grid.width, .stride = grid.width, .length = grid.height, .own = y};
}

Line pillar_of(const Grid& grid, std::uint32_t rank) {
  const std::uint32_t layer = grid.width * grid.height;
  const std::uint32_t z = rank / layer;
  return {.first = rank - z * layer, .stride = layer, .length = grid.depth, .own = z};
}

std::optional<std::uint32_t> step_towards(const Grid& grid, const Position& target, std::uint32_t rank) {
  const Position position = position_of(grid, rank);
  if (position.x < target.x) return rank + 1;
  if (position.x > target.x) return rank - 1;
  if (position.y < target.y) return rank + grid.width;
  if (position.y > target.y) return rank - grid.width;
  return std::nullopt;
}

Feeders feeders_of(const Grid& grid, const Position& target, std::uint32_t rank) {
  const auto [x, y] = position_of(grid, rank);
  Feeders feeders;
  if (x > 0 && x <= target.x) feeders.left = rank - 1;
  if (x + 1 < grid.width && x >= target.x) feeders.right = rank + 1;
  if (x != target.x) return feeders;
  if (y > 0 && y <= target.y) feeders.above = rank - grid.width;
  if (y + 1 < grid.height && y >= target.y) feeders.below = rank + grid.width;
  return feeders;
}

}  // namespace patterns

}  // namespace tutti
