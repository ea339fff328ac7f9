// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/measurements_table.hpp"

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

}  // namespace

Table table_of_measurements(const calibrate::Measurements& measured) {
  std::vector<Column> columns = {{"of"}, {"bytes"}};
  for (const calibrate::Hop hop : calibrate::kHops)
    columns.push_back(column_of(fmt::format("{}_hop_ns", name_of(hop))));
  for (const char* name : {"swap_ns", "further_fold_ns", "further_copy_ns", "small_ns", "exchange_ns", "own_fold_gbs"})
    columns.push_back(column_of(name));
  Table table(std::move(columns));
  for (const calibrate::HopTimes& hop : measured.hops)
    table.add_row({"message", static_cast<std::int64_t>(hop.bytes), hop.copy, hop.fold, hop.forward, hop.fold_forward,
                   Cell(), Cell(), Cell(), Cell(), Cell(), Cell()});
  for (std::size_t size = 0; size < measured.swaps.size(); ++size) {
    const calibrate::SwapTimes& swap = measured.swaps[size];
    table.add_row({"swap", static_cast<std::int64_t>(swap.bytes), Cell(), Cell(), Cell(), Cell(), swap.once, swap.fold,
                   swap.copy, size < measured.small.size() ? Cell(measured.small[size].call) : Cell(), Cell(), Cell()});
  }
  for (const calibrate::OwnRate& own : measured.own)
    table.add_row({"working set", static_cast<std::int64_t>(own.working_set), Cell(), Cell(), Cell(), Cell(), Cell(),
                   Cell(), Cell(), Cell(), own.exchange > 0 ? Cell(own.exchange) : Cell(), own.fold_bandwidth});
  return table;
}

}  // namespace tutti::cli
