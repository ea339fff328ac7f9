// SPDX-License-Identifier: Apache-2.0
// What a fabric's file says of the software that runs there.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "fabric/files/file_parts.hpp"
#include "fabric/limits.hpp"

namespace tutti::fabric {

namespace {

constexpr std::uint32_t kMostParts = 64;
constexpr std::uint32_t kMostCopies = 16;

Status read_numbers_of_ranks(const document::Section& section, std::vector<std::uint32_t>& numbers) {
  constexpr std::string_view kKey = "ranks";
  const document::TomlValue* value = section.find(kKey);
  const auto* list = value == nullptr ? nullptr : std::get_if<document::TomlArray>(&value->value);
  if (list == nullptr || list->empty())
    return section.wrong(kKey, "write the numbers of ranks that the kernel is compiled for, such as [2, 4, 8]");
  for (const document::TomlValue& each : *list) {
    const auto* number = std::get_if<std::int64_t>(&each.value);
    if (number == nullptr || *number < 1 || static_cast<std::uint64_t>(*number) > kMostRanks)
      return section.wrong(kKey, fmt::format("each is a whole number from 1 to {}", kMostRanks));
    numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  return {};
}

Status read_name(const document::Section& section, std::string_view key, std::string& name) {
  TUTTI_TRY(section.read(key, name));
  if (std::any_of(name.begin(), name.end(), [](unsigned char each) { return each < ' ' || each == 0x7f; }))
    return section.wrong(key, "it has a control character");
  return name.empty() ? section.wrong(key, fmt::format("it has none; write {} = \"…\"", key)) : Status();
}

Status read_way(const document::Section& section, const Fabric& fabric, Way& way) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"algorithm", "costs", "parts", "copies", "part_copies", "by_name", "above", "from_ranks"});
  TUTTI_TRY(section.check_keys(kKeys));
  TUTTI_TRY(section.read("algorithm", way.algorithm));
  if (way.algorithm.empty()) return section.wrong("algorithm", "it has none; write algorithm = \"ring\"");
  TUTTI_TRY(section.read("costs", way.costs));
  std::string names;
  bool is_there = way.costs.empty();
  for (const Costs& costs : fabric.costs) {
    is_there = is_there || same_name(costs.name, way.costs);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", costs.name);
  }
  if (!is_there)
    return section.wrong("costs",
                         fmt::format("there are no costs {} here; there are: {}", in_quotes(way.costs), names));
  TUTTI_TRY(section.read("parts", way.parts, kMostParts));
  if (way.parts == 0) return section.wrong("parts", "0 is too few; 1 is the least");
  TUTTI_TRY(section.read("from_ranks", way.from_ranks, kMostRanks));
  TUTTI_TRY(section.read("copies", way.copies, kMostCopies));
  TUTTI_TRY(section.read("part_copies", way.part_copies, kMostCopies));
  TUTTI_TRY(section.read("by_name", way.by_name));
  if (!section.has("above")) return {};
  std::string above;
  TUTTI_TRY(section.read("above", above));
  const Result<Bytes> bytes = parse_bytes(above);
  if (!bytes.ok()) return section.wrong("above", bytes.status().message());
  way.above = bytes->value();
  return {};
}

}  // namespace

Status read_kernels(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("kernels"));
  constexpr auto kKeys = std::to_array<std::string_view>({"algorithm", "ranks"});
  for (const document::Section& section : sections) {
    TUTTI_TRY(section.check_keys(kKeys));
    Kernel kernel;
    TUTTI_TRY(read_name(section, "algorithm", kernel.algorithm));
    const auto is_same = [&](const Kernel& other) { return same_name(other.algorithm, kernel.algorithm); };
    if (std::any_of(fabric.kernels.begin(), fabric.kernels.end(), is_same))
      return section.wrong("algorithm", fmt::format("{} is there already", in_quotes(kernel.algorithm)));
    TUTTI_TRY(read_numbers_of_ranks(section, kernel.ranks));
    fabric.kernels.push_back(std::move(kernel));
  }
  return {};
}

Status read_implementations(const document::Section& document, Fabric& fabric) {
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> sections, document.sections("implementations"));
  constexpr auto kKeys = std::to_array<std::string_view>({"name", "collective", "ways"});
  for (const document::Section& section : sections) {
    TUTTI_TRY(section.check_keys(kKeys));
    Implementation made;
    TUTTI_TRY(read_name(section, "name", made.name));
    if (same_name(made.name, "all")) return section.wrong("name", "'all' stands for all of them; take another name");
    TUTTI_TRY(section.read("collective", made.collective));
    const auto is_same = [&](const Implementation& other) {
      return same_name(other.name, made.name) && same_name(other.collective, made.collective);
    };
    if (std::any_of(fabric.implementations.begin(), fabric.implementations.end(), is_same))
      return section.wrong("name", fmt::format("{} of {} is there already", in_quotes(made.name), made.collective));
    TUTTI_TRY_ASSIGN(const std::vector<document::Section> ways, section.sections("ways"));
    if (ways.empty()) return section.wrong("ways", "it has none; write ways = [{ algorithm = \"ring\" }]");
    for (const document::Section& way : ways) TUTTI_TRY(read_way(way, fabric, made.ways.emplace_back()));
    fabric.implementations.push_back(std::move(made));
  }
  return {};
}

}  // namespace tutti::fabric
