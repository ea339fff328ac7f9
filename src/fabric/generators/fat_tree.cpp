// SPDX-License-Identifier: Apache-2.0
// Fat trees of two levels of switches (leaves and spines) and of three (leaves, aggregation switches of a pod, cores).
// M. Al-Fares, A. Loukissas, A. Vahdat: A scalable, commodity data center network architecture (SIGCOMM 2008) is the
// one of three levels where pods = 2 * leaves = 2 * ranks. Routes go up by the numbers of their destination, so that
// neighbours at their destination come by different ways, and then down by the one way there is.
#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// A spine is the aggregation switch of the only pod. Numbers of nodes: ranks, leaves, aggregation switches, cores.
struct TreeShape {
  std::uint64_t pods;
  std::uint64_t leaves;   // of a pod
  std::uint64_t ranks;    // of a leaf
  std::uint64_t uplinks;  // of a leaf; as many aggregation switches has a pod

  [[nodiscard]] bool has_cores() const { return pods > 1; }
  [[nodiscard]] std::uint64_t num_ranks() const { return pods * leaves * ranks; }
  [[nodiscard]] std::uint64_t num_leaves() const { return pods * leaves; }
  [[nodiscard]] std::uint64_t num_aggregations() const { return pods * uplinks; }
  // Aggregation switches with the same number in their pods share `leaves` cores.
  [[nodiscard]] std::uint64_t num_cores() const { return has_cores() ? uplinks * leaves : 0; }
  // There, and as many back: of ranks, leaves, aggregation switches, in this order.
  [[nodiscard]] std::uint64_t num_cables() const {
    return num_ranks() + num_leaves() * uplinks + (has_cores() ? num_aggregations() * leaves : 0);
  }
  [[nodiscard]] std::uint64_t num_nodes() const { return first_core() + num_cores(); }
  [[nodiscard]] std::uint64_t first_leaf() const { return num_ranks(); }
  [[nodiscard]] std::uint64_t first_aggregation() const { return first_leaf() + num_leaves(); }
  [[nodiscard]] std::uint64_t first_core() const { return first_aggregation() + num_aggregations(); }

  [[nodiscard]] std::uint64_t rank_cable(std::uint64_t rank) const { return rank; }
  [[nodiscard]] std::uint64_t leaf_cable(std::uint64_t leaf, std::uint64_t uplink) const {
    return num_ranks() + leaf * uplinks + uplink;
  }
  [[nodiscard]] std::uint64_t core_cable(std::uint64_t aggregation, std::uint64_t uplink) const {
    return num_ranks() + num_leaves() * uplinks + aggregation * leaves + uplink;
  }
};

enum class Level : std::uint8_t { rank, leaf, aggregation, core };

struct Spot {
  Level level;
  std::uint64_t pod;     // of all but cores
  std::uint64_t leaf;    // within the pod: of ranks and leaves
  std::uint64_t index;   // a rank at its leaf, an aggregation switch in its pod, and the one that a core belongs to
  std::uint64_t uplink;  // of a core: which one of those of its aggregation switches leads to it
};

class NextInTree {
 public:
  explicit NextInTree(TreeShape shape) : shape_(shape) {}

  std::uint32_t operator()(std::uint32_t at, std::uint32_t to) const {
    const Spot here = spot(at);
    const Spot there = spot(to);
    switch (here.level) {
      case Level::rank: return up(shape_.rank_cable(at));
      case Level::leaf: return from_leaf(here, there, to);
      case Level::aggregation: return from_aggregation(here, there);
      case Level::core: {
        const std::uint64_t pod = there.level == Level::core ? 0 : there.pod;
        return down(shape_.core_cable(pod * shape_.uplinks + here.index, here.uplink));
      }
    }
    return 0;
  }

 private:
  static std::uint32_t up(std::uint64_t cable) { return static_cast<std::uint32_t>(2 * cable); }
  static std::uint32_t down(std::uint64_t cable) { return static_cast<std::uint32_t>(2 * cable + 1); }

  [[nodiscard]] Spot spot(std::uint64_t node) const {
    const TreeShape& shape = shape_;
    if (node < shape.first_leaf())
      return {Level::rank, node / shape.ranks / shape.leaves, node / shape.ranks % shape.leaves, node % shape.ranks, 0};
    if (node < shape.first_aggregation()) {
      const std::uint64_t leaf = node - shape.first_leaf();
      return {Level::leaf, leaf / shape.leaves, leaf % shape.leaves, 0, 0};
    }
    if (node < shape.first_core()) {
      const std::uint64_t aggregation = node - shape.first_aggregation();
      return {Level::aggregation, aggregation / shape.uplinks, 0, aggregation % shape.uplinks, 0};
    }
    const std::uint64_t core = node - shape.first_core();
    return {Level::core, 0, 0, core / shape.leaves, core % shape.leaves};
  }

  [[nodiscard]] std::uint32_t from_leaf(const Spot& here, const Spot& there, std::uint64_t to) const {
    if (there.level == Level::rank && there.pod == here.pod && there.leaf == here.leaf)
      return down(shape_.rank_cable(to));
    return up(shape_.leaf_cable(here.pod * shape_.leaves + here.leaf, there.index % shape_.uplinks));
  }

  [[nodiscard]] std::uint32_t from_aggregation(const Spot& here, const Spot& there) const {
    const std::uint64_t aggregation = here.pod * shape_.uplinks + here.index;
    const bool is_above = there.level == Level::core || there.level == Level::aggregation;
    // Not to be reached from here but by a leaf, which has a link to each aggregation switch.
    if (is_above && there.index != here.index) return down(shape_.leaf_cable(here.pod * shape_.leaves, here.index));
    if (there.level == Level::core) return up(shape_.core_cable(aggregation, there.uplink));
    if (is_above) return up(shape_.core_cable(aggregation, here.pod % shape_.leaves));
    if (there.pod == here.pod) return down(shape_.leaf_cable(here.pod * shape_.leaves + there.leaf, here.index));
    return up(shape_.core_cable(aggregation, there.leaf));
  }

  TreeShape shape_;
};

void add_switches(const TreeShape& shape, Draft& draft) {
  // Each level is spread over the width of the ranks.
  const auto width = static_cast<double>(shape.num_ranks());
  const auto over = [&](std::uint64_t index, std::uint64_t count, double level) {
    return Position{(static_cast<double>(index) + 0.5) * width / static_cast<double>(count) - 0.5, -1.6 * level};
  };
  for (std::uint64_t leaf = 0; leaf < shape.num_leaves(); ++leaf)
    draft.add_switch(fmt::format("leaf {}", leaf), over(leaf, shape.num_leaves(), 1));
  for (std::uint64_t each = 0; each < shape.num_aggregations(); ++each)
    draft.add_switch(fmt::format("{} {}", shape.has_cores() ? "aggregation" : "spine", each),
                     over(each, shape.num_aggregations(), 2));
  for (std::uint64_t core = 0; core < shape.num_cores(); ++core)
    draft.add_switch(fmt::format("core {}", core), over(core, shape.num_cores(), 3));
}

}  // namespace

Result<Fabric> make_fat_tree(const GeneratorArguments& arguments) {
  const bool has_pods = arguments.sizes.size() == 3;
  const std::size_t first = has_pods ? 1 : 0;
  const std::uint32_t ranks = arguments.sizes[first + 1];
  const TreeShape shape{has_pods ? arguments.sizes[0] : 1U, arguments.sizes[first], ranks,
                        arguments.settings[0] != 0 ? arguments.settings[0] : ranks};
  // First by themselves, so that no product below is too large for its type.
  TUTTI_TRY(check({.ranks = shape.num_ranks(), .nodes = shape.uplinks, .ports = shape.ranks + shape.uplinks}));
  TUTTI_TRY(check({.ranks = shape.num_ranks(),
                   .nodes = shape.num_nodes(),
                   .links = 2 * shape.num_cables(),
                   .ports = std::max(shape.ranks + shape.uplinks,
                                     shape.has_cores() ? std::max(2 * shape.leaves, shape.pods) : shape.leaves)}));
  Draft draft;
  draft.reserve(shape.num_nodes(), 2 * shape.num_cables());
  for (std::uint32_t rank = 0; rank < shape.num_ranks(); ++rank)
    draft.add_node(fmt::format("node {}", rank), {static_cast<double>(rank), 0});
  add_switches(shape, draft);
  const auto number = [](std::uint64_t node) { return static_cast<std::uint32_t>(node); };
  for (std::uint64_t rank = 0; rank < shape.num_ranks(); ++rank)
    draft.add_both(number(rank), number(shape.first_leaf() + rank / shape.ranks), arguments.links[0]);
  for (std::uint64_t leaf = 0; leaf < shape.num_leaves(); ++leaf)
    for (std::uint64_t uplink = 0; uplink < shape.uplinks; ++uplink)
      draft.add_both(number(shape.first_leaf() + leaf),
                     number(shape.first_aggregation() + leaf / shape.leaves * shape.uplinks + uplink),
                     arguments.links[1]);
  for (std::uint64_t each = 0; shape.has_cores() && each < shape.num_aggregations(); ++each)
    for (std::uint64_t uplink = 0; uplink < shape.leaves; ++uplink)
      draft.add_both(number(shape.first_aggregation() + each),
                     number(shape.first_core() + each % shape.uplinks * shape.leaves + uplink), arguments.links[1]);
  return std::move(draft).finish(NextInTree(shape));
}

}  // namespace tutti::fabric
