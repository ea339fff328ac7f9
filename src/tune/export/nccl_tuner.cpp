// SPDX-License-Identifier: Apache-2.0
#include "tune/export/nccl_tuner.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::tune {

namespace {

struct NcclFunction {
  Collective collective{};
  nccl_tuner::Function function{};
};
constexpr auto kNcclFunctions =
    std::to_array<NcclFunction>({{Collective::all_reduce, nccl_tuner::Function::all_reduce},
                                 {Collective::all_gather, nccl_tuner::Function::all_gather},
                                 {Collective::reduce_scatter, nccl_tuner::Function::reduce_scatter},
                                 {Collective::broadcast, nccl_tuner::Function::broadcast},
                                 {Collective::reduce, nccl_tuner::Function::reduce}});

// NCCL's names as its variable has them, where the plugins have others.
struct NcclNames {
  std::string_view variable;
  std::string_view plugin;
};
constexpr auto kNcclAlgorithmNames = std::to_array<NcclNames>(
    {{"CollnetDirect", "collnet_direct"}, {"CollnetChain", "collnet_chain"}, {"NVLSTree", "nvls_tree"}});

constexpr std::uint32_t kMostChannels = 64;

// Below this size the one channel that the plugin gives to calls without a line is about what NCCL takes by itself.
constexpr std::uint64_t kCatchAllFrom = 65536;

std::optional<nccl_tuner::Function> nccl_function(Collective collective) {
  const auto found = std::find_if(kNcclFunctions.begin(), kNcclFunctions.end(),
                                  [&](const NcclFunction& each) { return each.collective == collective; });
  if (found == kNcclFunctions.end()) return std::nullopt;
  return found->function;
}

std::string in_lower_case(std::string_view word) {
  std::string lower(word);
  for (char& each : lower)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return lower;
}

std::optional<nccl_tuner::Algorithm> algorithm_of_variable(std::string_view value) {
  const auto found = std::find_if(kNcclAlgorithmNames.begin(), kNcclAlgorithmNames.end(),
                                  [&](const NcclNames& each) { return same_name(each.variable, value); });
  return nccl_tuner::find_algorithm(found == kNcclAlgorithmNames.end() ? in_lower_case(value)
                                                                       : std::string(found->plugin));
}

std::optional<std::uint32_t> channels_of(std::string_view value) {
  std::uint32_t channels = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), channels);
  if (error != std::errc() || stop != value.data() + value.size()) return std::nullopt;
  if (channels == 0 || channels > kMostChannels) return std::nullopt;
  return channels;
}

// --- from rules

struct NcclWay {
  std::optional<nccl_tuner::Algorithm> algorithm;
  std::optional<nccl_tuner::Protocol> protocol;
  std::int32_t channels = 0;
  bool uses_collnet = false;
  std::string objection;
};

NcclWay nccl_way(const RuleRange& range) {
  NcclWay way;
  for (const auto& [name, value] : range.variables) {
    if (name == "NCCL_ALGO") {
      way.algorithm = algorithm_of_variable(value);
      if (!way.algorithm) way.objection = fmt::format("the plugin knows no algorithm {}", in_quotes(value));
    } else if (name == "NCCL_PROTO") {
      way.protocol = nccl_tuner::find_protocol(in_lower_case(value));
      if (!way.protocol) way.objection = fmt::format("the plugin knows no protocol {}", in_quotes(value));
    } else if (name == "NCCL_MAX_NCHANNELS" || name == "NCCL_MAX_CTAS") {
      const std::optional<std::uint32_t> channels = channels_of(value);
      way.channels = static_cast<std::int32_t>(channels.value_or(0));
      if (!channels)
        way.objection = fmt::format("{} is {}; channels go from 1 to {}", name, in_quotes(value), kMostChannels);
    } else if (name == "NCCL_COLLNET_ENABLE") {
      way.uses_collnet = true;
    } else {
      way.objection = fmt::format("a line of the plugin cannot set {}", name);
    }
    if (!way.objection.empty()) return way;
  }
  if (!way.algorithm || !way.protocol) way.objection = "a line of the plugin needs both an algorithm and a protocol";
  return way;
}

void add_catch_alls(NcclTuner& tuner) {
  for (const NcclFunction& each : kNcclFunctions)
    tuner.lines.push_back({.function = each.function,
                           .least_bytes = kCatchAllFrom,
                           .algorithm = nccl_tuner::Algorithm::ring,
                           .protocol = nccl_tuner::Protocol::simple});
}

void note_own_choices(Rules& rules) {
  for (const RuleSection& section : rules.sections)
    for (const RuleRange& range : section.ranges)
      if (range.is_own_choice())
        rules.left_out.push_back(
            fmt::format("{}: NCCL's example plugin has no way to leave the choice to NCCL; from 64K on its last "
                        "lines take Ring and Simple",
                        place_of(rules, section, range)));
}

}  // namespace

const nccl_tuner::Line* NcclTuner::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
  const std::optional<nccl_tuner::Function> function = nccl_function(collective);
  if (!function) return nullptr;
  const nccl_tuner::Call call{.function = *function, .bytes = bytes, .ranks = ranks};
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const nccl_tuner::Line& line) { return line.matches(call); });
  return found == lines.end() ? nullptr : &*found;
}

Result<NcclTuner> read_nccl_tuner(std::string_view text, std::string_view place) {
  nccl_tuner::ReadLines read = nccl_tuner::read_lines(text);
  if (!read.error.empty())
    return wrong_argument(fmt::format("{}:{}: {}", printable(place), read.error_line, read.error));
  return NcclTuner{.lines = std::move(read.lines)};
}

std::string write_nccl_tuner(const NcclTuner& tuner, std::string_view about) {
  std::string text = fmt::format("# Made by tutti export from {}\n", printable(about).substr(0, 200));
  text += "# collective,min_bytes,max_bytes,algorithm,protocol,channels (0: NCCL's own number),nodes,ranks\n";
  bool is_first = true;
  for (const nccl_tuner::Line& line : tuner.lines) {
    if (is_catch_all(line) && is_first)
      text += "# Everything else: without these lines NCCL's example plugin gives it one channel.\n";
    is_first = is_first && !is_catch_all(line);
    text += nccl_tuner::write_line(line) + "\n";
  }
  return text;
}

Exported export_to_nccl(Rules rules, const NcclPlugin& plugin) {
  leave_out_sections(rules, [](const RuleSection& section) {
    return nccl_function(section.collective) ? "" : "NCCL's tuners are not asked about it";
  });
  leave_out(rules, [](const RuleSection&, const RuleRange& range) { return nccl_way(range).objection; });
  simplify(rules);
  if (plugin.has_catch_alls) note_own_choices(rules);
  Exported exported;
  NcclTuner tuner;
  bool uses_collnet = false;
  for (const RuleSection& section : rules.sections)
    for (std::size_t range = 0; range < section.ranges.size(); ++range) {
      if (section.ranges[range].is_own_choice()) continue;
      const NcclWay way = nccl_way(section.ranges[range]);
      uses_collnet = uses_collnet || way.uses_collnet;
      tuner.lines.push_back({.function = *nccl_function(section.collective),
                             .least_bytes = least_bytes_of(section, range),
                             .most_bytes = section.ranges[range].most_bytes,
                             .algorithm = *way.algorithm,
                             .protocol = *way.protocol,
                             .channels = way.channels,
                             .ranks = static_cast<std::int32_t>(section.ranks)});
    }
  if (plugin.has_catch_alls) add_catch_alls(tuner);
  exported.text = write_nccl_tuner(tuner, rules.title);
  exported.variables = {{"NCCL_TUNER_PLUGIN", plugin.library}};
  if (uses_collnet) exported.variables.emplace_back("NCCL_COLLNET_ENABLE", "1");
  exported.file_variable = "NCCL_TUNER_CONFIG_FILE";
  exported.rules = std::move(rules);
  return exported;
}

}  // namespace tutti::tune
