// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/views/comparison_words.hpp"
#include "bench/views/table.hpp"
#include "cli/launch/elf_symbols.hpp"

namespace tutti::cli {

namespace {

constexpr std::size_t kMostRowsShown = 12;

// Entries that people need not tell apart.
struct ShownCalls {
  const WorkloadEntry* entry = nullptr;
  std::uint64_t calls = 0;
  double us = 0;
};

std::vector<ShownCalls> by_time(const Workload& workload) {
  using Key = std::tuple<std::string, Collective, std::uint32_t, std::uint64_t, Type, std::uint32_t>;
  std::map<Key, ShownCalls> alike;
  for (const WorkloadEntry& each : workload.entries) {
    ShownCalls& shown = alike[{each.site, each.collective, each.ranks, each.bytes, each.type, each.root}];
    shown.entry = &each;
    shown.calls += each.calls;
    shown.us += each.measured_us * each.calls;
  }
  std::vector<ShownCalls> all;
  for (const auto& [key, shown] : alike) all.push_back(shown);
  std::sort(all.begin(), all.end(), [](const ShownCalls& a, const ShownCalls& b) { return a.us > b.us; });
  return all;
}

}  // namespace

Result<Merged> merge_folder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (!name.starts_with('.') && name.ends_with(kPartSuffix)) paths.push_back(each->path().string());
  }
  if (error) return Status::from_errno(fmt::format("cannot read the folder {}", in_quotes(folder)), error.value());
  std::sort(paths.begin(), paths.end());
  std::vector<Part> parts;
  std::vector<std::string> notes;
  for (const std::string& path : paths) {
    const Result<std::string> text = read_file(path, kMostPartBytes);
    Result<Part> part = text.ok() ? read_part(*text, path) : Result<Part>(text.status());
    if (part.ok()) {
      parts.push_back(*std::move(part));
    } else {
      notes.emplace_back(part.status().message());
    }
  }
  ElfSymbols symbols;
  Result<Merged> merged = merge(parts, [&](const CallSite& site) { return name_of_site(symbols.named(site)); });
  if (!merged.ok() && !notes.empty())
    return Status(merged.status().code(),
                  fmt::format("{}; {}{}", merged.status().message(), notes.front(), notes.size() > 1 ? " …" : ""));
  if (merged.ok()) merged->notes.insert(merged->notes.begin(), notes.begin(), notes.end());
  return merged;
}

void tell_workload(const Workload& workload, const Context& context) {
  double communicating = 0;
  double computing = 0;
  std::uint64_t calls = 0;
  for (const WorkloadEntry& each : workload.entries) {
    communicating += each.measured_us * each.calls;
    computing += each.compute_us * each.calls;
    calls += each.calls;
  }
  Table table({{.name = "site"},
               {.name = "collective"},
               {.name = "ranks"},
               {.name = "bytes"},
               {.name = "type"},
               {.name = "root"},
               {.name = "calls"},
               {.name = "each_us", .digits = kShareDigits},
               {.name = "percent", .digits = kShareDigits}});
  const std::vector<ShownCalls> all = by_time(workload);
  const double whole = communicating + computing;
  for (const ShownCalls& each : all) {
    if (table.rows().size() == kMostRowsShown) break;
    const WorkloadEntry& entry = *each.entry;
    table.add_row({entry.site.empty() ? Cell() : Cell(entry.site), std::string(name_of(entry.collective)),
                   std::int64_t{entry.ranks}, static_cast<std::int64_t>(entry.bytes), std::string(name_of(entry.type)),
                   facts_of(entry.collective).has_root ? Cell(std::int64_t{entry.root}) : Cell(),
                   static_cast<std::int64_t>(each.calls),
                   each.us > 0 ? Cell(each.us / static_cast<double>(each.calls)) : Cell(),
                   whole > 0 ? Cell(each.us / whole * 100) : Cell()});
  }
  context.error << to_aligned(without_empty_columns(table));
  if (all.size() > kMostRowsShown) context.error << "and " << counted(all.size() - kMostRowsShown, "row") << " more\n";
  context.error << fmt::format("{} of {}: {} in collectives, {} in between\n", counted(calls, "call"),
                               counted(workload.ranks, "rank"), harness::time_text(communicating * 1e3),
                               harness::time_text(computing * 1e3));
}

}  // namespace tutti::cli
