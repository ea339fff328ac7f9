// SPDX-License-Identifier: Apache-2.0
#include "tune/leave_out.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::tune {

namespace {

// The rule of the cells that are kept; ways are not told apart by peers here.
Rule rule_of(std::span<const MachineCell> cells, const std::function<bool(std::size_t)>& keeps,
             const MergeOptions& options) {
  std::vector<MachineCell> kept;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (keeps(i)) kept.push_back(cells[i]);
  return {.name = {}, .tables = tables_of(kept, "", options), .always = {}};
}

bool same_memory(const CaseKey& a, const CaseKey& b) {
  return std::tie(a.collective, a.memory, a.types, a.hosts) == std::tie(b.collective, b.memory, b.types, b.hosts);
}

// The rule has no section of its own for the cell's case.
bool lacks_case(const Rule& rule, const MachineCell& cell) {
  const DecisionTable* const table = table_for(rule, cell.machine);
  return table == nullptr ||
         std::none_of(table->sections.begin(), table->sections.end(), [&](const TableSection& section) {
           const CaseKey key{section.collective, section.ranks, section.memory, section.types, section.hosts};
           return key == cell.cell.key;
         });
}

}  // namespace

std::vector<std::size_t> folds_of_sizes(std::span<const MachineCell> cells) {
  std::map<std::pair<std::string, CaseKey>, std::vector<std::pair<std::uint64_t, std::size_t>>> by_case;
  for (std::size_t i = 0; i < cells.size(); ++i)
    by_case[{cells[i].machine, cells[i].cell.key}].push_back({cells[i].cell.bytes, i});
  std::vector<std::size_t> folds(cells.size());
  for (auto& [key, sizes] : by_case) {
    std::sort(sizes.begin(), sizes.end());
    for (std::size_t place = 0; place < sizes.size(); ++place) folds[sizes[place].second] = place % 2;
  }
  return folds;
}

std::vector<Taken> without_sizes(std::span<const MachineCell> cells, const MergeOptions& options) {
  const std::vector<std::size_t> folds = folds_of_sizes(cells);
  std::vector<Taken> all(cells.size());
  for (const std::size_t fold : {0U, 1U}) {
    const Rule rule = rule_of(
        cells, [&](std::size_t i) { return folds[i] != fold; }, options);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (folds[i] == fold)
        all[i] = lacks_case(rule, cells[i]) ? Taken{.way = {}, .lack = Lack::section} : take(rule, cells[i]);
  }
  return all;
}

std::vector<Taken> without_ranks(std::span<const MachineCell> cells, const MergeOptions& options) {
  std::vector<Taken> all(cells.size());
  std::vector<bool> is_done(cells.size(), false);
  for (std::size_t first = 0; first < cells.size(); ++first) {
    if (is_done[first]) continue;
    const MachineCell& out = cells[first];
    const auto is_out = [&](const MachineCell& cell) {
      return cell.machine == out.machine && cell.cell.key == out.cell.key;
    };
    const Rule rule = rule_of(
        cells,
        [&](std::size_t i) {
          return cells[i].machine == out.machine && cells[i].cell.key.ranks != out.cell.key.ranks &&
                 same_memory(cells[i].cell.key, out.cell.key);
        },
        options);
    for (std::size_t i = first; i < cells.size(); ++i) {
      if (!is_out(cells[i])) continue;
      is_done[i] = true;
      all[i] = rule.tables.empty() ? Taken{.way = {}, .lack = Lack::section} : take(rule, cells[i]);
    }
  }
  return all;
}

std::vector<Taken> by_predictions(std::span<const MachineCell> cells, std::span<const MachineCell> predicted,
                                  const MergeOptions& options) {
  const Rule rule = rule_of(
      predicted, [](std::size_t) { return true; }, options);
  std::vector<Taken> all;
  for (const MachineCell& cell : cells)
    all.push_back(lacks_case(rule, cell) ? Taken{.way = {}, .lack = Lack::section} : take(rule, cell));
  return all;
}

}  // namespace tutti::tune
