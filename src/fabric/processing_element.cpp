// SPDX-License-Identifier: Apache-2.0
#include "fabric/processing_element.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "fabric/files/file_fields.hpp"

namespace tutti::fabric {

namespace {

constexpr std::uint32_t kElementVersion = 1;
// Of a side of a tile, so that the bytes of one can be counted.
constexpr std::uint32_t kMostOfTile = 1U << 16U;

// Of the sides of a tile; empty where none is.
std::string what_is_wrong_with_side(std::string_view key, const ProcessingElement& element) {
  const auto is = [&](std::string_view name, std::uint32_t length) {
    return same_name(key, name) && (length == 0 || length > kMostOfTile);
  };
  if (is("tile_m", element.tile_m) || is("tile_k", element.tile_k) || is("tile_n", element.tile_n))
    return fmt::format("a side of a tile is 1 to {} long", kMostOfTile);
  return "";
}

Status change_figure(const Parameter& parameter, ProcessingElement& element) {
  const auto field = std::find_if(kElementFields.begin(), kElementFields.end(),
                                  [&](const auto& each) { return same_name(each.name, parameter.name); });
  if (field != kElementFields.end()) {
    TUTTI_TRY(set(*field, parameter.value, element));
    const std::string wrong = what_is_wrong_with_side(field->name, element);
    return wrong.empty() ? Status() : Status(Code::invalid_argument, wrong);
  }
  std::vector<std::string_view> names = with_names({}, kElementFields);
  return {Code::invalid_argument, fmt::format("there is no such figure{}", nearest_hint(parameter.name, names))};
}

}  // namespace

Result<ProcessingElement> read_processing_element(std::string_view text, std::string_view file,
                                                  const Request& changes) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  const document::Section document(table, file);
  TUTTI_TRY(document.check_keys(with_names({"version", "about"}, kElementFields)));
  std::uint32_t version = kElementVersion;
  TUTTI_TRY(document.read("version", version, 1'000'000));
  if (version != kElementVersion)
    return document.wrong("version",
                          fmt::format("this is a file of version {}; {} can be read", version, kElementVersion));
  std::string about_it;
  TUTTI_TRY(document.read("about", about_it));
  ProcessingElement element;
  element.name = changes.text;
  TUTTI_TRY(read_fields(document, kElementFields, element));
  for (const std::string_view side : {"tile_m", "tile_k", "tile_n"}) {
    if (!document.has(side)) return document.wrong("", fmt::format("{} is missing; write {} = 32", side, side));
    if (const std::string wrong = what_is_wrong_with_side(side, element); !wrong.empty())
      return document.wrong(side, wrong);
  }
  for (const Parameter& parameter : changes.parameters)
    if (const Status status = change_figure(parameter, element); !status.ok()) return about(parameter, status);
  return element;
}

}  // namespace tutti::fabric
