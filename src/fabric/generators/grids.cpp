// SPDX-License-Identifier: Apache-2.0
// Rings, tori and meshes. Routes go along the first dimension, then the second, then the third; around a torus the
// shorter way, and where both are as long the positive one from even coordinates and the negative one from odd ones, so
// that both carry as much. Where a dimension is 2 long, the way around is the way straight on, and there is one cable
// and not two.
#include <array>
#include <memory>

#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

constexpr std::size_t kDimensions = 3;
using Point = std::array<std::uint32_t, kDimensions>;

enum class Wrap : bool { no, yes };

class Grid {
 public:
  Grid(const std::vector<std::uint32_t>& sizes, Wrap wrap) : wrap_(wrap) {
    std::copy(sizes.begin(), sizes.end(), lengths_.begin());
  }

  [[nodiscard]] std::uint32_t num_nodes() const { return lengths_[0] * lengths_[1] * lengths_[2]; }
  [[nodiscard]] Point at(std::uint32_t node) const {
    return {node % lengths_[0], node / lengths_[0] % lengths_[1], node / lengths_[0] / lengths_[1]};
  }
  [[nodiscard]] std::uint32_t length(std::size_t dimension) const { return lengths_[dimension]; }

  [[nodiscard]] bool has_link(const Point& point, std::size_t dimension, bool positive) const {
    const std::uint32_t length = lengths_[dimension];
    if (wrap_ == Wrap::yes && length > 2) return true;
    return positive ? point[dimension] + 1 < length : point[dimension] > 0;
  }

  [[nodiscard]] std::uint32_t neighbour(Point point, std::size_t dimension, bool positive) const {
    const std::uint32_t length = lengths_[dimension];
    point[dimension] = (point[dimension] + (positive ? 1 : length - 1)) % length;
    return point[0] + lengths_[0] * (point[1] + lengths_[1] * point[2]);
  }

  // Whether the way along the dimension leads to greater coordinates.
  [[nodiscard]] bool goes_up(std::uint32_t from, std::uint32_t to, std::size_t dimension) const {
    const std::uint32_t length = lengths_[dimension];
    if (wrap_ == Wrap::no || length == 2) return to > from;
    const std::uint32_t ahead = (to + length - from) % length;
    return 2 * ahead == length ? from % 2 == 0 : 2 * ahead < length;
  }

  // Which of the node's links it is: they are numbered by dimension, the positive first.
  [[nodiscard]] std::uint32_t port(const Point& point, std::size_t dimension, bool positive) const {
    std::uint32_t port = 0;
    for (std::size_t d = 0; d < dimension; ++d)
      port += std::uint32_t{has_link(point, d, true)} + std::uint32_t{has_link(point, d, false)};
    return port + std::uint32_t{!positive && has_link(point, dimension, true)};
  }

 private:
  Point lengths_ = {1, 1, 1};
  Wrap wrap_;
};

class NextOnGrid {
 public:
  NextOnGrid(Grid grid, std::vector<std::uint32_t> first_links)
      : grid_(grid), first_links_(std::make_shared<const std::vector<std::uint32_t>>(std::move(first_links))) {}

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    const Point here = grid_.at(at);
    const Point there = grid_.at(to);
    std::size_t dimension = 0;
    while (dimension + 1 < kDimensions && here[dimension] == there[dimension]) ++dimension;
    const bool positive = grid_.goes_up(here[dimension], there[dimension], dimension);
    return (*first_links_)[at] + grid_.port(here, dimension, positive);
  }

 private:
  Grid grid_;
  // Shared by copies of a fabric, as it never changes.
  std::shared_ptr<const std::vector<std::uint32_t>> first_links_;
};

std::string name_of(std::uint32_t node, const Point& point, std::size_t dimensions) {
  if (dimensions == 1) return fmt::format("node {}", node);
  if (dimensions == 2) return fmt::format("node {}.{}", point[0], point[1]);
  return fmt::format("node {}.{}.{}", point[0], point[1], point[2]);
}

// A ring lies on a circle; layers of a third dimension lie behind one another, each further up and to the right.
Position position_of(std::uint32_t node, const Point& point, const Grid& grid, std::size_t dimensions, Wrap wrap) {
  if (dimensions == 1 && wrap == Wrap::yes) return on_circle(node, grid.num_nodes(), room_for(grid.num_nodes()));
  const double depth = 1.0 / (grid.length(2) + 1);
  return {point[0] * 1.0 + point[2] * depth, point[1] * 1.0 - point[2] * depth};
}

Result<Fabric> make(const GeneratorArguments& arguments, Wrap wrap) {
  const Grid grid(arguments.sizes, wrap);
  std::uint64_t num_nodes = 1;
  for (const std::uint32_t size : arguments.sizes) num_nodes *= size;
  const std::uint64_t ports = 2 * arguments.sizes.size();
  TUTTI_TRY(check({.ranks = num_nodes, .nodes = num_nodes, .links = num_nodes * ports, .ports = ports}));
  Draft draft;
  draft.reserve(num_nodes, num_nodes * ports);
  std::vector<std::uint32_t> first_links;
  first_links.reserve(num_nodes);
  for (std::uint32_t node = 0; node < num_nodes; ++node) {
    const Point point = grid.at(node);
    draft.add_node(name_of(node, point, arguments.sizes.size()),
                   position_of(node, point, grid, arguments.sizes.size(), wrap));
    first_links.push_back(static_cast<std::uint32_t>(draft.links().size()));
    for (std::size_t dimension = 0; dimension < kDimensions; ++dimension)
      for (const bool positive : {true, false})
        if (grid.has_link(point, dimension, positive))
          draft.add_link(node, grid.neighbour(point, dimension, positive), arguments.links[0]);
  }
  Fabric fabric = std::move(draft).finish(NextOnGrid(grid, std::move(first_links)));
  fabric.grid = arguments.sizes;
  return fabric;
}

}  // namespace

Result<Fabric> make_torus(const GeneratorArguments& arguments) { return make(arguments, Wrap::yes); }
Result<Fabric> make_mesh(const GeneratorArguments& arguments) { return make(arguments, Wrap::no); }

}  // namespace tutti::fabric
