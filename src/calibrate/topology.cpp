// SPDX-License-Identifier: Apache-2.0
// What there is to say of a topology, wherever it is from.
#include "calibrate/topology.hpp"

namespace tutti::calibrate {

Apart apart(const CorePlace& a, const CorePlace& b) {
  return a.package != b.package ? Apart::packages : a.cache != b.cache ? Apart::caches : Apart::not_at_all;
}

std::optional<std::pair<CorePlace, CorePlace>> Topology::pair(Apart distance) const {
  for (std::size_t i = 0; i < cores.size(); ++i)
    for (std::size_t j = i + 1; j < cores.size(); ++j)
      if (apart(cores[i], cores[j]) == distance) return std::pair(cores[i], cores[j]);
  return std::nullopt;
}

}  // namespace tutti::calibrate
