// SPDX-License-Identifier: Apache-2.0
#include "tune/regret.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tutti::tune {

namespace {

Taken judged(const TableWay& way, const Cell& cell) {
  Taken taken{.way = way};
  const WayTime* const time = cell.find(way);
  if (time == nullptr) {
    taken.lack = Lack::time;
    return taken;
  }
  taken.us = time->us;
  taken.regret = cell.regret_of(way);
  return taken;
}

}  // namespace

const DecisionTable* table_for(const Rule& rule, const std::string& machine) {
  if (rule.tables.empty()) return nullptr;
  if (machine.empty()) return &rule.tables.front();
  const DecisionTable* of_any = nullptr;
  for (const DecisionTable& table : rule.tables) {
    if (same_name(table.machine, machine)) return &table;
    if (table.machine.empty() && of_any == nullptr) of_any = &table;
  }
  return of_any;
}

Taken take(const Rule& rule, const MachineCell& cell) {
  if (rule.always) {
    for (const WayTime& time : cell.cell.times)
      if (time.way.to_string() == *rule.always) return judged(time.way, cell.cell);
    return {.way = TableWay{.algorithm = *rule.always, .tuning = {}, .settings = {}}, .lack = Lack::time};
  }
  const DecisionTable* const table = table_for(rule, cell.machine);
  if (table == nullptr) return {.way = {}, .lack = Lack::machine};
  const CaseKey& key = cell.cell.key;
  // Results are of the machine that the table is about, so it knows whether ranks shared cores.
  const std::optional<TableAnswer> answer =
      find_section(*table, {.collective = key.collective,
                            .ranks = key.ranks,
                            .memory = key.memory,
                            .types = key.types == TypeClass::any ? TypeClass::plain : key.types,
                            .crowded = table->cores != 0 && key.ranks > table->cores,
                            .hosts = key.hosts});
  if (!answer) return {.way = {}, .lack = Lack::section};
  Taken taken = judged(answer->section->range_of(cell.cell.bytes).way, cell.cell);
  taken.is_exact = answer->is_exact;
  return taken;
}

std::vector<Taken> take_all(const Rule& rule, std::span<const MachineCell> cells) {
  std::vector<Taken> all;
  all.reserve(cells.size());
  for (const MachineCell& cell : cells) all.push_back(take(rule, cell));
  return all;
}

RegretSummary summarize(std::span<const Taken> taken) {
  RegretSummary summary;
  double sum = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const Taken& each = taken[i];
    switch (each.lack) {
      case Lack::machine: ++summary.machine; continue;
      case Lack::section: ++summary.section; continue;
      case Lack::time: ++summary.time; continue;
      case Lack::none: break;
    }
    ++summary.judged;
    if (each.regret <= 0) ++summary.best;
    if (!each.is_exact) ++summary.inexact;
    sum += each.regret;
    if (each.regret > summary.greatest) {
      summary.greatest = each.regret;
      summary.where = i;
    }
  }
  if (summary.judged > 0) summary.mean = sum / static_cast<double>(summary.judged);
  return summary;
}

}  // namespace tutti::tune
