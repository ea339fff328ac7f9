// SPDX-License-Identifier: Apache-2.0
// From rules and MPICH's own tree to a tree.
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "data/message_size.hpp"
#include "tune/export/json_tree.hpp"
#include "tune/export/mpich_names.hpp"
#include "tune/export/mpich_selection.hpp"

namespace tutti::tune {

namespace {

using document::TomlEntry;
using document::TomlTable;
using document::TomlValue;

// MPICH reads numbers as an int.
constexpr std::uint64_t kMostOfMpich = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kDeviceVariable = "MPIR_CVAR_DEVICE_COLLECTIVES";
constexpr std::size_t kPage = 4096;
constexpr std::string_view kIntraKey = "comm_type=intra";

void add_node(TomlTable& to, std::string key, TomlTable below) {
  to.entries.push_back({std::move(key), {.line = 0, .value = std::move(below)}});
}

TomlTable leaf_node(std::string function) {
  TomlTable leaf;
  add_node(leaf, fmt::format("algorithm={}", function), {});
  return leaf;
}

// The value of MPICH's variable for the collective; nothing where the range sets something that a tree cannot.
struct NamedWay {
  std::string algorithm;
  std::string objection;
};

NamedWay named_way(const RuleRange& range) {
  NamedWay way;
  for (const auto& [name, value] : range.variables) {
    if (name == kDeviceVariable) continue;
    if (name.starts_with("MPIR_CVAR_") && name.ends_with("_INTRA_ALGORITHM")) {
      way.algorithm = value;
    } else {
      way.objection = fmt::format("a selection file cannot set {}", name);
      return way;
    }
  }
  if (way.algorithm.empty()) way.objection = "no algorithm is named, and a selection file has nothing else";
  return way;
}

void leave_out_of_mpich(Rules& rules) {
  leave_out_sections(rules, [](const RuleSection& section) {
    return mpich_word_of(section.collective).empty() ? "MPICH has no such collective" : "";
  });
  leave_out(rules, [](const RuleSection&, const RuleRange& range) { return named_way(range).objection; });
  simplify(rules);
  leave_out_sections(rules, [](const RuleSection& section) {
    const bool has_size = mpich_size_of(section.collective) != MpichSize::none;
    return has_size || section.is_uniform()
               ? ""
               : "it has several ranges, and MPICH's file cannot ask for its size in bytes";
  });
}

// The way, and the base where a call is not what the algorithm is for, as a forced algorithm gives way too.
TomlTable guarded_node(Collective collective, std::string_view algorithm, const TomlTable& base) {
  const MpichNeeds needs = mpich_needs_of(collective, algorithm);
  TomlTable node = leaf_node(mpich_function_of(collective, algorithm));
  const auto guard = [&](bool is_needed, std::string_view key, std::string_view other) {
    if (!is_needed) return;
    TomlTable outer;
    add_node(outer, std::string(key), std::move(node));
    add_node(outer, std::string(other), base);
    node = std::move(outer);
  };
  if (needs.many_elements) {
    TomlTable outer;
    add_node(outer, "count<pow2", base);
    add_node(outer, "count=any", std::move(node));
    node = std::move(outer);
  }
  guard(needs.in_place, "is_sendbuf_inplace=yes", "is_sendbuf_inplace=no");
  guard(needs.out_of_place, "is_sendbuf_inplace=no", "is_sendbuf_inplace=yes");
  guard(needs.built_in_operator, "is_op_built_in=yes", "is_op_built_in=no");
  guard(needs.commutative, "is_commutative=yes", "is_commutative=no");
  guard(needs.consecutive, "is_node_consecutive=yes", "is_node_consecutive=no");
  guard(needs.parent, "comm_hierarchy=parent", "comm_hierarchy=any");
  return node;
}

TomlTable node_of_range(const RuleSection& section, const RuleRange& range, const TomlTable& base) {
  if (range.is_own_choice()) return base;
  return guarded_node(section.collective, named_way(range).algorithm, base);
}

TomlTable node_of_section(const RuleSection& section, const TomlTable& base) {
  if (section.is_uniform()) return node_of_range(section, section.ranges.front(), base);
  const bool is_average = mpich_size_of(section.collective) == MpichSize::average;
  const std::string_view key = is_average ? "avg_msg_size" : "total_msg_size";
  const std::uint64_t blocks = is_average ? num_blocks(section.collective, section.ranks) : 1;
  TomlTable node;
  for (const RuleRange& range : section.ranges) {
    const std::string name =
        range.most_bytes == kNoEnd ? fmt::format("{}=any", key) : fmt::format("{}<={}", key, range.most_bytes / blocks);
    // Two ends that MPICH cannot tell apart: nothing lies between them.
    if (!node.entries.empty() && node.entries.back().key == name) continue;
    add_node(node, name, node_of_range(section, range, base));
  }
  return node;
}

// An end that MPICH's numbers do not reach is brought within them, and what is larger is MPICH's own choice.
void cut_at_largest(Rules& rules) {
  for (RuleSection& section : rules.sections) {
    if (section.is_uniform()) continue;
    const bool is_average = mpich_size_of(section.collective) == MpichSize::average;
    const std::uint64_t blocks = is_average ? num_blocks(section.collective, section.ranks) : 1;
    const std::uint64_t most = kMostOfMpich * blocks;
    const auto first = std::find_if(section.ranges.begin(), section.ranges.end(), [&](const RuleRange& range) {
      return range.most_bytes != kNoEnd && range.most_bytes > most;
    });
    if (first == section.ranges.end()) continue;
    rules.left_out.push_back(fmt::format("{}: from {} bytes on it is MPICH's own choice, since its numbers end there",
                                         place_of(rules, section), most + 1));
    first->most_bytes = most;
    section.ranges.erase(first + 1, section.ranges.end());
    section.ranges.push_back({.most_bytes = kNoEnd, .algorithm = {}, .variables = {}, .line = section.line});
  }
}

// By ranks, with the base for all that the table does not have.
TomlTable node_of_collective(const std::vector<const RuleSection*>& sections, const TomlTable& base) {
  TomlTable node;
  std::uint64_t next = 0;
  for (const RuleSection* section : sections) {
    if (section->ranks > next) add_node(node, fmt::format("comm_size<{}", section->ranks), base);
    add_node(node, fmt::format("comm_size<={}", section->ranks), node_of_section(*section, base));
    next = std::uint64_t{section->ranks} + 1;
  }
  add_node(node, "comm_size=any", base);
  return node;
}

TomlTable* child_of(TomlTable& node, std::string_view key) {
  const auto found =
      std::find_if(node.entries.begin(), node.entries.end(), [&](const TomlEntry& entry) { return entry.key == key; });
  return found == node.entries.end() ? nullptr : std::get_if<TomlTable>(&found->value.value);
}

// Where the tree says what intracommunicators do. A collective without that question has one answer for both kinds.
Result<TomlTable*> place_in(TomlTable& tree, Collective collective) {
  TomlTable* const node = child_of(tree, fmt::format("collective={}", mpich_word_of(collective)));
  if (node == nullptr)
    return Status(Code::unsupported, fmt::format("MPICH's own selection has no {} at its top; trees of MPICH 4 have",
                                                 mpich_word_of(collective)));
  TomlTable* const intra = child_of(*node, kIntraKey);
  return intra == nullptr ? node : intra;
}

// A device's own collectives would go before the file; those of other collectives stay.
PeerVariables variables_of_device(const Rules& rules) {
  PeerVariables variables{{std::string(kDeviceVariable), "percoll"}};
  for (const RuleSection& section : rules.sections) {
    std::string word(mpich_word_of(section.collective));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    std::pair<std::string, std::string> variable{fmt::format("MPIR_CVAR_{}_DEVICE_COLLECTIVE", word), "0"};
    if (variables.back() != variable) variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace

Result<Exported> export_to_mpich(Rules rules, const MpichSelection& base) {
  leave_out_of_mpich(rules);
  cut_at_largest(rules);
  simplify(rules);
  TomlTable tree = base.tree();
  for (std::size_t first = 0; first < rules.sections.size();) {
    const Collective collective = rules.sections[first].collective;
    std::vector<const RuleSection*> sections;
    for (; first < rules.sections.size() && rules.sections[first].collective == collective; ++first)
      sections.push_back(&rules.sections[first]);
    TUTTI_TRY_ASSIGN(TomlTable * place, place_in(tree, collective));
    const TomlTable own = *place;
    *place = node_of_collective(sections, own);
  }
  Exported exported;
  exported.text = write_json(tree);
  // MPICH maps the file and looks for the zero behind it, which a file of whole pages has not.
  if (exported.text.size() % kPage == 0) exported.text += "\n";
  exported.variables = variables_of_device(rules);
  exported.file_variable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE";
  exported.rules = std::move(rules);
  return exported;
}

}  // namespace tutti::tune
