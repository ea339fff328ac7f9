// SPDX-License-Identifier: Apache-2.0
#include "table/decision_table.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"

namespace tutti {

std::string_view name_of(TableMemory memory) { return memory == TableMemory::symmetric ? "symmetric" : "ordinary"; }

std::string_view name_of(TypeClass types) {
  switch (types) {
    case TypeClass::any: return "any";
    case TypeClass::plain: return "plain";
    case TypeClass::narrow: return "narrow";
  }
  return "";
}

TypeClass class_of(Type type) { return is_floating(type) && size_of(type) < 4 ? TypeClass::narrow : TypeClass::plain; }

std::string_view name_of(CallTuning::Copies copies) {
  switch (copies) {
    case CallTuning::Copies::by_profile: return "by_profile";
    case CallTuning::Copies::staged: return "staged";
    case CallTuning::Copies::attached: return "attached";
  }
  return "";
}

std::string_view name_of(CallTuning::Stores stores) {
  switch (stores) {
    case CallTuning::Stores::by_profile: return "by_profile";
    case CallTuning::Stores::cached: return "cached";
    case CallTuning::Stores::streamed: return "streamed";
  }
  return "";
}

std::string CallTuning::to_string() const {
  std::vector<std::string> words;
  if (round) words.push_back(fmt::format("round={}", to_text(Bytes(*round))));
  if (copies != Copies::by_profile) words.push_back(fmt::format("copies={}", name_of(copies)));
  if (stores != Stores::by_profile) words.push_back(fmt::format("stores={}", name_of(stores)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string TableWay::to_string() const {
  std::vector<std::string> words;
  if (!tuning.is_empty()) words.push_back(tuning.to_string());
  for (const auto& [name, value] : settings) words.push_back(fmt::format("{}={}", name, value));
  const std::string_view first = algorithm.empty() ? std::string_view("the default") : std::string_view(algorithm);
  return words.empty() ? std::string(first) : fmt::format("{} [{}]", first, fmt::join(words, ", "));
}

const TableRange& TableSection::range_of(std::uint64_t bytes) const {
  const auto found =
      std::find_if(ranges.begin(), ranges.end(), [&](const TableRange& range) { return bytes <= range.most_bytes; });
  return found == ranges.end() ? ranges.back() : *found;
}

std::optional<TableAnswer> find_section(const DecisionTable& table, const TableQuestion& question) {
  // The least of these is the best.
  using Rating = std::tuple<double, double, int, std::uint32_t>;
  const auto distance_between = [](std::uint32_t a, std::uint32_t b) {
    return std::abs(std::log2(static_cast<double>(a) / std::max(b, 1U)));
  };
  std::optional<Rating> best;
  TableAnswer answer;
  for (const TableSection& section : table.sections) {
    if (section.collective != question.collective || section.memory != question.memory) continue;
    const bool is_of_several = section.hosts > 1;
    if (is_of_several != (question.hosts > 1)) continue;
    const bool was_crowded = table.cores != 0 && section.ranks > table.cores;
    if (!is_of_several && table.cores != 0 && was_crowded != question.crowded) continue;
    const double of_hosts = distance_between(question.hosts, section.hosts);
    const double distance = distance_between(question.ranks, section.ranks);
    // The class itself, then all types, then others.
    const int of_others = section.types == question.types ? 0 : section.types == TypeClass::any ? 1 : 2;
    const Rating rating{of_hosts, distance, of_others, section.ranks};
    if (best && *best <= rating) continue;
    best = rating;
    answer = {.section = &section, .is_exact = section.ranks == question.ranks && section.hosts == question.hosts};
  }
  return best ? std::optional(answer) : std::nullopt;
}

}  // namespace tutti
