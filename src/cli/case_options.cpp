#include "cli/case_options.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMost = 65536;

std::optional<std::uint32_t> read_number(std::string_view text, std::uint32_t least) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > kMost) return std::nullopt;
  return number;
}

Status wrong(std::string_view option, std::string_view text, std::string_view wanted) {
  return {Code::invalid_argument, fmt::format("--{}: {} is not {}", option, in_quotes(text), wanted)};
}

Status read_into(std::string_view option, const std::string& text, std::uint32_t least, std::string_view wanted,
                 std::optional<std::uint32_t>& number) {
  if (text.empty()) return {};
  number = read_number(trim(text), least);
  return number ? Status() : wrong(option, text, wanted);
}

}  // namespace

void add_case_options(CLI::App& app, CaseOptions& options) {
  app.add_option("--root", options.root, "This root only (else every rank)")->type_name("RANK");
  app.add_option("--radix", options.radix, "This radix only (else 2 to 8)")->type_name("K");
  app.add_option("--grid", options.grid, "This grid only (else every one), like 4x2")->type_name("WxH");
  app.add_option("--groups", options.groups, "These groups of neighbouring ranks (else some drawn), like 2,3,3")
      ->type_name("SIZES");
  app.add_option("--inner", options.inner, "The algorithm between groups (else every one)")->type_name("NAME");
  app.add_option("--corner", options.corner, "0 for the centre, or the corner 1 to 4 (else all of these)")
      ->type_name("N");
}

Result<CaseFilter> parse_case_options(const CaseOptions& options) {
  CaseFilter filter;
  TUTTI_TRY(read_into("root", options.root, 0, "a rank, like 0", filter.root));
  TUTTI_TRY(read_into("radix", options.radix, 2, "a radix, a number from 2 on", filter.radix));
  TUTTI_TRY(read_into("corner", options.corner, 0, "0 to 4", filter.corner));
  if (!options.grid.empty()) {
    const std::size_t times = options.grid.find('x');
    const std::string_view text = options.grid;
    const auto width = read_number(text.substr(0, times), 1);
    const auto height = times == std::string::npos ? std::nullopt : read_number(text.substr(times + 1), 1);
    if (!width || !height) return wrong("grid", options.grid, "a grid, like 4x2");
    filter.grid = Grid{*width, *height};
  }
  if (!options.groups.empty()) {
    filter.groups.emplace();
    for (const std::string_view part : split(options.groups, ',')) {
      const auto size = read_number(trim(part), 1);
      if (!size) return wrong("groups", options.groups, "a list of sizes, like 2,3,3");
      filter.groups->push_back(*size);
    }
  }
  if (!options.inner.empty()) filter.inner = options.inner;
  return filter;
}

}  // namespace tutti::cli
