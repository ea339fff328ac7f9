// SPDX-License-Identifier: Apache-2.0
#include "tune/export/rules.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::tune {

namespace {

// Of one variable the last value counts, as in an environment.
void set_variable(PeerVariables& variables, const std::string& name, const std::string& value) {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const auto& each) { return each.first == name; });
  if (found == variables.end()) {
    variables.emplace_back(name, value);
  } else {
    found->second = value;
  }
}

Result<RuleSection> rules_of_section(const DecisionTable& table, const TableSection& section,
                                     const ForcedBy& forced_by) {
  RuleSection made{.collective = section.collective,
                   .ranks = section.ranks,
                   .hosts = section.hosts,
                   .ranges = {},
                   .line = section.line};
  for (const TableRange& range : section.ranges) {
    RuleRange rule{
        .most_bytes = range.most_bytes, .algorithm = range.way.algorithm, .variables = {}, .line = range.line};
    if (rule.line == 0) rule.line = section.line;
    if (!rule.algorithm.empty()) {
      Result<PeerVariables> forced = forced_by(section.collective, section.ranks, rule.algorithm);
      if (!forced.ok()) return forced.status().with_context(fmt::format("{}:{}", table.title(), rule.line));
      rule.variables = std::move(*forced);
    }
    for (const auto& [name, value] : range.way.settings) set_variable(rule.variables, name, value);
    made.ranges.push_back(std::move(rule));
  }
  return made;
}

// How well a section stands for all types, since no format tells types apart.
int rating_of(TypeClass types) {
  switch (types) {
    case TypeClass::any: return 2;
    case TypeClass::plain: return 1;
    case TypeClass::narrow: return 0;
  }
  return 0;
}

// Why a section is not exported; empty where it is.
std::string objection_to(const TableSection& section) {
  if (section.memory == TableMemory::symmetric)
    return "it is for symmetric memory, which no library's file tells apart";
  if (section.types == TypeClass::narrow) return "it is for narrow types alone, which no library's file tells apart";
  return "";
}

// Of the same collective and number of ranks: on more hosts a choice matters more.
bool is_better(const TableSection& section, const TableSection& than) {
  if (section.hosts != than.hosts) return section.hosts > than.hosts;
  return rating_of(section.types) > rating_of(than.types);
}

using SectionKey = std::pair<Collective, std::uint32_t>;

}  // namespace

const RuleRange& RuleSection::range_of(std::uint64_t bytes) const {
  const auto found =
      std::find_if(ranges.begin(), ranges.end(), [&](const RuleRange& range) { return bytes <= range.most_bytes; });
  return found == ranges.end() ? ranges.back() : *found;
}

const RuleSection* Rules::find(Collective collective, std::uint32_t ranks) const {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const RuleSection& section) {
    return section.collective == collective && section.ranks == ranks;
  });
  return found == sections.end() ? nullptr : &*found;
}

Result<Rules> rules_of(const DecisionTable& table, std::string_view peer, const ForcedBy& forced_by) {
  if (!same_name(table.peer, peer))
    return wrong_argument(fmt::format("{} is a table of {}; --to is {}", table.title(), in_quotes(table.peer), peer));
  Rules rules;
  rules.title = table.title();
  std::map<SectionKey, const TableSection*> chosen;
  const auto note = [&](const TableSection& section, std::string_view why) {
    rules.left_out.push_back(fmt::format("{}:{}: {} on {} ranks: {}", rules.title, section.line,
                                         name_of(section.collective), section.ranks, why));
  };
  for (const TableSection& section : table.sections) {
    if (const std::string why = objection_to(section); !why.empty()) {
      note(section, why);
      continue;
    }
    const TableSection*& best = chosen[{section.collective, section.ranks}];
    const TableSection* worse = best == nullptr ? nullptr : &section;
    if (best != nullptr && is_better(section, *best)) worse = best;
    if (worse != &section) best = &section;
    if (worse == nullptr) continue;
    note(*worse, worse->hosts != best->hosts
                     ? fmt::format("the section for {} hosts stands for it, since no library's file tells hosts apart",
                                   best->hosts)
                     : "another section, for more types, stands for it");
  }
  for (const auto& [key, section] : chosen) {
    TUTTI_TRY_ASSIGN(RuleSection made, rules_of_section(table, *section, forced_by));
    rules.sections.push_back(std::move(made));
  }
  simplify(rules);
  return rules;
}

std::string place_of(const Rules& rules, const RuleSection& section) {
  return fmt::format("{}:{}: {} on {} ranks", rules.title, section.line, name_of(section.collective), section.ranks);
}

std::string place_of(const Rules& rules, const RuleSection& section, const RuleRange& range) {
  const std::string end =
      range.most_bytes == kNoEnd ? "in the last range" : "up to " + to_text(Bytes(range.most_bytes));
  return fmt::format("{}:{}: {} on {} ranks, {}", rules.title, range.line, name_of(section.collective), section.ranks,
                     end);
}

void leave_out(Rules& rules, const std::function<std::string(const RuleSection&, const RuleRange&)>& why) {
  for (RuleSection& section : rules.sections)
    for (RuleRange& range : section.ranges) {
      if (range.is_own_choice()) continue;
      const std::string reason = why(section, range);
      if (reason.empty()) continue;
      rules.left_out.push_back(fmt::format("{}: {}", place_of(rules, section, range), reason));
      range.algorithm.clear();
      range.variables.clear();
    }
}

void leave_out_sections(Rules& rules, const std::function<std::string(const RuleSection&)>& why) {
  std::erase_if(rules.sections, [&](const RuleSection& section) {
    const std::string reason = why(section);
    if (!reason.empty()) rules.left_out.push_back(fmt::format("{}: {}", place_of(rules, section), reason));
    return !reason.empty();
  });
}

void simplify(Rules& rules) {
  for (RuleSection& section : rules.sections) {
    std::vector<RuleRange> merged;
    for (RuleRange& range : section.ranges) {
      if (!merged.empty() && merged.back().variables == range.variables) {
        merged.back().most_bytes = range.most_bytes;
      } else {
        merged.push_back(std::move(range));
      }
    }
    section.ranges = std::move(merged);
  }
  std::erase_if(rules.sections, [](const RuleSection& section) {
    return std::all_of(section.ranges.begin(), section.ranges.end(),
                       [](const RuleRange& range) { return range.is_own_choice(); });
  });
}

std::uint64_t least_bytes_of(const RuleSection& section, std::size_t range) {
  return range == 0 ? 0 : section.ranges[range - 1].most_bytes + 1;
}

}  // namespace tutti::tune
