// SPDX-License-Identifier: Apache-2.0
#include "tune/export/nccl_tuner.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::tune {

namespace {

// What the plugin reads of a line, with its end.
constexpr std::size_t kMostOfNcclLine = 254;
constexpr std::size_t kLeastFields = 8;
constexpr std::size_t kMostFields = 10;

struct NcclWord {
  Collective collective{};
  std::string_view word;
};
constexpr auto kNcclWords = std::to_array<NcclWord>({{Collective::all_reduce, "allreduce"},
                                                     {Collective::all_gather, "allgather"},
                                                     {Collective::reduce_scatter, "reducescatter"},
                                                     {Collective::broadcast, "broadcast"},
                                                     {Collective::reduce, "reduce"}});
// NCCL's own names as its variable has them, and the plugin's.
struct NcclNames {
  std::string_view variable;
  std::string_view plugin;
};
constexpr auto kNcclAlgorithmNames = std::to_array<NcclNames>({{"Ring", "ring"},
                                                               {"Tree", "tree"},
                                                               {"CollnetDirect", "collnet_direct"},
                                                               {"CollnetChain", "collnet_chain"},
                                                               {"NVLS", "nvls"},
                                                               {"NVLSTree", "nvls_tree"},
                                                               {"PAT", "pat"}});
constexpr auto kNcclProtocolNames = std::to_array<NcclNames>({{"LL", "ll"}, {"LL128", "ll128"}, {"Simple", "simple"}});

// Below this size the one channel that the plugin gives to calls without a line is about what NCCL takes by itself.
constexpr std::uint64_t kCatchAllFrom = 65536;
constexpr std::string_view kCatchAllAlgorithm = "ring";
constexpr std::string_view kCatchAllProtocol = "simple";

std::string_view nccl_word_of(Collective collective) {
  const auto found = std::find_if(kNcclWords.begin(), kNcclWords.end(),
                                  [&](const NcclWord& each) { return each.collective == collective; });
  return found == kNcclWords.end() ? "" : found->word;
}

template <std::size_t N>
std::string_view plugin_name(const std::array<NcclNames, N>& names, std::string_view variable) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const NcclNames& each) { return same_name(each.variable, variable); });
  return found == names.end() ? "" : found->plugin;
}

template <std::size_t N>
bool is_plugin_name(const std::array<NcclNames, N>& names, std::string_view word) {
  return std::any_of(names.begin(), names.end(), [&](const NcclNames& each) { return each.plugin == word; });
}

template <typename T>
std::optional<T> number_field(std::string_view field) {
  T number = 0;
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc() || stop != field.data() + field.size()) return std::nullopt;
  return number;
}

// --- from rules

struct NcclWay {
  std::string algorithm;
  std::string protocol;
  std::int64_t channels = 0;
  bool uses_collnet = false;
  std::string objection;
};

NcclWay nccl_way(const RuleRange& range) {
  NcclWay way;
  for (const auto& [name, value] : range.variables) {
    if (name == "NCCL_ALGO") {
      way.algorithm = plugin_name(kNcclAlgorithmNames, value);
      if (way.algorithm.empty()) way.objection = fmt::format("the plugin knows no algorithm {}", in_quotes(value));
    } else if (name == "NCCL_PROTO") {
      way.protocol = plugin_name(kNcclProtocolNames, value);
      if (way.protocol.empty()) way.objection = fmt::format("the plugin knows no protocol {}", in_quotes(value));
    } else if (name == "NCCL_MAX_NCHANNELS" || name == "NCCL_MAX_CTAS") {
      const std::optional<std::uint32_t> channels = number_field<std::uint32_t>(value);
      way.channels = channels.value_or(0);
      if (!channels || *channels == 0 || *channels > 64)
        way.objection = fmt::format("{} is {}; channels go from 1 to 64", name, in_quotes(value));
    } else if (name == "NCCL_COLLNET_ENABLE") {
      way.uses_collnet = true;
    } else {
      way.objection = fmt::format("a line of the plugin cannot set {}", name);
    }
    if (!way.objection.empty()) return way;
  }
  if (way.algorithm.empty() || way.protocol.empty())
    way.objection = "a line of the plugin needs both an algorithm and a protocol";
  return way;
}

// The plugin gives one channel to calls that no line is for.
void add_catch_alls(NcclTuner& tuner) {
  for (const NcclWord& each : kNcclWords)
    tuner.rows.push_back({.collective = each.collective,
                          .least_bytes = kCatchAllFrom,
                          .most_bytes = kNoEnd,
                          .algorithm = std::string(kCatchAllAlgorithm),
                          .protocol = std::string(kCatchAllProtocol)});
}

void note_own_choices(Rules& rules) {
  for (const RuleSection& section : rules.sections)
    for (const RuleRange& range : section.ranges)
      if (range.is_own_choice())
        rules.left_out.push_back(
            fmt::format("{}: the plugin has no way to leave the choice to NCCL; from 64K on its last "
                        "lines take Ring and Simple",
                        place_of(rules, section, range)));
}

}  // namespace

const NcclTunerRow* NcclTuner::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const NcclTunerRow& row) {
    return row.collective == collective && bytes >= row.least_bytes && bytes <= row.most_bytes &&
           (row.ranks == -1 || row.ranks == std::int64_t{ranks});
  });
  return found == rows.end() ? nullptr : &*found;
}

Result<NcclTuner> read_nccl_tuner(std::string_view text, std::string_view place) {
  NcclTuner tuner;
  std::uint32_t line = 0;
  const std::string shown = printable(place);
  const auto wrong = [&](std::string_view words) {
    return wrong_argument(fmt::format("{}:{}: {}", shown, line, words));
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row_text = text.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    if (row_text.empty() || row_text.front() == '#') continue;
    if (row_text.size() > kMostOfNcclLine)
      return wrong(fmt::format("the line has {} characters; {} are the most", row_text.size(), kMostOfNcclLine));
    const std::vector<std::string_view> fields = split(row_text, ',');
    if (fields.size() < kLeastFields || fields.size() > kMostFields)
      return wrong(fmt::format("the line has {} fields; it takes {} to {}", fields.size(), kLeastFields, kMostFields));
    const auto word = std::find_if(kNcclWords.begin(), kNcclWords.end(),
                                   [&](const NcclWord& each) { return each.word == fields[0]; });
    if (word == kNcclWords.end()) return wrong(fmt::format("{} is no collective of NCCL's", in_quotes(fields[0])));
    if (!is_plugin_name(kNcclAlgorithmNames, fields[3]))
      return wrong(fmt::format("{} is no algorithm", in_quotes(fields[3])));
    if (!is_plugin_name(kNcclProtocolNames, fields[4]))
      return wrong(fmt::format("{} is no protocol", in_quotes(fields[4])));
    const auto least = number_field<std::uint64_t>(fields[1]);
    const auto most = number_field<std::uint64_t>(fields[2]);
    if (!least || !most || *least > *most) return wrong("fields 2 and 3 are no range of bytes");
    NcclTunerRow row{.collective = word->collective,
                     .least_bytes = *least,
                     .most_bytes = *most,
                     .algorithm = std::string(fields[3]),
                     .protocol = std::string(fields[4]),
                     .line = line};
    for (std::size_t field = 5; field < fields.size(); ++field) {
      const auto number = number_field<std::int32_t>(fields[field]);
      if (!number || *number < -1) return wrong(fmt::format("field {} is no number from -1 on", field + 1));
      if (field == 5) row.channels = *number;
      if (field == 6) row.nodes = *number;
      if (field == 7) row.ranks = *number;
    }
    if (row.channels < 0) return wrong("with -1 channels the plugin takes one channel; 0 is as many as NCCL takes");
    tuner.rows.push_back(std::move(row));
  }
  return tuner;
}

std::string write_nccl_tuner(const NcclTuner& tuner, std::string_view about) {
  std::string text = fmt::format("# Made by tutti export from {}\n", printable(about).substr(0, 200));
  text += "# collective,min_bytes,max_bytes,algorithm,protocol,channels (0: NCCL's own number),nodes,ranks\n";
  bool is_first = true;
  for (const NcclTunerRow& row : tuner.rows) {
    if (row.is_catch_all() && is_first)
      text += "# Everything else: without these lines the plugin gives it one channel.\n";
    is_first = is_first && !row.is_catch_all();
    text += fmt::format("{},{},{},{},{},{},{},{}\n", nccl_word_of(row.collective), row.least_bytes, row.most_bytes,
                        row.algorithm, row.protocol, row.channels, row.nodes, row.ranks);
  }
  return text;
}

Exported export_to_nccl(Rules rules) {
  leave_out_sections(rules, [](const RuleSection& section) {
    return nccl_word_of(section.collective).empty() ? "NCCL's tuners are not asked about it" : "";
  });
  leave_out(rules, [](const RuleSection&, const RuleRange& range) { return nccl_way(range).objection; });
  simplify(rules);
  note_own_choices(rules);
  Exported exported;
  NcclTuner tuner;
  bool uses_collnet = false;
  for (const RuleSection& section : rules.sections)
    for (std::size_t range = 0; range < section.ranges.size(); ++range) {
      if (section.ranges[range].is_own_choice()) continue;
      const NcclWay way = nccl_way(section.ranges[range]);
      uses_collnet = uses_collnet || way.uses_collnet;
      tuner.rows.push_back({.collective = section.collective,
                            .least_bytes = least_bytes_of(section, range),
                            .most_bytes = section.ranges[range].most_bytes,
                            .algorithm = way.algorithm,
                            .protocol = way.protocol,
                            .channels = way.channels,
                            .ranks = section.ranks});
    }
  add_catch_alls(tuner);
  exported.text = write_nccl_tuner(tuner, rules.title);
  exported.variables = {{"NCCL_TUNER_PLUGIN", "libnccl-tuner-example.so"}};
  if (uses_collnet) exported.variables.emplace_back("NCCL_COLLNET_ENABLE", "1");
  exported.file_variable = "NCCL_TUNER_CONFIG_FILE";
  exported.rules = std::move(rules);
  return exported;
}

}  // namespace tutti::tune
