// SPDX-License-Identifier: Apache-2.0
// Nodes of GPUs that a switch joins, and a rail for each place in a node: a switch of the network that joins the GPUs
// with this place in all nodes, each by an adapter of its own. To another place in another node a route goes within the
// node first, to the GPU that has the right rail, as NCCL does (PXN). Nodes with one GPU have no switch of their own.
#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// Numbers of nodes: GPUs, rails, then the nodes' switches. Numbers of links: GPUs to rails and back, then GPUs to the
// nodes' switches and back.
struct RailShape {
  std::uint32_t nodes;
  std::uint32_t gpus;  // of a node

  [[nodiscard]] std::uint32_t num_ranks() const { return nodes * gpus; }
  [[nodiscard]] std::uint32_t rail(std::uint32_t place) const { return num_ranks() + place; }
  [[nodiscard]] std::uint32_t node_switch(std::uint32_t node) const { return rail(gpus) + node; }
};

enum class Kind : std::uint8_t { gpu, rail, node_switch };

struct PlaceOnRails {
  Kind kind = Kind::gpu;
  std::uint32_t node = 0;   // of all but rails
  std::uint32_t place = 0;  // of GPUs and rails
};

class NextByRail {
 public:
  explicit NextByRail(RailShape shape) : shape_(shape) {}

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    const PlaceOnRails here = spot(at);
    const PlaceOnRails there = spot(to);
    const bool is_near = there.kind != Kind::rail && there.node == here.node;
    switch (here.kind) {
      case Kind::gpu: {
        const bool is_on_rail = there.kind == Kind::node_switch || there.place == here.place;
        return !is_near && is_on_rail ? to_rail(at) : to_switch(at);
      }
      case Kind::rail: {
        // From rail to rail it is through the first node.
        const std::uint32_t node = there.kind == Kind::rail ? 0 : there.node;
        return to_rail(node * shape_.gpus + here.place) + 1;
      }
      case Kind::node_switch: {
        const std::uint32_t place = there.kind == Kind::node_switch ? 0 : there.place;
        return to_switch(here.node * shape_.gpus + place) + 1;
      }
    }
    return 0;
  }

 private:
  [[nodiscard]] PlaceOnRails spot(std::uint32_t node) const {
    if (node < shape_.num_ranks()) return {Kind::gpu, node / shape_.gpus, node % shape_.gpus};
    if (node < shape_.node_switch(0)) return {Kind::rail, 0, node - shape_.num_ranks()};
    return {Kind::node_switch, node - shape_.node_switch(0), 0};
  }
  [[nodiscard]] static std::uint32_t to_rail(std::uint32_t gpu) { return 2 * gpu; }
  [[nodiscard]] std::uint32_t to_switch(std::uint32_t gpu) const { return 2 * (shape_.num_ranks() + gpu); }

  RailShape shape_;
};

}  // namespace

Result<Fabric> make_rail(const GeneratorArguments& arguments) {
  const RailShape shape{arguments.sizes[0], arguments.sizes[1]};
  const bool has_switches = shape.gpus > 1;
  const std::uint64_t ranks = std::uint64_t{shape.nodes} * shape.gpus;
  TUTTI_TRY(check({.ranks = ranks,
                   .nodes = ranks + shape.gpus + (has_switches ? shape.nodes : 0),
                   .links = (has_switches ? 4 : 2) * ranks,
                   .ports = std::max(shape.nodes, shape.gpus)}));
  const bool multicast = arguments.settings[0] != 0;
  Draft draft;
  const double width = shape.gpus + 1.0;
  for (std::uint32_t node = 0; node < shape.nodes; ++node)
    for (std::uint32_t place = 0; place < shape.gpus; ++place)
      draft.add_node(fmt::format("gpu {}.{}", node, place), {node * width + place, 0});
  const double all = shape.nodes * width - 1;
  for (std::uint32_t place = 0; place < shape.gpus; ++place)
    draft.add_switch(fmt::format("rail {}", place), {(place + 0.5) * all / shape.gpus - 0.5, -2.5 - 0.03 * all});
  for (std::uint32_t node = 0; has_switches && node < shape.nodes; ++node)
    draft.add_switch(fmt::format("node {}", node), {node * width + (shape.gpus - 1) / 2.0, 1.5}, multicast);
  for (std::uint32_t gpu = 0; gpu < ranks; ++gpu) draft.add_both(gpu, shape.rail(gpu % shape.gpus), arguments.links[1]);
  for (std::uint32_t gpu = 0; has_switches && gpu < ranks; ++gpu)
    draft.add_both(gpu, shape.node_switch(gpu / shape.gpus), arguments.links[0]);
  return std::move(draft).finish(NextByRail(shape));
}

}  // namespace tutti::fabric
