// SPDX-License-Identifier: Apache-2.0
#include "workload/workload.hpp"

#include <array>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "base/units.hpp"
#include "data/message_size.hpp"
#include "data/no_element.hpp"

namespace tutti {

namespace {

using document::Section;
using document::TomlValue;

constexpr auto kKeys = std::to_array<std::string_view>({"version", "about", "ranks", "entries"});
constexpr auto kEntryKeys =
    std::to_array<std::string_view>({"collective", "ranks", "bytes", "count", "type", "root", "calls", "compute_us",
                                     "measured_us", "site", "algorithm"});
constexpr std::uint64_t kMostCallBytes = std::uint64_t{1} << 50U;

// A whole number, or a size with its unit.
Status read_size(const Section& section, std::string_view key, std::uint64_t& size) {
  const TomlValue* given = section.find(key);
  if (given == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(&given->value)) {
    const Result<Bytes> bytes = parse_bytes(*text);
    if (!bytes.ok()) return section.wrong(key, bytes.status().message());
    size = bytes->value();
  } else if (const auto* number = std::get_if<std::int64_t>(&given->value); number != nullptr && *number >= 0) {
    size = static_cast<std::uint64_t>(*number);
  } else {
    return section.wrong(key, fmt::format("this is {}; write a whole number from 0 on, or a size such as \"25M\"",
                                          number != nullptr ? std::to_string(*number) : noun_of(*given)));
  }
  if (size > kMostCallBytes)
    return section.wrong(key, fmt::format("{} is too many; {} is the most", size, kMostCallBytes));
  return {};
}

// What is moved, as bytes of all blocks.
Status read_amount(const Section& section, std::uint32_t num_ranks, WorkloadEntry& entry) {
  const std::uint32_t blocks = num_blocks(entry.collective, num_ranks);
  const bool has_bytes = section.has("bytes");
  const bool has_count = section.has("count");
  if (entry.collective == Collective::barrier) {
    if (!has_bytes && !has_count) return {};
    return section.wrong(has_bytes ? "bytes" : "count", "a barrier moves nothing; leave it out");
  }
  if (has_bytes == has_count)
    return section.wrong(has_bytes ? "count" : "",
                         has_bytes ? "there are bytes as well; say one of the two" : "it has neither bytes nor count");
  std::uint64_t amount = 0;
  TUTTI_TRY(read_size(section, has_bytes ? "bytes" : "count", amount));
  const std::uint64_t of_one = has_bytes ? 1 : size_of(entry.type) * blocks;
  if (amount > kMostCallBytes / of_one)
    return section.wrong("count", fmt::format("{} is too many; {} is the most", amount, kMostCallBytes / of_one));
  entry.bytes = amount * of_one;
  if (elements_of_block(entry.collective, num_ranks, entry.bytes, size_of(entry.type)) == 0)
    return section.wrong(has_bytes ? "bytes" : "count", holds_no_element(entry.bytes, entry.type, blocks));
  return {};
}

Status read_entry(const Section& section, std::uint32_t num_ranks, WorkloadEntry& entry) {
  TUTTI_TRY(section.check_keys(kEntryKeys));
  entry.place = section.place_of();
  std::string word;
  if (!section.has("collective")) return section.wrong("", "it has no collective");
  TUTTI_TRY(section.read("collective", word));
  const std::optional<Collective> collective = find_collective(word);
  if (!collective)
    return section.wrong("collective",
                         fmt::format("there is no {}; there are all_reduce, all_gather and others ('tutti "
                                     "algorithms' lists them)",
                                     in_quotes(word)));
  entry.collective = *collective;
  word = name_of(entry.type);
  TUTTI_TRY(section.read("type", word));
  const std::optional<Type> type = type_from_name(word);
  if (!type)
    return section.wrong("type", fmt::format("{} is not a type; the types are: {}", in_quotes(word), all_type_names()));
  entry.type = *type;
  entry.ranks = num_ranks;
  TUTTI_TRY(section.read("ranks", entry.ranks, num_ranks));
  if (entry.ranks == 0) return section.wrong("ranks", "0 is too few; 1 is the least");
  TUTTI_TRY(read_amount(section, entry.ranks, entry));
  if (section.has("root") && !facts_of(entry.collective).has_root)
    return section.wrong("root", fmt::format("{} has none", name_of(entry.collective)));
  TUTTI_TRY(section.read("root", entry.root, entry.ranks - 1));
  TUTTI_TRY(section.read("calls", entry.calls, kMostWorkloadCalls));
  if (entry.calls == 0) return section.wrong("calls", "0 is too few; 1 is the least");
  TUTTI_TRY(section.read("compute_us", entry.compute_us));
  if (entry.compute_us < 0) return section.wrong("compute_us", fmt::format("{} is below 0", entry.compute_us));
  TUTTI_TRY(section.read("measured_us", entry.measured_us));
  if (entry.measured_us < 0) return section.wrong("measured_us", fmt::format("{} is below 0", entry.measured_us));
  TUTTI_TRY(section.read("site", entry.site));
  return section.read("algorithm", entry.algorithm);
}

}  // namespace

Result<Workload> read_workload(std::string_view text, std::string_view file) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  const Section document(table, file);
  TUTTI_TRY(document.check_keys(kKeys));
  if (!document.has("version"))
    return document.wrong("version", fmt::format("it is missing; write {}", kWorkloadVersion));
  std::uint32_t version = 0;
  TUTTI_TRY(document.read("version", version, UINT32_MAX));
  if (version != kWorkloadVersion)
    return document.wrong("version", fmt::format("this is {}; {} is known", version, kWorkloadVersion));
  Workload workload;
  TUTTI_TRY(document.read("about", workload.about));
  if (!document.has("ranks")) return document.wrong("ranks", "it is missing; write how many there are");
  TUTTI_TRY(document.read("ranks", workload.ranks, kMostWorkloadRanks));
  if (workload.ranks == 0) return document.wrong("ranks", "0 is too few; 1 is the least");
  TUTTI_TRY_ASSIGN(const std::vector<Section> entries, document.sections("entries"));
  if (entries.empty()) return document.wrong("entries", "there are none; write [[entries]]");
  for (const Section& entry : entries) TUTTI_TRY(read_entry(entry, workload.ranks, workload.entries.emplace_back()));
  return workload;
}

}  // namespace tutti
