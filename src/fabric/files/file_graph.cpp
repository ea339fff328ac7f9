// SPDX-License-Identifier: Apache-2.0
// Nodes and links of a fabric's file.
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fabric/files/file_fields.hpp"
#include "fabric/files/file_parts.hpp"
#include "fabric/generators/draft.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

constexpr auto kNodeKeys = std::to_array<std::string_view>({"name", "switch", "multicast", "x", "y"});

// Where no node has a place in a drawing: ranks on a circle, and what is between them on a smaller one.
void set_positions(Fabric& fabric) {
  const auto all = static_cast<std::uint32_t>(fabric.nodes.size());
  const auto switches = static_cast<std::uint32_t>(
      std::count_if(fabric.nodes.begin(), fabric.nodes.end(), [](const Node& node) { return node.is_switch; }));
  std::array<std::uint32_t, 2> seen = {0, 0};
  for (Node& node : fabric.nodes) {
    const std::uint32_t count = node.is_switch ? switches : all - switches;
    const double radius = !node.is_switch ? room_for(count) : count == 1 ? 0 : room_for(all - switches) / 2;
    const Position position = on_circle(seen.at(node.is_switch ? 1 : 0)++, count, radius);
    node.x = position.x;
    node.y = position.y;
  }
}

using Names = std::unordered_map<std::string, std::uint32_t>;

Names names_of(const Fabric& fabric) {
  Names names;
  for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node) names.emplace(fabric.nodes[node].name, node);
  return names;
}

Result<std::uint32_t> find_node(const document::Section& section, std::string_view key, const std::string& name,
                                const Names& names) {
  if (const auto found = names.find(name); found != names.end()) return found->second;
  // Of so many names that it takes long nobody has mistaken one.
  constexpr std::size_t kMostCompared = 1000;
  std::vector<std::string_view> all;
  for (const auto& [each, node] : names) all.push_back(each);
  std::sort(all.begin(), all.end());
  const std::string nearest = all.size() > kMostCompared ? "" : nearest_hint(name, all);
  return section.wrong(key, fmt::format("there is no node {}{}", in_quotes(name), nearest));
}

struct Ends {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool both_ways = false;
};

Status wrong_ends(const document::Section& section) {
  return section.wrong("", "write between = [\"a\", \"b\"] for both ways, or from = \"a\" and to = \"b\" for one");
}

// The names of the two ends: of `between`, or of `from` and `to`.
Result<std::array<std::string, 2>> read_end_names(const document::Section& section) {
  std::array<std::string, 2> ends;
  if (const document::TomlValue* between = section.find("between")) {
    if (section.has("from") || section.has("to")) return wrong_ends(section);
    const auto* array = std::get_if<document::TomlArray>(&between->value);
    if (array == nullptr || array->size() != ends.size()) return wrong_ends(section);
    for (std::size_t end = 0; end < ends.size(); ++end) {
      const auto* name = std::get_if<std::string>(&(*array)[end].value);
      if (name == nullptr) return wrong_ends(section);
      ends.at(end) = *name;
    }
    return ends;
  }
  if (!section.has("from") || !section.has("to")) return wrong_ends(section);
  TUTTI_TRY(section.read("from", ends[0]));
  TUTTI_TRY(section.read("to", ends[1]));
  return ends;
}

Result<Ends> read_ends(const document::Section& section, const Names& names) {
  TUTTI_TRY_ASSIGN(const auto ends, read_end_names(section));
  const bool both_ways = section.has("between");
  TUTTI_TRY_ASSIGN(const std::uint32_t from, find_node(section, both_ways ? "between" : "from", ends[0], names));
  TUTTI_TRY_ASSIGN(const std::uint32_t to, find_node(section, both_ways ? "between" : "to", ends[1], names));
  if (from == to)
    return section.wrong(both_ways ? "between" : "to",
                         fmt::format("a link from {} to itself leads nowhere", in_quotes(ends[0])));
  return Ends{from, to, both_ways};
}

Status check_link_keys(const document::Section& section) {
  return section.check_keys(with_names({"between", "from", "to"}, kLinkFields));
}

Status check_ports(const document::Section& section, const Fabric& fabric, std::vector<std::uint32_t>& ports,
                   std::uint32_t node) {
  if (++ports[node] <= kMostPorts) return {};
  return section.wrong("", fmt::format("{} has more than {} ports, the most that there may be",
                                       in_quotes(fabric.nodes[node].name), kMostPorts));
}

}  // namespace

Status read_nodes(const document::Section& document, Fabric& fabric, std::vector<std::string>& places) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("nodes"));
  std::unordered_map<std::string, std::string> first;  // where a name is for the first time
  bool has_positions = false;
  for (const document::Section& section : sections) {
    TUTTI_TRY(section.check_keys(kNodeKeys));
    Node node;
    TUTTI_TRY(section.read("name", node.name));
    if (node.name.empty()) return section.wrong("name", "a node needs a name, such as name = \"gpu 0\"");
    const auto [same, is_new] = first.emplace(node.name, section.place_of("name"));
    if (!is_new)
      return section.wrong("name", fmt::format("{} is there already ({}); each node has a name of its own",
                                               in_quotes(node.name), same->second));
    TUTTI_TRY(section.read("switch", node.is_switch));
    TUTTI_TRY(section.read("multicast", node.multicast));
    if (node.multicast && !node.is_switch)
      return section.wrong("multicast", "only a switch copies to many; write switch = true, too");
    TUTTI_TRY(section.read("x", node.x));
    TUTTI_TRY(section.read("y", node.y));
    has_positions = has_positions || section.has("x") || section.has("y");
    if (!node.is_switch) {
      fabric.ranks.push_back({.node = static_cast<std::uint32_t>(fabric.nodes.size()), .core = fabric.num_ranks()});
      fabric.cores.emplace_back();
    }
    fabric.nodes.push_back(std::move(node));
    places.push_back(section.place_of());
  }
  if (fabric.nodes.empty()) return document.wrong("nodes", "there is no node");
  if (!has_positions) set_positions(fabric);
  return {};
}

Status read_links(const document::Section& document, Fabric& fabric) {
  Link usual;
  TUTTI_TRY_ASSIGN(const std::optional<document::Section> defaults, document.section("link"));
  if (defaults) {
    TUTTI_TRY(defaults->check_keys(with_names({}, kLinkFields)));
    TUTTI_TRY(read_fields(*defaults, kLinkFields, usual));
  }
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("links"));
  const Names names = names_of(fabric);
  std::vector<std::uint32_t> ports(fabric.nodes.size());
  for (const document::Section& section : sections) {
    TUTTI_TRY(check_link_keys(section));
    TUTTI_TRY_ASSIGN(const Ends ends, read_ends(section, names));
    Link link = usual;
    TUTTI_TRY(read_fields(section, kLinkFields, link));
    for (const auto& field : kLinkFields)
      if (field.name != "gap" && !section.has(field.name) && !(defaults && defaults->has(field.name)))
        return section.wrong(
            "", fmt::format("it has no {}; write {}, here or under [link]", field.name, example_of(field.unit)));
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
      link.from = from;
      link.to = to;
      fabric.links.push_back(link);
      return check_ports(section, fabric, ports, from);
    };
    TUTTI_TRY(add(ends.from, ends.to));
    if (ends.both_ways) TUTTI_TRY(add(ends.to, ends.from));
  }
  return {};
}

Status change_links(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("links"));
  if (sections.empty()) return {};
  const Names names = names_of(fabric);
  const auto key = [](std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32U | to; };
  std::unordered_multimap<std::uint64_t, std::uint32_t> links;
  for (std::uint32_t link = 0; link < fabric.links.size(); ++link)
    links.emplace(key(fabric.links[link].from, fabric.links[link].to), link);
  for (const document::Section& section : sections) {
    TUTTI_TRY(check_link_keys(section));
    TUTTI_TRY_ASSIGN(const Ends ends, read_ends(section, names));
    const auto change = [&](std::uint32_t from, std::uint32_t to) -> Status {
      const auto [begin, end] = links.equal_range(key(from, to));
      if (begin == end)
        return section.wrong("", fmt::format("the generator makes no link from {} to {}",
                                             in_quotes(fabric.nodes[from].name), in_quotes(fabric.nodes[to].name)));
      for (auto link = begin; link != end; ++link)
        TUTTI_TRY(read_fields(section, kLinkFields, fabric.links[link->second]));
      return {};
    };
    TUTTI_TRY(change(ends.from, ends.to));
    if (ends.both_ways) TUTTI_TRY(change(ends.to, ends.from));
  }
  return {};
}

}  // namespace tutti::fabric
