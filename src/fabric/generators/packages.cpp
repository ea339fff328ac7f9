// SPDX-License-Identifier: Apache-2.0
// A package: a grid of cubes, each with processing elements (PEs) about a switch, and an io switch that joins the cubes
// of the first row, by which the package is one of several (`inner=packages:...`). Routes go along the row, then along
// the column; to and from io along the column only.
#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// Numbers of nodes: PEs, cubes, io. Numbers of links: PEs to cubes and back, to the right of cubes and back, downwards
// and back, from the first row to io and back.
struct Packages {
  std::uint64_t width;
  std::uint64_t height;
  std::uint64_t pes;

  [[nodiscard]] std::uint64_t num_cubes() const { return width * height; }
  [[nodiscard]] std::uint64_t num_ranks() const { return num_cubes() * pes; }
  [[nodiscard]] std::uint64_t io() const { return num_ranks() + num_cubes(); }
  [[nodiscard]] std::uint64_t cube(std::uint64_t x, std::uint64_t y) const { return num_ranks() + x + width * y; }

  // By the cube that is the left or the upper of the two.
  [[nodiscard]] std::uint64_t right_cable(std::uint64_t x, std::uint64_t y) const {
    return num_ranks() + x + (width - 1) * y;
  }
  [[nodiscard]] std::uint64_t down_cable(std::uint64_t x, std::uint64_t y) const {
    return num_ranks() + (width - 1) * height + x + width * y;
  }
  [[nodiscard]] std::uint64_t io_cable(std::uint64_t x) const { return down_cable(0, height - 1) + x; }
  [[nodiscard]] std::uint64_t num_links() const { return 2 * (io_cable(0) + width); }
};

class NextInPackage {
 public:
  explicit NextInPackage(Packages shape) : shape_(shape) {}

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    return static_cast<std::uint32_t>(next(at, to));
  }

 private:
  [[nodiscard]] std::uint64_t next(std::uint64_t at, std::uint64_t to) const {
    const Packages& shape = shape_;
    if (at < shape.num_ranks()) return 2 * at;
    // Of `to`, as a cube.
    const std::uint64_t target = to < shape.num_ranks() ? to / shape.pes : to - shape.num_ranks();
    const std::uint64_t to_x = target % shape.width;
    const std::uint64_t to_y = target / shape.width;
    if (at == shape.io()) return 2 * shape.io_cable(to_x) + 1;
    const std::uint64_t x = (at - shape.num_ranks()) % shape.width;
    const std::uint64_t y = (at - shape.num_ranks()) / shape.width;
    if (to == shape.io()) return y == 0 ? 2 * shape.io_cable(x) : 2 * shape.down_cable(x, y - 1) + 1;
    if (x < to_x) return 2 * shape.right_cable(x, y);
    if (x > to_x) return 2 * shape.right_cable(x - 1, y) + 1;
    if (y < to_y) return 2 * shape.down_cable(x, y);
    if (y > to_y) return 2 * shape.down_cable(x, y - 1) + 1;
    return 2 * to + 1;
  }

  Packages shape_;
};

// PEs lie around their cube.
void add_packages(const Packages& shape, Draft& draft) {
  const auto pes = static_cast<std::uint32_t>(shape.pes);
  const double radius = 0.8 * room_for(pes);
  const double pitch = 2 * radius + 1.6;
  const auto middle = [&](std::uint64_t cube) {
    const std::uint64_t column = cube % shape.width;
    const std::uint64_t row = cube / shape.width;
    return Position{static_cast<double>(column) * pitch, static_cast<double>(row) * pitch};
  };
  for (std::uint64_t cube = 0; cube < shape.num_cubes(); ++cube) {
    const Position at = middle(cube);
    for (std::uint32_t pe = 0; pe < pes; ++pe) {
      // Not towards the neighbours of the cube, where the links are.
      const double angle = 2 * std::numbers::pi * (pe + 0.5) / pes;
      draft.add_node(fmt::format("pe {}.{}.{}", cube % shape.width, cube / shape.width, pe),
                     {at.x + radius * std::sin(angle), at.y - radius * std::cos(angle)});
    }
  }
  for (std::uint64_t cube = 0; cube < shape.num_cubes(); ++cube)
    draft.add_switch(fmt::format("cube {}.{}", cube % shape.width, cube / shape.width), middle(cube));
  draft.add_switch("io", {static_cast<double>(shape.width - 1) * pitch / 2, -pitch});
}

}  // namespace

Result<Fabric> make_packages(const GeneratorArguments& arguments) {
  const Packages shape{arguments.sizes[0], arguments.sizes[1], arguments.sizes[2]};
  TUTTI_TRY(check({.ranks = shape.num_ranks(),
                   .nodes = shape.io() + 1,
                   .links = shape.num_links(),
                   .ports = std::max(shape.pes + 4, shape.width)}));
  const Link& pe_link = arguments.links[0];
  const Link& cube_link = arguments.links[1];
  const Link& io_link = arguments.links[2];
  Draft draft;
  draft.reserve(shape.io() + 1, shape.num_links());
  add_packages(shape, draft);
  const auto number = [](std::uint64_t node) { return static_cast<std::uint32_t>(node); };
  for (std::uint64_t pe = 0; pe < shape.num_ranks(); ++pe)
    draft.add_both(number(pe), number(shape.num_ranks() + pe / shape.pes), pe_link);
  for (std::uint64_t y = 0; y < shape.height; ++y)
    for (std::uint64_t x = 0; x + 1 < shape.width; ++x)
      draft.add_both(number(shape.cube(x, y)), number(shape.cube(x + 1, y)), cube_link);
  for (std::uint64_t y = 0; y + 1 < shape.height; ++y)
    for (std::uint64_t x = 0; x < shape.width; ++x)
      draft.add_both(number(shape.cube(x, y)), number(shape.cube(x, y + 1)), cube_link);
  for (std::uint64_t x = 0; x < shape.width; ++x) draft.add_both(number(shape.cube(x, 0)), number(shape.io()), io_link);
  Fabric fabric = std::move(draft).finish(NextInPackage(shape));
  // What is published: 256 GB/s of HBM of which 80 % are reached, and 128 GB/s of SRAM; nothing of the PE's own memory.
  fabric.memories = {{.name = "tcm"}, {.name = "sram", .bandwidth = 128}, {.name = "hbm", .bandwidth = 256 * 0.8}};
  if (shape.pes == 1) fabric.grid = {arguments.sizes[0], arguments.sizes[1]};
  return fabric;
}

}  // namespace tutti::fabric
