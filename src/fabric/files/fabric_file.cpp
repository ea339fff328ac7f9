// SPDX-License-Identifier: Apache-2.0
#include "fabric/files/fabric_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "fabric/costs.hpp"
#include "fabric/files/file_parts.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/routes.hpp"

namespace tutti::fabric {

namespace {

constexpr std::uint32_t kVersion = 1;

constexpr auto kKeysOfFile = std::to_array<std::string_view>(
    {"version", "about", "profile", "generator", "parameters", "link", "nodes", "links", "grid", "memory",
     "switch_cost", "ranks", "costs", "memories", "kernels", "implementations", "queue", "cores"});

// A value of [parameters], as it stands behind = on the command line.
Result<std::string> parameter_text(const document::Section& parameters, const std::string& key,
                                   const document::TomlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value.value)) return std::to_string(*number);
  if (const auto* truth = std::get_if<bool>(&value.value)) return std::string(*truth ? "true" : "false");
  return parameters.wrong(key, fmt::format("this is {}; write a text such as \"25GB/s\", a whole number, or true or "
                                           "false",
                                           document::noun_of(value)));
}

Status read_parameters(const document::Section& document, std::vector<Parameter>& parameters) {
  const auto* given = document.find("parameters");
  if (given == nullptr) return {};
  TUTTI_TRY_ASSIGN(const std::optional<document::Section> section, document.section("parameters"));
  for (const auto& [key, value] : std::get<document::TomlTable>(given->value).entries) {
    TUTTI_TRY_ASSIGN(const std::string text, parameter_text(*section, key, value));
    parameters.push_back({key, text, section->place_of(key)});
  }
  return {};
}

// The parameters that generators take by themselves, and the others, which are for every fabric.
void share_out(std::vector<Parameter> all, std::vector<Parameter>& own, std::vector<Parameter>& common) {
  for (Parameter& parameter : all) (is_common(parameter.name) ? common : own).push_back(std::move(parameter));
}

// What the generator makes; `common` has the parameters that come on top of what the file's tables say.
Result<Fabric> generated(const document::Section& document, const Request& changes, std::vector<Parameter>& common) {
  std::string words;
  TUTTI_TRY(document.read("generator", words));
  Result<Request> request = parse_request(words);
  const std::string place = document.place_of("generator");
  if (!request.ok()) return document.wrong("generator", request.status().message());
  std::vector<Parameter> all = std::exchange(request->parameters, {});
  for (Parameter& parameter : all) parameter.where = fmt::format("{}: {}", place, parameter.name);
  TUTTI_TRY(read_parameters(document, all));
  share_out(std::move(all), request->parameters, common);
  share_out(changes.parameters, request->parameters, common);
  if (!changes.sizes.empty()) request->sizes = changes.sizes;
  request->text = fmt::format("{}: {}", place, changes.sizes.empty() ? words : changes.text);
  return generate(*request);
}

Status refuse_changes(std::string_view file, const Request& changes) {
  if (!changes.sizes.empty())
    return {Code::invalid_argument,
            fmt::format("{}: it has no generator, so it has one size only", printable(changes.text))};
  for (const Parameter& parameter : changes.parameters)
    if (!is_common(parameter.name))
      return about(parameter, {Code::invalid_argument,
                               fmt::format("{} has no generator that could take this parameter", printable(file))});
  return {};
}

Status check_version(const document::Section& document) {
  std::uint32_t version = kVersion;
  TUTTI_TRY(document.read("version", version, 1'000'000));
  if (version == kVersion) return {};
  return document.wrong("version", fmt::format("this is a file of version {}; {} can be read", version, kVersion));
}

Status check_what_excludes(const document::Section& document) {
  if (document.has("generator")) {
    for (const char* key : {"nodes", "link"})
      if (document.has(key)) return document.wrong(key, "the nodes come from the generator; delete one of the two");
    if (document.has("grid")) return document.wrong("grid", "the grid comes from the generator; delete one of the two");
    return {};
  }
  if (document.has("parameters")) return document.wrong("parameters", "there is no generator that could take them");
  if (!document.has("nodes"))
    return document.wrong("",
                          "there is neither a generator (generator = \"torus_2d:2x3\") nor a node (under [[nodes]])");
  return {};
}

Status check_reach(const document::Section& document, const Fabric& fabric, const std::vector<std::string>& places) {
  const std::optional<Apart> apart = find_apart(fabric);
  if (!apart) return {};
  const auto name = [&](std::uint32_t rank) {
    return fmt::format("rank {} ({})", rank, in_quotes(fabric.nodes[fabric.ranks[rank].node].name));
  };
  const std::uint32_t node = fabric.ranks[apart->from].node;
  return {Code::invalid_argument,
          fmt::format("{}: no links lead from {} to {}; each rank must reach each other",
                      node < places.size() ? places[node] : document.place_of(), name(apart->from), name(apart->to))};
}

Result<Fabric> read(const document::Section& document, std::string_view file, const Request& changes) {
  TUTTI_TRY(document.check_keys(kKeysOfFile));
  TUTTI_TRY(check_version(document));
  std::string about;
  TUTTI_TRY(document.read("about", about));
  TUTTI_TRY(check_what_excludes(document));
  Fabric fabric;
  std::vector<std::string> places;  // of nodes, in the file
  std::vector<Parameter> common = changes.parameters;
  if (document.has("generator")) {
    common.clear();
    TUTTI_TRY_ASSIGN(fabric, generated(document, changes, common));
    TUTTI_TRY(change_links(document, fabric));
  } else {
    TUTTI_TRY(refuse_changes(file, changes));
    TUTTI_TRY(read_nodes(document, fabric, places));
    TUTTI_TRY(read_links(document, fabric));
  }
  TUTTI_TRY(document.read("profile", fabric.profile));
  TUTTI_TRY(read_costs(document, fabric));
  TUTTI_TRY(read_kernels(document, fabric));
  TUTTI_TRY(read_implementations(document, fabric));
  TUTTI_TRY(read_ranks(document, fabric));
  TUTTI_TRY(read_grid(document, fabric));
  TUTTI_TRY(check_reach(document, fabric, places));
  TUTTI_TRY(apply_common(common, fabric));
  fabric.name = changes.text;
  return fabric;
}

}  // namespace

Result<Fabric> read_fabric(std::string_view text, std::string_view file, const Request& changes) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  return read(document::Section(table, file), file, changes);
}

std::string about_of(std::string_view text) {
  std::string about;
  const Result<document::TomlTable> table = document::parse_document(text, "");
  if (!table.ok() || !document::Section(*table, "").read("about", about).ok()) return "";
  return about;
}

}  // namespace tutti::fabric
