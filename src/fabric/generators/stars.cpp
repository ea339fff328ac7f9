// SPDX-License-Identifier: Apache-2.0
// Ranks about one thing in the middle: nodes about a switch, and the cores of a host about its memory.
#include <algorithm>

#include <fmt/format.h>

#include "fabric/generators/draft.hpp"
#include "fabric/generators/generator.hpp"

namespace tutti::fabric {

namespace {

// Node i has links 2i to the middle and 2i + 1 back; the middle is the node behind all others.
NextLink by_the_middle(std::uint32_t middle) {
  return [middle](std::uint32_t at, std::uint32_t to) { return at == middle ? 2 * to + 1 : 2 * at; };
}

}  // namespace

Result<Fabric> make_switch(const GeneratorArguments& arguments) {
  const std::uint32_t ranks = arguments.sizes[0];
  TUTTI_TRY(check({.ranks = ranks, .nodes = ranks + 1, .links = 2 * std::uint64_t{ranks}, .ports = ranks}));
  Draft draft;
  draft.reserve(ranks + 1, 2 * std::uint64_t{ranks});
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    draft.add_node(fmt::format("node {}", rank), on_circle(rank, ranks, room_for(ranks)));
  const std::uint32_t middle = draft.add_switch("switch 0", {}, arguments.settings[0] != 0);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) draft.add_both(rank, middle, arguments.links[0]);
  return std::move(draft).finish(by_the_middle(middle));
}

// Ranks take turns on the cores: rank r is on core r modulo their number, which is a node of the graph.
Result<Fabric> make_host(const GeneratorArguments& arguments) {
  const std::uint32_t ranks = arguments.sizes[0];
  const std::uint32_t cores = arguments.sizes[1];
  TUTTI_TRY(check({.ranks = ranks, .nodes = cores + 1, .links = 2 * std::uint64_t{cores}, .ports = cores}));
  Draft draft;
  for (std::uint32_t core = 0; core < cores; ++core)
    draft.add_node(fmt::format("core {}", core), on_circle(core, cores, room_for(cores)));
  const std::uint32_t middle = draft.add_switch("memory", {});
  for (std::uint32_t core = 0; core < cores; ++core) draft.add_both(core, middle, arguments.links[0]);
  Fabric fabric = std::move(draft).finish(by_the_middle(middle));
  fabric.ranks.clear();
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    fabric.ranks.push_back({.node = rank % cores, .core = rank % cores});
  return fabric;
}

}  // namespace tutti::fabric
