// SPDX-License-Identifier: Apache-2.0
// What the ranks of a fabric's file are, where they are, and what they cost.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "fabric/costs.hpp"
#include "fabric/files/file_fields.hpp"
#include "fabric/files/file_parts.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

// Tables with names and fields, in place of those that are there.
template <typename Owner, std::size_t count>
Status read_named(const document::Section& document, std::string_view key,
                  const std::array<Field<Owner>, count>& fields, std::vector<Owner>& owners) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections(key));
  if (sections.empty()) return {};
  owners.clear();
  for (const document::Section& section : sections) {
    TUTTI_TRY(section.check_keys(with_names({"name"}, fields)));
    Owner owner;
    TUTTI_TRY(section.read("name", owner.name));
    const auto is_same = [&](const Owner& each) { return same_name(each.name, owner.name); };
    if (std::any_of(owners.begin(), owners.end(), is_same))
      return section.wrong("name",
                           fmt::format("{} is there already; each has a name of its own", in_quotes(owner.name)));
    TUTTI_TRY(read_fields(section, fields, owner));
    owners.push_back(std::move(owner));
  }
  return {};
}

// The number of the one that the key names; 0 where there is no such key.
template <typename Owner>
Result<std::uint32_t> find_named(const document::Section& section, std::string_view key,
                                 const std::vector<Owner>& owners) {
  if (!section.has(key)) return 0U;
  std::string name;
  TUTTI_TRY(section.read(key, name));
  std::string known;
  for (std::uint32_t owner = 0; owner < owners.size(); ++owner) {
    if (same_name(owners[owner].name, name)) return owner;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", in_quotes(owners[owner].name));
  }
  return section.wrong(key, fmt::format("there is no {} here; there is {}", in_quotes(name), known));
}

// The ranks of one table, which still lack their core where `core` is nothing.
struct RankGroup {
  RankPlacement place;
  std::optional<std::uint32_t> core;
  std::uint32_t count = 1;
};

Result<RankGroup> read_group(const document::Section& section, const Fabric& fabric,
                             const std::unordered_map<std::string_view, std::uint32_t>& nodes) {
  constexpr auto kKeys = std::to_array<std::string_view>({"node", "count", "core", "costs", "memory"});
  TUTTI_TRY(section.check_keys(kKeys));
  RankGroup group;
  std::string name;
  TUTTI_TRY(section.read("node", name));
  if (!section.has("node")) return section.wrong("", "it has no node; write node = \"the name of one\"");
  const auto node = nodes.find(name);
  if (node == nodes.end()) return section.wrong("node", fmt::format("there is no node {}", in_quotes(name)));
  group.place.node = node->second;
  if (fabric.nodes[node->second].is_switch)
    return section.wrong("node", fmt::format("{} is a switch, where no rank can be", in_quotes(name)));
  TUTTI_TRY(section.read("count", group.count, kMostRanks));
  if (group.count == 0) return section.wrong("count", "0 is too few; 1 is the least");
  if (section.has("core")) TUTTI_TRY(section.read("core", group.core.emplace(), kMostRanks - 1));
  TUTTI_TRY_ASSIGN(group.place.costs, find_named(section, "costs", fabric.costs));
  TUTTI_TRY_ASSIGN(group.place.memory, find_named(section, "memory", fabric.memories));
  return group;
}

// Ranks whose core has no number get one each, behind those that have one. The generator's grid is one of the nodes
// that its ranks are on.
void place_ranks(const std::vector<RankGroup>& groups, Fabric& fabric) {
  const std::vector<RankPlacement> before = fabric.ranks;
  std::uint32_t num_cores = 0;
  for (const RankGroup& group : groups)
    if (group.core) num_cores = std::max(num_cores, *group.core + 1);
  fabric.ranks.clear();
  for (const RankGroup& group : groups)
    for (std::uint32_t i = 0; i < group.count; ++i) {
      RankPlacement place = group.place;
      place.core = group.core ? *group.core : num_cores++;
      fabric.ranks.push_back(place);
    }
  fabric.cores.assign(num_cores, Core());
  if (!std::equal(before.begin(), before.end(), fabric.ranks.begin(), fabric.ranks.end(),
                  [](const RankPlacement& a, const RankPlacement& b) { return a.node == b.node; }))
    fabric.grid.clear();
}

Status read_places(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("ranks"));
  if (!sections.empty()) {
    std::unordered_map<std::string_view, std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node) nodes.emplace(fabric.nodes[node].name, node);
    std::vector<RankGroup> groups;
    std::uint64_t total = 0;
    for (const document::Section& section : sections) {
      TUTTI_TRY_ASSIGN(const RankGroup group, read_group(section, fabric, nodes));
      total += group.count;
      if (total > kMostRanks)
        return section.wrong("", fmt::format("with this there are {} ranks; {} are the most", total, kMostRanks));
      groups.push_back(group);
    }
    place_ranks(groups, fabric);
  }
  if (fabric.ranks.empty())
    return document.wrong("nodes", "all nodes are switches, so there is no rank; add a node that is none");
  return {};
}

Status read_cores(const document::Section& document, Fabric& fabric) {
  if (document.has(kCoreFields[0].name)) {
    Core core;
    TUTTI_TRY(read_fields(document, kCoreFields, core));
    std::fill(fabric.cores.begin(), fabric.cores.end(), core);
  }
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("cores"));
  if (sections.empty()) return {};
  if (sections.size() != fabric.cores.size())
    return document.wrong("cores", fmt::format("there are {} here, and ranks are on {}; write one for each, or "
                                               "switch_cost for all",
                                               sections.size(), fabric.cores.size()));
  for (std::size_t core = 0; core < fabric.cores.size(); ++core) {
    const document::Section& section = sections[core];
    TUTTI_TRY(section.check_keys(with_names({}, kCoreFields)));
    TUTTI_TRY(read_fields(section, kCoreFields, fabric.cores[core]));
  }
  return {};
}

}  // namespace

Status read_costs(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY(read_named(document, "costs", kCostFields, fabric.costs));
  TUTTI_TRY(read_named(document, "memories", kMemoryFields, fabric.memories));
  if (document.has("memories"))
    for (RankPlacement& place : fabric.ranks) place.memory = 0;
  TUTTI_TRY_ASSIGN(const std::optional<document::Section> queue, document.section("queue"));
  if (!queue) return {};
  TUTTI_TRY(queue->check_keys(with_names({}, kQueueFields)));
  return read_fields(*queue, kQueueFields, fabric.queue);
}

Status read_grid(const document::Section& document, Fabric& fabric) {
  if (!document.has("grid")) return {};
  constexpr std::size_t kMostSides = 3;
  std::string text;
  TUTTI_TRY(document.read("grid", text));
  std::uint64_t size = 1;
  fabric.grid.clear();
  for (const std::string_view word : split(text, 'x')) {
    const Result<std::int64_t> side = parse_integer(word);
    if (!side.ok() || *side < 1 || static_cast<std::uint64_t>(*side) > kMostRanks || fabric.grid.size() == kMostSides)
      return document.wrong("grid", fmt::format("{} is no grid, like \"4x2\" or \"4x2x2\"", in_quotes(text)));
    fabric.grid.push_back(static_cast<std::uint32_t>(*side));
    size *= fabric.grid.back();
  }
  if (fabric.num_ranks() % size == 0) return {};
  return document.wrong("grid",
                        fmt::format("{} ranks are not a whole number of grids of {}", fabric.num_ranks(), text));
}

Status read_ranks(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY(read_places(document, fabric));
  TUTTI_TRY(read_cores(document, fabric));
  if (!document.has("memory")) return {};
  std::string name;
  TUTTI_TRY(document.read("memory", name));
  const Status status = choose_memory(name, fabric);
  return status.ok() ? status : document.wrong("memory", status.message());
}

}  // namespace tutti::fabric
