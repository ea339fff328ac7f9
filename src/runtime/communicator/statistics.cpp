// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace tutti {

std::string_view name_of(Reach reach) {
  switch (reach) {
    case Reach::staged: return "staged";
    case Reach::symmetric: return "symmetric";
    case Reach::attached: return "attached";
  }
  return "unknown";
}

CallCount& CallCounts::row(Collective collective, const std::string* algorithm, Reach reach) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const CallCount& each) {
    return each.collective == collective && each.algorithm == algorithm && each.reach == reach;
  });
  if (found != rows_.end()) return *found;
  return rows_.emplace_back(CallCount{.collective = collective, .algorithm = algorithm, .reach = reach});
}

std::vector<Statistic> CallCounts::statistics(std::uint64_t operations) const {
  std::uint64_t small = operations;
  std::vector<Statistic> all;
  for (const CallCount& each : rows_) {
    small -= each.calls;
    if (each.algorithm == nullptr || each.calls == 0) continue;
    all.push_back({.operation = name_of(each.collective),
                   .algorithm = *each.algorithm,
                   .reach = name_of(each.reach),
                   .calls = each.calls,
                   .bytes = each.bytes});
  }
  if (small > 0)
    all.insert(all.begin(), {.operation = name_of(Collective::all_reduce),
                             .algorithm = "one_shot",
                             .reach = "small",
                             .calls = small,
                             .bytes = {}});
  return all;
}

std::string to_table(const std::vector<Statistic>& statistics) {
  std::vector<std::array<std::string, 5>> lines = {{"operation", "algorithm", "reach", "calls", "bytes"}};
  for (const Statistic& each : statistics)
    lines.push_back({std::string(each.operation), each.algorithm.empty() ? "-" : std::string(each.algorithm),
                     std::string(each.reach), fmt::format("{}", each.calls),
                     each.bytes ? fmt::format("{}", *each.bytes) : "-"});
  std::array<std::size_t, 5> widths{};
  for (const auto& line : lines)
    for (std::size_t column = 0; column < widths.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  std::string table;
  for (const auto& line : lines)
    table += fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}\n", line[0], widths[0], line[1], widths[1], line[2],
                         widths[2], line[3], widths[3], line[4], widths[4]);
  if (!table.empty()) table.pop_back();
  return table;
}

}  // namespace tutti
