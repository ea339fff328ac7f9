// SPDX-License-Identifier: Apache-2.0
#include "workload/part.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "base/toml/quoted.hpp"

namespace tutti {

namespace {

using document::quoted;
using document::Section;
using document::TomlValue;

constexpr auto kPartKeys =
    std::to_array<std::string_view>({"part_version", "api", "program", "host", "process", "ranks", "rank", "line",
                                     "whole", "transfers", "left_out", "calls"});
constexpr auto kCallKeys = std::to_array<std::string_view>({"collective", "count", "type", "root", "calls", "time_us",
                                                            "compute_us", "module", "offset", "symbol", "in_symbol"});
constexpr std::uint32_t kMostPartRanks = 1U << 20U;

void add_call(std::string& text, const PartCall& call) {
  text += fmt::format("\n[[calls]]\ncollective = \"{}\"\ncount = {}\ntype = \"{}\"\nroot = {}\ncalls = {}\n",
                      name_of(call.collective), call.count, name_of(call.type), call.root, call.calls);
  // Files have no greater numbers.
  constexpr double kMostTime = 1e9;
  text += fmt::format("time_us = {:.4f}\ncompute_us = {:.4f}\n", std::min(call.time_us, kMostTime),
                      std::min(call.compute_us, kMostTime));
  if (!call.site.module.empty())
    text += fmt::format("module = {}\noffset = {}\n", quoted(call.site.module), call.site.offset);
  if (!call.site.symbol.empty())
    text += fmt::format("symbol = {}\nin_symbol = {}\n", quoted(call.site.symbol), call.site.in_symbol);
}

// Whole numbers that 32 bits do not hold.
// So many that no program comes to them: sums and products of them stay numbers.
constexpr std::int64_t kMostLarge = std::int64_t{1} << 44U;

Status read_large(const Section& section, std::string_view key, std::uint64_t& number) {
  const TomlValue* const given = section.find(key);
  if (given == nullptr) return {};
  const auto* const value = std::get_if<std::int64_t>(&given->value);
  if (value == nullptr || *value < 0)
    return section.wrong(key, fmt::format("this is {}; write a whole number from 0 on",
                                          value != nullptr ? std::to_string(*value) : noun_of(*given)));
  if (*value > kMostLarge && key != "offset" && key != "in_symbol")
    return section.wrong(key, fmt::format("{} is too many; {} is the most", *value, kMostLarge));
  number = static_cast<std::uint64_t>(*value);
  return {};
}

Status read_call(const Section& section, std::uint32_t ranks, PartCall& call) {
  TUTTI_TRY(section.check_keys(kCallKeys));
  std::string word;
  TUTTI_TRY(section.read("collective", word));
  const std::optional<Collective> collective = find_collective(word);
  if (!collective) return section.wrong("collective", fmt::format("there is no {}", in_quotes(word)));
  call.collective = *collective;
  word = name_of(call.type);
  TUTTI_TRY(section.read("type", word));
  const std::optional<Type> type = type_from_name(word);
  if (!type) return section.wrong("type", fmt::format("{} is not a type", in_quotes(word)));
  call.type = *type;
  TUTTI_TRY(read_large(section, "count", call.count));
  TUTTI_TRY(section.read("root", call.root, ranks - 1));
  TUTTI_TRY(read_large(section, "calls", call.calls));
  TUTTI_TRY(section.read("time_us", call.time_us));
  TUTTI_TRY(section.read("compute_us", call.compute_us));
  if (!(call.time_us >= 0)) return section.wrong("time_us", "it is below 0");
  if (!(call.compute_us >= 0)) return section.wrong("compute_us", "it is below 0");
  TUTTI_TRY(section.read("module", call.site.module));
  TUTTI_TRY(read_large(section, "offset", call.site.offset));
  TUTTI_TRY(section.read("symbol", call.site.symbol));
  return read_large(section, "in_symbol", call.site.in_symbol);
}

}  // namespace

std::string to_text(const Part& part) {
  std::string text = fmt::format("part_version = {}\napi = {}\nprogram = {}\nhost = {}\nprocess = {}\n", kPartVersion,
                                 quoted(part.api), quoted(part.program), quoted(part.host), part.process);
  text += fmt::format("ranks = {}\nrank = {}\nline = {}\nwhole = {}\ntransfers = {}\nleft_out = {}\n", part.ranks,
                      part.rank, part.line, part.is_whole, part.transfers, part.left_out);
  for (const PartCall& call : part.calls) add_call(text, call);
  return text;
}

Result<Part> read_part(std::string_view text, std::string_view file) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  const Section document(table, file);
  TUTTI_TRY(document.check_keys(kPartKeys));
  std::uint32_t version = 0;
  TUTTI_TRY(document.read("part_version", version, UINT32_MAX));
  if (version != kPartVersion)
    return document.wrong("part_version", fmt::format("this is {}; {} is known", version, kPartVersion));
  Part part;
  TUTTI_TRY(document.read("api", part.api));
  TUTTI_TRY(document.read("program", part.program));
  TUTTI_TRY(document.read("host", part.host));
  TUTTI_TRY(document.read("process", part.process, UINT32_MAX));
  TUTTI_TRY(document.read("ranks", part.ranks, kMostPartRanks));
  if (part.ranks == 0) return document.wrong("ranks", "0 is too few; 1 is the least");
  TUTTI_TRY(document.read("rank", part.rank, part.ranks - 1));
  TUTTI_TRY(document.read("line", part.line, kMostPartRanks));
  TUTTI_TRY(document.read("whole", part.is_whole));
  TUTTI_TRY(read_large(document, "transfers", part.transfers));
  TUTTI_TRY(read_large(document, "left_out", part.left_out));
  TUTTI_TRY_ASSIGN(const std::vector<Section> calls, document.sections("calls"));
  for (const Section& call : calls) TUTTI_TRY(read_call(call, part.ranks, part.calls.emplace_back()));
  return part;
}

}  // namespace tutti
