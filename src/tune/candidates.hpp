// SPDX-License-Identifier: Apache-2.0
// What there is to try: ways of a collective, and the neighbours of a way, which differ in a value or two. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/collective.hpp"
#include "schedule/collective.hpp"
#include "table/decision_table.hpp"
#include "tune/cells.hpp"

namespace tutti::tune {

struct Candidates {
  // Ways to begin with; the first is what happens if nothing is tuned.
  std::vector<TableWay> first;
  // Ways that differ from one in a value, or in two that belong together, and may matter at the size. Null: there are
  // none.
  std::function<std::vector<TableWay>(const TableWay& way, std::uint64_t bytes)> neighbours;
};

struct OwnOptions {
  std::uint32_t ranks = 2;
  std::uint32_t cores = 2;  // that ranks have
  TableMemory memory = TableMemory::ordinary;
  OrderClass order = OrderClass::uniform;  // no way keeps less
  // Of several hosts, whose ranks are neighbours: only messages get from one to another.
  std::vector<std::uint32_t> ranks_of_hosts = {};
};

// Tutti's own algorithms, with the parameters that they take, and round, copies and stores as neighbours.
[[nodiscard]] Candidates own_candidates(Collective collective, const OwnOptions& options);

// A knob of another peer: a variable and the values that are worth a try.
struct Knob {
  std::string name;
  std::vector<std::string> values;      // other than leaving it alone
  std::vector<std::string> algorithms;  // for these alone; none: for all
  std::uint64_t least_bytes = 0;        // at smaller sizes it means nothing
};
// Algorithms by name, and knobs as neighbours.
[[nodiscard]] Candidates peer_candidates(const std::vector<std::string>& algorithms, std::vector<Knob> knobs);

}  // namespace tutti::tune
