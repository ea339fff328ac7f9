// SPDX-License-Identifier: Apache-2.0
// Tables to export, and the questions that show whether a file means the same.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peers/registry.hpp"
#include "table/decision_table.hpp"
#include "table/table_file.hpp"
#include "tune/export/rules.hpp"
#include "tune/export/ucc_score.hpp"

namespace tutti::tune {

// What the registry of peers forces an algorithm with; of UCC, which is no peer, its name.
inline ForcedBy forced_by(const std::string& peer) {
  return [peer](Collective collective, std::uint32_t ranks, std::string_view algorithm) -> Result<PeerVariables> {
    if (peer == "ucc") return PeerVariables{{std::string(kUccAlgorithm), std::string(algorithm)}};
    for (const harness::ForcedAlgorithm& each : peers::algorithms_of(**peers::find_peer(peer), collective)) {
      if (each.name != algorithm || !harness::allows(each.ranks, static_cast<int>(ranks))) continue;
      PeerVariables variables;
      for (const harness::Setting& setting : each.settings) variables.emplace_back(setting.name, *setting.value);
      return variables;
    }
    return wrong_argument(fmt::format("no algorithm {}", algorithm));
  };
}

// The value of the peer's variable for an algorithm, as the registry has it.
inline std::string value_of(const std::string& peer, Collective collective, std::string_view algorithm) {
  const peers::PeerRow& row = **peers::find_peer(peer);
  for (const peers::Algorithm& each : row.algorithms)
    if (each.collective == collective && each.name == algorithm) return std::string(each.value);
  return "";
}

inline std::vector<std::string> names_for(const std::string& peer, Collective collective, std::uint32_t ranks) {
  if (peer == "ucc") return {"knomial", "sra_knomial", "2"};
  std::vector<std::string> names;
  for (const harness::ForcedAlgorithm& each : peers::algorithms_of(**peers::find_peer(peer), collective))
    if (harness::allows(each.ranks, static_cast<int>(ranks))) names.push_back(each.name);
  return names;
}

inline DecisionTable table_of_peer(const std::string& peer, std::vector<TableSection> sections) {
  DecisionTable table;
  table.name = "test";
  table.peer = peer;
  table.fingerprint = kAnyMachine;
  table.sections = std::move(sections);
  return table;
}

inline TableRange range_to(std::uint64_t most, std::string algorithm,
                           std::vector<std::pair<std::string, std::string>> settings = {}) {
  TableRange range;
  range.most_bytes = most;
  range.way.algorithm = std::move(algorithm);
  range.way.settings = std::move(settings);
  return range;
}

inline TableSection section_of(Collective collective, std::uint32_t ranks, std::vector<TableRange> ranges) {
  TableSection section;
  section.collective = collective;
  section.ranks = ranks;
  section.ranges = std::move(ranges);
  return section;
}

// Of all regular collectives on some numbers of ranks, with ends of ranges that the ranks divide.
inline DecisionTable random_table(const std::string& peer, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t most) { return random() % most; };
  std::vector<TableSection> sections;
  for (int number = 0; number < kNumRegular; ++number) {
    const auto collective = static_cast<Collective>(number);
    for (const std::uint32_t ranks : {2U, 3U, 4U, 7U, 8U, 64U}) {
      const std::vector<std::string> names = names_for(peer, collective, ranks);
      if (names.empty() || below(3) == 0) continue;
      const auto way = [&] { return below(4) == 0 ? std::string() : names[below(names.size())]; };
      std::vector<TableRange> ranges;
      std::uint64_t end = 0;
      for (std::uint64_t left = below(4); left > 0; --left) {
        end += (1 + below(20) * (1 + below(5000))) * ranks;
        ranges.push_back(range_to(end, way()));
      }
      ranges.push_back(range_to(kNoEnd, way()));
      sections.push_back(section_of(collective, ranks, std::move(ranges)));
    }
  }
  return table_of_peer(peer, std::move(sections));
}

struct Asked {
  Collective collective{};
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
};

// On every number of ranks up to a few beyond the table's; of each the sizes around all ends of the table, as many
// bytes as make whole blocks.
inline std::vector<Asked> questions_of(const DecisionTable& table) {
  std::vector<Asked> questions;
  for (int number = 0; number < kNumRegular; ++number) {
    const auto collective = static_cast<Collective>(number);
    std::set<std::uint64_t> sizes{0, 1, std::uint64_t{1} << 40U};
    std::set<std::uint32_t> ranks{1, 5, 100};
    for (const TableSection& section : table.sections) {
      if (section.collective != collective) continue;
      for (const std::uint32_t near : {section.ranks - 1, section.ranks, section.ranks + 1}) ranks.insert(near);
      for (const TableRange& range : section.ranges)
        if (range.most_bytes != kNoEnd)
          for (const std::uint64_t near : {range.most_bytes - 1, range.most_bytes, range.most_bytes + 1})
            sizes.insert(near);
    }
    for (const std::uint32_t each : ranks)
      for (const std::uint64_t size : sizes) {
        questions.push_back({collective, each, size / each * each});
        questions.push_back({collective, each, (size / each + 1) * each});
      }
  }
  return questions;
}

// What the rules say; null where they leave it to the library.
inline const RuleRange* told(const Rules& rules, const Asked& asked) {
  const RuleSection* const section = rules.find(asked.collective, asked.ranks);
  if (section == nullptr) return nullptr;
  const RuleRange& range = section->range_of(asked.bytes);
  return range.is_own_choice() ? nullptr : &range;
}

inline std::string to_string(const Asked& asked) {
  return fmt::format("{} on {} ranks, {} bytes", name_of(asked.collective), asked.ranks, asked.bytes);
}

// The table's own way; empty: the library's choice.
inline std::string algorithm_in(const DecisionTable& table, const Asked& asked) {
  for (const TableSection& section : table.sections)
    if (section.collective == asked.collective && section.ranks == asked.ranks)
      return section.range_of(asked.bytes).way.algorithm;
  return "";
}

inline bool is_left_out(const Rules& rules, Collective collective, std::uint32_t ranks) {
  const std::string place = fmt::format(": {} on {} ranks", name_of(collective), ranks);
  for (const std::string& line : rules.left_out)
    if (line.find(place) != std::string::npos) return true;
  return false;
}

}  // namespace tutti::tune
