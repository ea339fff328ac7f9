// SPDX-License-Identifier: Apache-2.0
#include "tune/cells.hpp"

#include <algorithm>

namespace tutti::tune {

const WayTime* Cell::best() const {
  const auto found =
      std::min_element(times.begin(), times.end(), [](const WayTime& a, const WayTime& b) { return a.us < b.us; });
  return found == times.end() ? nullptr : &*found;
}

const WayTime* Cell::find(const TableWay& way) const {
  const auto found = std::find_if(times.begin(), times.end(), [&](const WayTime& time) { return time.way == way; });
  return found == times.end() ? nullptr : &*found;
}

double Cell::regret_of(const TableWay& way) const { return find(way)->us / best()->us - 1; }

bool are_alike(const WayTime& a, const WayTime& b) {
  const auto holds = [](const WayTime& time, double us) { return time.low_us <= us && us <= time.high_us; };
  return a.us == b.us || (holds(a, b.us) && holds(b, a.us));
}

}  // namespace tutti::tune
