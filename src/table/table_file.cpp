// SPDX-License-Identifier: Apache-2.0
#include "table/table_file.hpp"

#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti {

namespace {

using document::Section;
using document::TomlValue;

constexpr std::string_view kUnlimited = "unlimited";
constexpr std::uint32_t kMostRanks = 1U << 20U;
constexpr std::uint64_t kLeastRound = 4096;
constexpr std::uint64_t kMostRound = std::uint64_t{64} << 20U;

// A size as text or number. Nothing where the key is not there.
Result<std::optional<std::uint64_t>> read_size(const Section& section, std::string_view key) {
  const TomlValue* const value = section.find(key);
  if (value == nullptr) return std::optional<std::uint64_t>();
  if (const auto* const number = std::get_if<std::int64_t>(&value->value)) {
    if (*number < 0) return section.wrong(key, fmt::format("is {}; sizes are 0 or more", *number));
    return std::optional(static_cast<std::uint64_t>(*number));
  }
  std::string text;
  TUTTI_TRY(section.read(key, text));
  if (text == kUnlimited) return std::optional(kNoEnd);
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes.ok()) return section.wrong(key, fmt::format("is {}; write bytes such as 64K", in_quotes(text)));
  return std::optional(bytes->value());
}

// One of the names of `choices`.
template <typename T, std::size_t N>
Status read_choice(const Section& section, std::string_view key, const std::array<T, N>& choices, T& value) {
  if (!section.has(key)) return {};
  std::string text;
  TUTTI_TRY(section.read(key, text));
  std::string names;
  for (const T choice : choices) {
    if (same_name(text, name_of(choice))) {
      value = choice;
      return {};
    }
    names += (names.empty() ? "" : ", ") + std::string(name_of(choice));
  }
  return section.wrong(key, fmt::format("is {}; it takes one of {}", in_quotes(text), names));
}

Status read_time(const Section& section, std::string_view key, double& value) {
  TUTTI_TRY(section.read(key, value));
  if (!std::isfinite(value) || value < 0) return section.wrong(key, "is no time; write microseconds, 0 or more");
  return {};
}

Result<TableEvidence> read_evidence(const Section& section) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"bytes", "us", "low_us", "high_us", "samples", "runner_up", "margin_percent"});
  TUTTI_TRY(section.check_keys(kKeys));
  TableEvidence evidence;
  TUTTI_TRY_ASSIGN(const std::optional<std::uint64_t> bytes, read_size(section, "bytes"));
  if (!bytes || *bytes == kNoEnd) return section.wrong("bytes", "is missing; write the size that was measured");
  evidence.bytes = *bytes;
  TUTTI_TRY(read_time(section, "us", evidence.us));
  TUTTI_TRY(read_time(section, "low_us", evidence.low_us));
  TUTTI_TRY(read_time(section, "high_us", evidence.high_us));
  std::uint32_t samples = 0;
  TUTTI_TRY(section.read("samples", samples, ~std::uint32_t{0}));
  evidence.samples = samples;
  TUTTI_TRY(section.read("runner_up", evidence.runner_up));
  TUTTI_TRY(section.read("margin_percent", evidence.margin_percent));
  if (!std::isfinite(evidence.margin_percent)) return section.wrong("margin_percent", "is no number");
  return evidence;
}

Status read_settings(const Section& section, TableWay& way) {
  const Result<std::optional<Section>> settings = section.section("settings");
  if (!settings.ok()) return settings.status();
  if (!settings->has_value()) return {};
  const TomlValue* const value = section.find("settings");
  for (const document::TomlEntry& entry : std::get<document::TomlTable>(value->value).entries) {
    std::string text;
    TUTTI_TRY((*settings)->read(entry.key, text));
    way.settings.emplace_back(entry.key, text);
  }
  return {};
}

Status read_way(const Section& section, const DecisionTable& table, const TableSection& around, TableWay& way) {
  using Copies = CallTuning::Copies;
  using Stores = CallTuning::Stores;
  TUTTI_TRY(section.read("algorithm", way.algorithm));
  TUTTI_TRY_ASSIGN(way.tuning.round, read_size(section, "round"));
  if (way.tuning.round && (*way.tuning.round < kLeastRound || *way.tuning.round > kMostRound))
    return section.wrong("round", "is out of range: 4K to 64M");
  TUTTI_TRY(read_choice(section, "copies", std::array{Copies::by_profile, Copies::staged, Copies::attached},
                        way.tuning.copies));
  TUTTI_TRY(read_choice(section, "stores", std::array{Stores::by_profile, Stores::cached, Stores::streamed},
                        way.tuning.stores));
  TUTTI_TRY(read_settings(section, way));
  if (table.peer != kOwnPeer) {
    if (!way.tuning.is_empty())
      return section.wrong("algorithm", fmt::format("has round, copies or stores, which {} has not", table.peer));
    return {};
  }
  if (!way.settings.empty()) return section.wrong("settings", "are for tables of other peers");
  if (table.on_devices && !way.tuning.is_empty())
    return section.wrong("algorithm", "has round, copies or stores, which calls on devices do not have");
  if (way.algorithm.empty()) {
    if (!way.tuning.is_empty())
      return section.wrong("algorithm",
                           "is missing; 'tutti algorithms' lists them; a range without one, and without "
                           "round, copies and stores, is left to the machine profile");
    return {};
  }
  const Result<NamedAlgorithm> found = find_by_full_name(around.collective, way.algorithm, around.ranks);
  if (!found.ok()) return section.wrong("algorithm", found.status().message());
  if (around.order && found->algorithm->order > *around.order)
    return section.wrong("algorithm",
                         fmt::format("{} folds in order class {}, and the section is for {}", way.algorithm,
                                     name_of(found->algorithm->order), name_of(*around.order)));
  return {};
}

Result<TableRange> read_range(const Section& section, const DecisionTable& table, const TableSection& around) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"most_bytes", "algorithm", "round", "copies", "stores", "settings", "evidence"});
  TUTTI_TRY(section.check_keys(kKeys));
  TableRange range;
  range.line = section.line();
  if (const TomlValue* const algorithm = section.find("algorithm")) range.line = algorithm->line;
  TUTTI_TRY_ASSIGN(const std::optional<std::uint64_t> most, read_size(section, "most_bytes"));
  range.most_bytes = most.value_or(kNoEnd);
  TUTTI_TRY(read_way(section, table, around, range.way));
  const Result<std::vector<Section>> evidence = section.sections("evidence");
  if (!evidence.ok()) return evidence.status();
  for (const Section& each : *evidence) {
    TUTTI_TRY_ASSIGN(TableEvidence read, read_evidence(each));
    range.evidence.push_back(std::move(read));
  }
  return range;
}

Result<TableSection> read_section(const Section& section, const DecisionTable& table) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"collective", "ranks", "hosts", "memory", "types", "order", "range"});
  TUTTI_TRY(section.check_keys(kKeys));
  TableSection read;
  std::string collective;
  TUTTI_TRY(section.read("collective", collective));
  const std::optional<Collective> found = find_collective(collective);
  if (!found)
    return section.wrong("collective", collective.empty() ? "is missing; write which collective"
                                                          : in_quotes(collective) + " is no collective");
  read.collective = *found;
  if (const TomlValue* const value = section.find("collective")) read.line = value->line;
  read.ranks = 0;
  TUTTI_TRY(section.read("ranks", read.ranks, kMostRanks));
  if (read.ranks == 0) return section.wrong("ranks", "is missing; write how many ranks were measured");
  TUTTI_TRY(section.read("hosts", read.hosts, kMostRanks));
  if (read.hosts == 0 || read.hosts > read.ranks) return section.wrong("hosts", "is not from 1 to the number of ranks");
  TUTTI_TRY(read_choice(section, "memory", std::array{TableMemory::ordinary, TableMemory::symmetric}, read.memory));
  TUTTI_TRY(read_choice(section, "types", std::array{TypeClass::any, TypeClass::plain, TypeClass::narrow}, read.types));
  if (section.has("order")) {
    OrderClass order = OrderClass::uniform;
    TUTTI_TRY(read_choice(
        section, "order",
        std::array{OrderClass::ordered, OrderClass::rank_order, OrderClass::uniform, OrderClass::free}, order));
    read.order = order;
  }
  const Result<std::vector<Section>> ranges = section.sections("range");
  if (!ranges.ok()) return ranges.status();
  if (ranges->empty()) return section.wrong("range", "is missing; a section has [[section.range]] tables");
  for (const Section& each : *ranges) {
    TUTTI_TRY_ASSIGN(TableRange range, read_range(each, table, read));
    if (!read.ranges.empty() && range.most_bytes <= read.ranges.back().most_bytes)
      return each.wrong("most_bytes", "is not beyond the end of the range before: ranges go by size");
    read.ranges.push_back(std::move(range));
  }
  if (read.ranges.back().most_bytes != kNoEnd)
    return ranges->back().wrong("most_bytes", "leaves a hole: the last range has none, or \"unlimited\"");
  return read;
}

// Which of Tutti's runtimes obeys it.
Status read_on(const Section& document, DecisionTable& table) {
  std::string on = "processors";
  TUTTI_TRY(document.read("on", on));
  if (on != "processors" && on != "devices")
    return document.wrong("on", fmt::format("is {}; it takes processors or devices", in_quotes(on)));
  table.on_devices = on == "devices";
  if (table.on_devices && table.peer != kOwnPeer)
    return document.wrong("on", "is devices, which only tables of the peer tutti can have");
  return {};
}

Status read_machine(const Section& document, DecisionTable& table) {
  const Result<std::optional<Section>> machine = document.section("machine");
  if (!machine.ok()) return machine.status();
  if (!machine->has_value())
    return document.wrong("machine", "is missing; fingerprint = \"any\" is for tables that any machine may obey");
  constexpr auto kKeys = std::to_array<std::string_view>({"fingerprint", "is", "cores"});
  TUTTI_TRY((*machine)->check_keys(kKeys));
  TUTTI_TRY((*machine)->read("fingerprint", table.fingerprint));
  if (table.fingerprint.empty())
    return (*machine)->wrong("fingerprint", "is missing; 'tutti probe' shows this machine's, \"any\" is for all");
  TUTTI_TRY((*machine)->read("is", table.machine));
  return (*machine)->read("cores", table.cores, kMostRanks);
}

Status read_profile_part(const Section& document, DecisionTable& table) {
  const Result<std::optional<Section>> profile = document.section("profile");
  if (!profile.ok()) return profile.status();
  if (!profile->has_value()) return {};
  TUTTI_TRY((*profile)->read("based_on", table.profile));
  const TomlValue* const value = document.find("profile");
  for (const document::TomlEntry& entry : std::get<document::TomlTable>(value->value).entries) {
    if (entry.key == "based_on") continue;
    if (!std::holds_alternative<document::TomlTable>(entry.value.value))
      return (*profile)->wrong(entry.key, "is no section of a machine profile");
    table.numbers.entries.push_back(entry);
  }
  return {};
}

}  // namespace

Result<DecisionTable> read_table(std::string_view text, std::string_view place) {
  if (text.size() > kMostTableBytes)
    return Status(Code::invalid_argument,
                  fmt::format("{}: a table has at most {}", place, to_text(Bytes(kMostTableBytes))));
  const Result<document::TomlTable> parsed = document::parse_document(text, place);
  if (!parsed.ok()) return parsed.status();
  const Section document(*parsed, place);
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"version", "name", "about", "made", "measured", "run", "peer", "on", "machine", "profile", "section"});
  TUTTI_TRY(document.check_keys(kKeys));
  std::uint32_t version = 0;
  TUTTI_TRY(document.read("version", version, 1U << 20U));
  if (version != kTableVersion)
    return document.wrong("version", fmt::format("is {}; this version of Tutti reads {}", version, kTableVersion));
  DecisionTable table;
  table.place = place;
  table.digest = digest(text);
  TUTTI_TRY(document.read("name", table.name));
  TUTTI_TRY(document.read("about", table.about));
  TUTTI_TRY(document.read("made", table.made));
  TUTTI_TRY(document.read("measured", table.version));
  TUTTI_TRY(document.read("run", table.run));
  TUTTI_TRY(document.read("peer", table.peer));
  TUTTI_TRY(read_on(document, table));
  TUTTI_TRY(read_machine(document, table));
  TUTTI_TRY(read_profile_part(document, table));
  const Result<std::vector<Section>> sections = document.sections("section");
  if (!sections.ok()) return sections.status();
  std::set<std::tuple<Collective, std::uint32_t, std::uint32_t, TableMemory, TypeClass>> seen;
  for (const Section& each : *sections) {
    TUTTI_TRY_ASSIGN(TableSection section, read_section(each, table));
    if (!seen.insert({section.collective, section.ranks, section.hosts, section.memory, section.types}).second)
      return each.wrong("collective", "has two sections for the same ranks, hosts, memory and types");
    table.sections.push_back(std::move(section));
  }
  return table;
}

}  // namespace tutti
