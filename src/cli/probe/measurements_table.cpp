// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/measurements_table.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "calibrate/ping_pong.hpp"

namespace tutti::cli {

namespace {

// More than was measured.
constexpr int kMeasuredDigits = 4;

Column column_of(std::string name) { return {.name = std::move(name), .digits = kMeasuredDigits}; }

Table empty_table() {
  std::vector<Column> columns = {{"of"}, {"bytes"}};
  for (const calibrate::Hop hop : calibrate::kHops)
    columns.push_back(column_of(fmt::format("{}_hop_ns", name_of(hop))));
  for (const char* name : {"swap_ns", "further_fold_ns", "further_copy_ns", "small_ns", "exchange_ns", "own_fold_gbs"})
    columns.push_back(column_of(name));
  return Table(std::move(columns));
}

void add_messages(const calibrate::Measurements& measured, Table& table) {
  for (const calibrate::HopTimes& hop : measured.hops)
    table.add_row({"message", static_cast<std::int64_t>(hop.bytes), hop.copy, hop.fold, hop.forward, hop.fold_forward,
                   Cell(), Cell(), Cell(), Cell(), Cell(), Cell()});
}

void add_swaps(const calibrate::Measurements& measured, Table& table) {
  for (std::size_t size = 0; size < measured.swaps.size(); ++size) {
    const calibrate::SwapTimes& swap = measured.swaps[size];
    table.add_row({"swap", static_cast<std::int64_t>(swap.bytes), Cell(), Cell(), Cell(), Cell(), swap.once, swap.fold,
                   swap.copy, size < measured.small.size() ? Cell(measured.small[size].call) : Cell(), Cell(), Cell()});
  }
}

void add_working_sets(const calibrate::Measurements& measured, Table& table) {
  for (const calibrate::OwnRate& own : measured.own)
    table.add_row({"working set", static_cast<std::int64_t>(own.working_set), Cell(), Cell(), Cell(), Cell(), Cell(),
                   Cell(), Cell(), Cell(), own.exchange > 0 ? Cell(own.exchange) : Cell(), own.fold_bandwidth});
}

constexpr std::array kKinds = {add_messages, add_swaps, add_working_sets};

}  // namespace

Table table_of_measurements(const calibrate::Measurements& measured) {
  Table table = empty_table();
  for (const auto& add : kKinds) add(measured, table);
  return table;
}

std::vector<Table> tables_of_measurements(const calibrate::Measurements& measured) {
  std::vector<Table> tables;
  for (const auto& add : kKinds) add(measured, tables.emplace_back(empty_table()));
  return tables;
}

}  // namespace tutti::cli
