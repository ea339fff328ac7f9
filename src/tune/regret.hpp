// SPDX-License-Identifier: Apache-2.0
// Regret: by how much longer what a rule takes lasts than the best known way, cell by cell. A rule is tables, or one
// way for everything. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "table/decision_table.hpp"
#include "tune/timings.hpp"

namespace tutti::tune {

struct Rule {
  std::string name;
  std::vector<DecisionTable> tables;  // one for each machine, or one for all
  // In place of the tables: a way for everything, as TableWay::to_string() writes it.
  std::optional<std::string> always;
};

// Why a rule says nothing of a cell, or nothing that can be judged.
enum class Lack : std::uint8_t {
  none,
  machine,  // its tables are of other machines
  section,  // its table has nothing for the collective, memory, or whether ranks share cores
  time,     // it takes a way that has no time there
};

// What a rule does in a cell.
struct Taken {
  std::optional<TableWay> way;
  double us = 0;
  double regret = 0;       // 0.1: it takes 10 % longer than the best
  bool is_exact = true;    // the table has that number of ranks
  Lack lack = Lack::none;  // otherwise time and regret are 0
};

// The table for the machine: the one that is called so, or else one that has no name for its machine; results that do
// not say their machine are of the first table's. Null where there is none.
[[nodiscard]] const DecisionTable* table_for(const Rule& rule, const std::string& machine);

[[nodiscard]] Taken take(const Rule& rule, const MachineCell& cell);
[[nodiscard]] std::vector<Taken> take_all(const Rule& rule, std::span<const MachineCell> cells);

struct RegretSummary {
  std::size_t judged = 0;   // cells that have a regret
  std::size_t best = 0;     // of these, where it takes the best way
  std::size_t inexact = 0;  // of these, by a table of another number of ranks
  std::size_t machine = 0;  // cells that lack it
  std::size_t section = 0;
  std::size_t time = 0;
  double mean = 0;
  double greatest = 0;
  std::optional<std::size_t> where;  // the cell with the greatest; nothing where no cell has any

  [[nodiscard]] std::size_t lacking() const { return machine + section + time; }
};
[[nodiscard]] RegretSummary summarize(std::span<const Taken> taken);

}  // namespace tutti::tune
