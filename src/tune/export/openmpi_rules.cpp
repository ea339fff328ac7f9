// SPDX-License-Identifier: Apache-2.0
#include "tune/export/openmpi_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace tutti::tune {

namespace {

enum class FanOutOf : std::uint8_t { nothing, tree, chain };  // which variable a forced algorithm is given
enum class Counts : std::uint8_t { bytes, nothing, type };    // what a rule's size is compared with

struct TunedRow {
  std::string_view word;
  std::optional<Collective> collective = {};
  FanOutOf fan_out = FanOutOf::nothing;
  Counts counts = Counts::bytes;
};

// Open MPI's enumeration COLLTYPE, and what coll_tuned_decision_dynamic.c of 4.1 to 6 does. All sizes are those of
// nccl-tests: of one buffer, or of all blocks together. A scan is given the size of an element times the ranks.
constexpr auto kTuned = std::to_array<TunedRow>({
    {"allgather", Collective::all_gather, FanOutOf::tree},
    {"allgatherv"},
    {"allreduce", Collective::all_reduce, FanOutOf::tree},
    {"alltoall", Collective::all_to_all, FanOutOf::tree},
    {"alltoallv"},
    {"alltoallw"},
    {"barrier", Collective::barrier, FanOutOf::nothing, Counts::nothing},
    {"bcast", Collective::broadcast, FanOutOf::chain},
    {"exscan", Collective::exclusive_scan, FanOutOf::nothing, Counts::type},
    {"gather", Collective::gather, FanOutOf::tree},
    {"gatherv"},
    {"reduce", Collective::reduce, FanOutOf::chain},
    {"reduce_scatter"},
    {"reduce_scatter_block", Collective::reduce_scatter, FanOutOf::chain},
    {"scan", Collective::scan, FanOutOf::nothing, Counts::type},
    {"scatter", Collective::scatter, FanOutOf::chain},
    {"scatterv"},
    {"neighbor_allgather"},
    {"neighbor_allgatherv"},
    {"neighbor_alltoall"},
    {"neighbor_alltoallv"},
    {"neighbor_alltoallw"},
});
static_assert(kTuned.size() == kNumOpenMpiCollectives);

// Of the variables coll_tuned_..._fanout, which a forced algorithm is given where nobody sets them.
constexpr std::uint32_t kUsualFanOut = 4;
constexpr std::string_view kDynamicRulesOn = "OMPI_MCA_coll_tuned_use_dynamic_rules";

std::optional<std::uint32_t> tuned_number_of(Collective collective) {
  const auto found =
      std::find_if(kTuned.begin(), kTuned.end(), [&](const TunedRow& row) { return row.collective == collective; });
  if (found == kTuned.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kTuned.begin());
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && stop == text.data() + text.size();
  if (!is_whole || number > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) return std::nullopt;
  return number;
}

// What Open MPI's file can say of the variables of a way, and why it cannot.
struct Translated {
  OpenMpiChoice choice;
  std::string objection;
};

Translated choice_of(const RuleSection& section, const RuleRange& range, int release) {
  Translated made;
  const TunedRow& row = kTuned[*tuned_number_of(section.collective)];
  const std::string algorithm = fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", row.word);
  if (row.fan_out != FanOutOf::nothing) made.choice.fan_out = kUsualFanOut;
  for (const auto& [name, value] : range.variables) {
    if (name == kDynamicRulesOn) continue;
    const std::optional<std::uint32_t> number = whole_number(value);
    const std::string_view part = name.starts_with(algorithm) ? std::string_view(name).substr(algorithm.size()) : "?";
    const bool is_known = part.empty() || part == "_segmentsize" || part == "_max_requests" || part == "_tree_fanout" ||
                          part == "_chain_fanout";
    if (!is_known) {
      made.objection = fmt::format("a rule cannot set {}", name);
    } else if (!number) {
      made.objection = fmt::format("{} is no whole number", name);
    } else if (part.empty()) {
      made.choice.algorithm = *number;
    } else if (part == "_segmentsize") {
      made.choice.segment_bytes = *number;
    } else if (part == "_max_requests") {
      made.choice.most_requests = number;
      if (release < 5) made.objection = fmt::format("rules of Open MPI 4 cannot set {}", name);
    } else if ((part == "_tree_fanout") == (row.fan_out == FanOutOf::tree) && row.fan_out != FanOutOf::nothing) {
      made.choice.fan_out = *number;
    } else {
      made.objection = fmt::format("Open MPI does not use {}", name);
    }
    if (!made.objection.empty()) return made;
  }
  if (made.choice.algorithm == 0) made.objection = "no algorithm is named, and a rule has nothing without one";
  return made;
}

void leave_out_of_openmpi(Rules& rules, int release) {
  leave_out_sections(rules, [](const RuleSection& section) {
    return tuned_number_of(section.collective) ? "" : "coll/tuned has no such collective";
  });
  leave_out(rules, [&](const RuleSection& section, const RuleRange& range) {
    return choice_of(section, range, release).objection;
  });
  simplify(rules);
  leave_out_sections(rules, [](const RuleSection& section) -> std::string {
    const Counts counts = kTuned[*tuned_number_of(section.collective)].counts;
    if (counts == Counts::bytes || section.is_uniform()) return "";
    if (counts == Counts::nothing) return "it has several ranges, and a barrier has no size";
    return "it has several ranges, and Open MPI's rules for it do not see how many elements a call has";
  });
}

// The sizes of communicators in their order, with Open MPI's own choice for all that the table does not have.
void add_communicators(const std::vector<const RuleSection*>& sections, int release, OpenMpiCollectiveRules& into) {
  std::uint64_t next = 0;
  for (const RuleSection* section : sections) {
    if (section->ranks > next)
      into.communicators.push_back({.least_ranks = next, .most_ranks = section->ranks - 1, .messages = {{}}});
    OpenMpiCommunicatorRule& rule = into.communicators.emplace_back();
    rule.least_ranks = section->ranks;
    rule.most_ranks = section->ranks;
    for (std::size_t range = 0; range < section->ranges.size(); ++range) {
      OpenMpiMessageRule& message = rule.messages.emplace_back();
      message.least_bytes = least_bytes_of(*section, range);
      message.most_bytes = section->ranges[range].most_bytes;
      if (!section->ranges[range].is_own_choice())
        message.choice = choice_of(*section, section->ranges[range], release).choice;
    }
    next = std::uint64_t{section->ranks} + 1;
  }
  into.communicators.push_back({.least_ranks = next, .most_ranks = kNoEnd, .messages = {{}}});
}

}  // namespace

OpenMpiChoice OpenMpiRules::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
  const std::optional<std::uint32_t> number = tuned_number_of(collective);
  const auto found = std::find_if(collectives.begin(), collectives.end(),
                                  [&](const OpenMpiCollectiveRules& each) { return each.number == number; });
  if (!number || found == collectives.end() || found->communicators.empty()) return {};
  const std::uint64_t size = kTuned[*number].counts == Counts::bytes ? bytes : 0;
  const OpenMpiCommunicatorRule* communicator = has_bounds ? nullptr : &found->communicators.front();
  for (const OpenMpiCommunicatorRule& each : found->communicators) {
    const bool holds = each.least_ranks <= ranks && (!has_bounds || ranks <= each.most_ranks);
    if (holds) communicator = &each;
    if (holds == has_bounds) break;
  }
  if (communicator == nullptr || communicator->messages.empty()) return {};
  const OpenMpiMessageRule* message = has_bounds ? nullptr : &communicator->messages.front();
  for (const OpenMpiMessageRule& each : communicator->messages) {
    const bool holds = each.least_bytes <= size && (!has_bounds || size <= each.most_bytes);
    if (holds) message = &each;
    if (holds == has_bounds) break;
  }
  return message == nullptr || message->choice.is_own() ? OpenMpiChoice() : message->choice;
}

std::string_view openmpi_word_of(std::uint32_t number) { return number < kTuned.size() ? kTuned[number].word : ""; }

std::optional<std::uint32_t> openmpi_number_of(std::string_view word) {
  const auto found = std::find_if(kTuned.begin(), kTuned.end(), [&](const TunedRow& row) { return row.word == word; });
  if (found == kTuned.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kTuned.begin());
}

Exported export_to_openmpi(Rules rules, int release) {
  leave_out_of_openmpi(rules, release);
  OpenMpiRules made;
  made.has_bounds = release >= 6;
  for (std::size_t first = 0; first < rules.sections.size();) {
    const Collective collective = rules.sections[first].collective;
    std::vector<const RuleSection*> sections;
    for (; first < rules.sections.size() && rules.sections[first].collective == collective; ++first)
      sections.push_back(&rules.sections[first]);
    OpenMpiCollectiveRules& into = made.collectives.emplace_back();
    into.number = *tuned_number_of(collective);
    add_communicators(sections, release, into);
  }
  Exported exported;
  exported.text = release >= 6 ? write_openmpi_json(made) : write_openmpi_classic(made, rules.title);
  exported.variables = {{std::string(kDynamicRulesOn), "1"}};
  exported.file_variable = "OMPI_MCA_coll_tuned_dynamic_rules_filename";
  exported.rules = std::move(rules);
  return exported;
}

}  // namespace tutti::tune
