// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/shared/published.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

Result<std::string_view> text_of_published(std::string_view name) {
  for (const std::span<const simulate::ShippedReferences> all : {published_figures(), simulate::shipped_references()})
    for (const simulate::ShippedReferences& each : all)
      if (each.name == name) return each.text;
  return Status(Code::internal, fmt::format("no published figures are called {}", in_quotes(name)));
}

}  // namespace

Result<simulate::References> published(std::string_view name) {
  TUTTI_TRY_ASSIGN(const std::string_view text, text_of_published(name));
  return simulate::read_references(text, std::string(name));
}

Result<simulate::GemmReferences> published_gemm(std::string_view name) {
  TUTTI_TRY_ASSIGN(const std::string_view text, text_of_published(name));
  return simulate::read_gemm_references(text, name);
}

std::string cited(std::string_view source, std::string_view date) {
  if (date.empty()) return std::string(source);
  const bool is_date = date.front() >= '0' && date.front() <= '9';
  return fmt::format("{} ({}{})", source, is_date ? "" : "date ", date);
}

std::optional<double> value_at(const simulate::References& references, std::string_view series, std::uint64_t bytes) {
  for (const simulate::Series& each : references.series)
    for (std::size_t place = 0; each.id == series && place < each.bytes.size() && place < each.values.size(); ++place)
      if (each.bytes[place] == bytes) return each.values[place];
  return std::nullopt;
}

}  // namespace tutti::cli
