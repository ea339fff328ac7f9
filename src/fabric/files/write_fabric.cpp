// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/toml/quoted.hpp"
#include "base/units.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/fields.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::fabric {

namespace {

using document::quoted;

constexpr std::size_t kMostOnALine = 16;

template <typename Owner, std::size_t count>
std::string lines_of(const std::array<Field<Owner>, count>& fields, const Owner& owner) {
  std::string lines;
  for (const Field<Owner>& field : fields) {
    const std::string value = get(field, owner);
    if (value == get(field, Owner())) continue;
    lines += fmt::format("{} = {}\n", field.name, field.unit == Unit::count ? value : quoted(value));
  }
  return lines;
}

// Of links every field is written, as files must say what they carry and how long they take.
std::string lines_of(const Link& link) {
  std::string lines;
  for (const auto& field : kLinkFields)
    if (field.name != "gap" || link.gap != 0) lines += fmt::format("{} = {}\n", field.name, quoted(get(field, link)));
  return lines;
}

template <typename Owner, std::size_t count>
std::string named(std::string_view key, const std::array<Field<Owner>, count>& fields,
                  const std::vector<Owner>& owners) {
  std::string text;
  for (const Owner& owner : owners)
    text += fmt::format("\n[[{}]]\nname = {}\n{}", key, quoted(owner.name), lines_of(fields, owner));
  return text;
}

std::string link_text(const Fabric& fabric, const Link& link) {
  return fmt::format("\n[[links]]\nfrom = {}\nto = {}\n{}", quoted(fabric.nodes[link.from].name),
                     quoted(fabric.nodes[link.to].name), lines_of(link));
}

std::string node_text(const Node& node) {
  return fmt::format("\n[[nodes]]\nname = {}\n{}{}x = {}\ny = {}\n", quoted(node.name),
                     node.is_switch ? "switch = true\n" : "", node.multicast ? "multicast = true\n" : "", node.x,
                     node.y);
}

// What is there before a file says anything of ranks: a rank on each node that is no switch, on a core of its own; or
// what the generator makes.
Fabric usual(const Fabric& fabric) {
  Fabric usual;
  for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node)
    if (!fabric.nodes[node].is_switch) usual.ranks.push_back({.node = node, .core = usual.num_ranks()});
  usual.cores.resize(usual.ranks.size());
  return usual;
}

// What the fabric's generator makes; nothing where it has none, or where its nodes are others.
std::optional<Fabric> generated(const Fabric& fabric) {
  if (fabric.generator.empty()) return std::nullopt;
  Result<Fabric> made = generate(fabric.generator);
  if (!made.ok() || made->nodes.size() != fabric.nodes.size() || made->links.size() != fabric.links.size())
    return std::nullopt;
  return *std::move(made);
}

bool same_places(const Fabric& a, const Fabric& b, bool with_memory) {
  const auto is_same = [&](const RankPlacement& x, const RankPlacement& y) {
    return x.node == y.node && x.core == y.core && x.costs == y.costs && (!with_memory || x.memory == y.memory);
  };
  return std::equal(a.ranks.begin(), a.ranks.end(), b.ranks.begin(), b.ranks.end(), is_same);
}

bool same_memory(const Fabric& fabric) {
  return std::all_of(fabric.ranks.begin(), fabric.ranks.end(),
                     [&](const RankPlacement& place) { return place.memory == fabric.ranks.front().memory; });
}

std::string rank_text(const Fabric& fabric, const RankPlacement& place) {
  return fmt::format("\n[[ranks]]\nnode = {}\ncore = {}\n{}{}", quoted(fabric.nodes[place.node].name), place.core,
                     place.costs == 0 ? "" : fmt::format("costs = {}\n", quoted(fabric.costs[place.costs].name)),
                     place.memory == 0 ? "" : fmt::format("memory = {}\n", quoted(fabric.memories[place.memory].name)));
}

bool same_cores(const Fabric& fabric) {
  return std::all_of(fabric.cores.begin(), fabric.cores.end(),
                     [&](const Core& core) { return core.switch_cost == fabric.cores.front().switch_cost; });
}

std::string way_text(const Way& way) {
  std::string text = fmt::format("  {{ algorithm = {}", quoted(way.algorithm));
  if (!way.costs.empty()) text += fmt::format(", costs = {}", quoted(way.costs));
  if (way.parts != 1) text += fmt::format(", parts = {}", way.parts);
  if (way.copies != 0) text += fmt::format(", copies = {}", way.copies);
  if (way.part_copies != 0) text += fmt::format(", part_copies = {}", way.part_copies);
  if (way.by_name) text += ", by_name = true";
  if (way.above != 0) text += fmt::format(", above = {}", quoted(to_text(Bytes(way.above))));
  if (way.from_ranks != 1) text += fmt::format(", from_ranks = {}", way.from_ranks);
  return text + " },\n";
}

std::string implementation_text(const Implementation& implementation) {
  std::string text = fmt::format("\n[[implementations]]\nname = {}\ncollective = {}\nways = [\n",
                                 quoted(implementation.name), quoted(implementation.collective));
  for (const Way& way : implementation.ways) text += way_text(way);
  return text + "]\n";
}

}  // namespace

std::string write_fabric(const Fabric& fabric) {
  const std::optional<Fabric> base = generated(fabric);
  const Fabric before = base ? *base : usual(fabric);
  // One memory for all ranks is one line, and the ranks need none.
  const bool one_memory = same_memory(fabric) && same_places(fabric, before, false);
  std::string text = "version = 1\n";
  if (base) text += fmt::format("generator = {}\n", quoted(fabric.generator));
  if (fabric.profile != Fabric().profile) text += fmt::format("profile = {}\n", quoted(fabric.profile));
  const std::uint32_t memory = fabric.ranks.front().memory;
  if (one_memory && memory != 0) text += fmt::format("memory = {}\n", quoted(fabric.memories[memory].name));
  if (!base && !fabric.grid.empty()) text += fmt::format("grid = \"{}\"\n", fmt::join(fabric.grid, "x"));
  if (same_cores(fabric)) text += lines_of(kCoreFields, fabric.cores.front());

  const std::string costs = named("costs", kCostFields, fabric.costs);
  if (costs != named("costs", kCostFields, before.costs)) text += costs;
  const std::string memories = named("memories", kMemoryFields, fabric.memories);
  if (memories != named("memories", kMemoryFields, before.memories)) text += memories;
  if (const std::string queue = lines_of(kQueueFields, fabric.queue); !queue.empty())
    text += fmt::format("\n[queue]\n{}", queue);
  for (const Kernel& kernel : fabric.kernels)  // lines have an end
    text += fmt::format("\n[[kernels]]\nalgorithm = {}\nranks = [{}]\n", quoted(kernel.algorithm),
                        fmt::join(kernel.ranks, kernel.ranks.size() > kMostOnALine ? ",\n  " : ", "));
  for (const Implementation& each : fabric.implementations) text += implementation_text(each);
  if (!same_cores(fabric))
    for (const Core& core : fabric.cores) text += fmt::format("\n[[cores]]\n{}", lines_of(kCoreFields, core));

  if (!base)
    for (const Node& node : fabric.nodes) text += node_text(node);
  for (std::size_t link = 0; link < fabric.links.size(); ++link)
    if (!base || lines_of(fabric.links[link]) != lines_of(base->links[link]))
      text += link_text(fabric, fabric.links[link]);
  if (!one_memory && !same_places(fabric, before, true))
    for (const RankPlacement& place : fabric.ranks) text += rank_text(fabric, place);
  return text;
}

}  // namespace tutti::fabric
