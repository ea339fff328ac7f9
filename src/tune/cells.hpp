// SPDX-License-Identifier: Apache-2.0
// What the tuner sees of results, wherever they come from: for each case the ways that were tried, with their times.
// Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/collective.hpp"
#include "table/decision_table.hpp"

namespace tutti::tune {

// Of one way in one case: the median and its interval, in microseconds.
struct WayTime {
  TableWay way;
  double us = 0;
  double low_us = 0;  // both 0: no interval is known
  double high_us = 0;
  std::uint64_t samples = 0;
};

struct CaseKey {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  TableMemory memory = TableMemory::ordinary;
  TypeClass types = TypeClass::any;
  std::uint32_t hosts = 1;

  friend auto operator<=>(const CaseKey&, const CaseKey&) = default;
};

struct Cell {
  CaseKey key;
  std::uint64_t bytes = 0;
  std::vector<WayTime> times;  // each way once

  // Null where there are no times.
  [[nodiscard]] const WayTime* best() const;
  // Null where the way was not tried.
  [[nodiscard]] const WayTime* find(const TableWay& way) const;
  // How much longer the way takes than the best one: 0.1 is 10 %. Only of a way that was tried.
  [[nodiscard]] double regret_of(const TableWay& way) const;
};

// Whether the two cannot be told apart: each median lies within the other's interval.
[[nodiscard]] bool are_alike(const WayTime& a, const WayTime& b);

}  // namespace tutti::tune
