// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/case_options.hpp"

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/number.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostOfACase = 65536;

struct NumberOption {
  const char* name;  // with the hyphens
  const char* type;
  std::uint32_t least;
  std::uint32_t most;
  const char* wanted;  // behind "is not"
  const char* all;     // the help of a command that takes all cases
  const char* first;   // and of one that takes the first
  std::optional<std::uint32_t> CaseFilter::*number;
};

constexpr NumberOption kNumbers[] = {
    {"--root", "RANK", 0, kMostOfACase, "a rank, like 0", "Only this root [every rank]", "This root [0]",
     &CaseFilter::root},
    {"--radix", "K", 2, kMostOfACase, "a radix from 2 to 65536", "Only this radix [2 to 8]", "This radix [2]",
     &CaseFilter::radix},
    {"--corner", "N", 0, 4, "0 to 4", "0 for the centre, or the corner 1 to 4 [all of these]",
     "0 for the centre, or the corner 1 to 4 [0]", &CaseFilter::corner},
};

Grid read_grid(const std::string& text) {
  std::vector<std::uint32_t> sides;
  for (const std::string_view part : split(text, 'x')) {
    const auto side = read_number<std::uint32_t>(part, 1, kMostOfACase);
    if (!side || sides.size() == 3) refuse_option("--grid", text, "a grid, like 4x2 or 4x2x2");
    sides.push_back(*side);
  }
  if (sides.size() < 2) refuse_option("--grid", text, "a grid, like 4x2 or 4x2x2");
  return {sides[0], sides[1], sides.size() == 2 ? 1 : sides[2]};
}

std::vector<std::uint32_t> read_groups(const std::string& text) {
  std::vector<std::uint32_t> groups;
  for (const std::string_view part : split(text, ',')) {
    const auto size = read_number<std::uint32_t>(part, 1, kMostOfACase);
    if (!size) refuse_option("--groups", text, "a list of sizes, like 2,3,3");
    groups.push_back(*size);
  }
  return groups;
}

}  // namespace

void refuse_option(std::string_view option, std::string_view text, std::string_view wanted) {
  throw CLI::ValidationError(fmt::format("{}: {} is not {}", option, in_quotes(text), wanted));
}

std::uint64_t number_of_option(std::string_view option, const std::string& text, std::uint64_t least,
                               std::uint64_t most) {
  const auto number = read_number<std::uint64_t>(text, least, most);
  if (!number) refuse_option(option, text, fmt::format("a number from {} to {}", least, most));
  return *number;
}

void add_case_options(CLI::App& app, CaseFilter& filter, CaseUse use) {
  const bool all = use == CaseUse::all;
  const auto add = [&](const char* name, const char* type, const char* help, auto read) {
    app.add_option_function<std::string>(name, read, help)->type_name(type);
  };
  for (const NumberOption& option : kNumbers) {
    add(option.name, option.type, all ? option.all : option.first, [&filter, &option](const std::string& text) {
      filter.*option.number = read_number(text, option.least, option.most);
      if (!(filter.*option.number)) refuse_option(option.name, text, option.wanted);
    });
  }
  add("--grid", "WxH[xD]",
      all                         ? "Only this grid, such as 4x2 or 4x2x2 [every grid]"
      : use == CaseUse::on_fabric ? "This grid, such as 4x2 or 4x2x2 [the fabric's, else a square or cube]"
                                  : "This grid, such as 4x2 or 4x2x2 [the squarest]",
      [&filter](const std::string& text) { filter.grid = read_grid(text); });
  add("--groups", "SIZES",
      all ? "Only these groups of neighbouring ranks, such as 2,3,3 [several ways to group them]"
          : "These groups of neighbouring ranks, such as 2,3,3 [about as many groups as ranks in each]",
      [&filter](const std::string& text) { filter.groups = read_groups(text); });
  add("--inner", "ALGORITHM", all ? "The algorithm between groups [every one]" : "The algorithm between groups [ring]",
      [&filter](const std::string& text) { filter.inner = text; });
}

}  // namespace tutti::cli
