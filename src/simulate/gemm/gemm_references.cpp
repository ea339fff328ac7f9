// SPDX-License-Identifier: Apache-2.0
#include "simulate/gemm/gemm_references.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml/document.hpp"
#include "fabric/files/quantity.hpp"

namespace tutti::simulate {

namespace {

constexpr std::uint32_t kGemmReferencesVersion = 1;

Status need_text(const document::Section& section, std::string_view key, std::string& value) {
  if (!section.has(key)) return section.wrong("", fmt::format("it has no {}", key));
  return section.read(key, value);
}

Status need_time(const document::Section& section, std::string_view key, double& value) {
  std::string text;
  TUTTI_TRY(need_text(section, key, text));
  const Result<double> time = fabric::parse_time(text);
  if (!time.ok()) return section.wrong(key, time.status().message());
  value = *time;
  return {};
}

Result<GemmReference> read_gemm_window(const document::Section& section) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"id", "configuration", "shape", "preloaded", "inferred", "window", "value", "uncertainty"});
  TUTTI_TRY(section.check_keys(kKeys));
  GemmReference reference;
  TUTTI_TRY(need_text(section, "id", reference.id));
  TUTTI_TRY(section.read("configuration", reference.configuration));
  std::string words;
  TUTTI_TRY(need_text(section, "shape", words));
  const Result<GemmShape> shape = parse_gemm_shape(words);
  if (!shape.ok()) return section.wrong("shape", shape.status().message());
  reference.shape = *shape;
  TUTTI_TRY(need_text(section, "preloaded", words));
  const std::optional<Preloaded> preloaded = preloaded_from_name(words);
  if (!preloaded) return section.wrong("preloaded", fmt::format("{} is not none, one or both", in_quotes(words)));
  reference.preloaded = *preloaded;
  TUTTI_TRY(section.read("inferred", reference.is_inferred));
  TUTTI_TRY(need_text(section, "window", words));
  reference.is_tiled = same_name(words, "tiled");
  if (!reference.is_tiled && !same_name(words, "all"))
    return section.wrong("window", fmt::format("{} is not all or tiled", in_quotes(words)));
  TUTTI_TRY(need_time(section, "value", reference.value));
  if (reference.value <= 0) return section.wrong("value", "a window takes some time");
  if (section.has("uncertainty")) TUTTI_TRY(need_time(section, "uncertainty", reference.uncertainty));
  return reference;
}

}  // namespace

Result<GemmReferences> read_gemm_references(std::string_view text, std::string_view file) {
  TUTTI_TRY_ASSIGN(const document::TomlTable table, document::parse_document(text, file));
  const document::Section document(table, file);
  constexpr auto kKeys = std::to_array<std::string_view>({"version", "id", "about", "source", "date", "pe", "windows"});
  TUTTI_TRY(document.check_keys(kKeys));
  std::uint32_t version = kGemmReferencesVersion;
  TUTTI_TRY(document.read("version", version, 1'000'000));
  if (version != kGemmReferencesVersion)
    return document.wrong("version",
                          fmt::format("this is a file of version {}; {} can be read", version, kGemmReferencesVersion));
  GemmReferences references;
  TUTTI_TRY(need_text(document, "id", references.id));
  TUTTI_TRY(document.read("about", references.about));
  TUTTI_TRY(need_text(document, "source", references.source));
  TUTTI_TRY(document.read("date", references.date));
  TUTTI_TRY(need_text(document, "pe", references.element));
  TUTTI_TRY_ASSIGN(const std::vector<document::Section> windows, document.sections("windows"));
  if (windows.empty()) return document.wrong("", "it has no windows; write one under [[windows]]");
  for (const document::Section& section : windows) {
    TUTTI_TRY_ASSIGN(const GemmReference window, read_gemm_window(section));
    references.windows.push_back(window);
  }
  return references;
}

}  // namespace tutti::simulate
