// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/program/shell_file.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/process/command.hpp"

namespace tutti::cli {

namespace {

std::string commands_of(const Settings& settings, std::string_view indent) {
  std::string text;
  for (const harness::Setting& each : settings)
    text += each.value ? fmt::format("{}export {}={}\n", indent, each.name, harness::in_shell({*each.value}))
                       : fmt::format("{}unset {}\n", indent, each.name);
  return text.empty() ? fmt::format("{}:  # the environment as it is\n", indent) : text;
}

}  // namespace

std::vector<std::pair<std::uint64_t, Settings>> ranges_of(std::span<const BestSettings> best,
                                                          const std::vector<Settings>& settings) {
  std::vector<const BestSettings*> sized;
  for (const BestSettings& each : best)
    if (each.timed.bytes) sized.push_back(&each);
  std::stable_sort(sized.begin(), sized.end(),
                   [](const BestSettings* a, const BestSettings* b) { return *a->timed.bytes < *b->timed.bytes; });
  std::vector<std::pair<std::uint64_t, Settings>> ranges;
  for (std::size_t i = 0; i < sized.size(); ++i) {
    const std::uint64_t bytes = *sized[i]->timed.bytes;
    const Settings& chosen = sized[i]->best == 0 ? Settings() : settings[sized[i]->best];
    const bool is_twice = i > 0 && *sized[i - 1]->timed.bytes == bytes;
    if (is_twice && sized[i - 1]->best != sized[i]->best) return {};
    const std::uint64_t next = i + 1 < sized.size() ? *sized[i + 1]->timed.bytes : bytes;
    const auto middle = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(bytes) * static_cast<double>(next)));
    if (ranges.empty() || ranges.back().second != chosen) ranges.emplace_back(middle, chosen);
    ranges.back().first = middle;
  }
  return ranges;
}

std::string to_text(const ShellFile& file) {
  std::string text;
  for (const std::string& remark : file.remarks) text += fmt::format("# {}\n", printable(remark));
  text += "# usage: . ./FILE, or for messages of one size: BYTES=65536; . ./FILE\n";
  if (file.by_size.size() <= 1) return text + commands_of(file.overall, "");
  text += "if [ -z \"${BYTES:-}\" ]; then\n" + commands_of(file.overall, "  ");
  for (std::size_t i = 0; i < file.by_size.size(); ++i) {
    const auto& [most, settings] = file.by_size[i];
    text += i + 1 < file.by_size.size() ? fmt::format("elif [ \"$BYTES\" -le {} ]; then\n", most) : "else\n";
    text += commands_of(settings, "  ");
  }
  return text + "fi\n";
}

}  // namespace tutti::cli
