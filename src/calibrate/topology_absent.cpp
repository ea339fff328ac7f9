// SPDX-License-Identifier: Apache-2.0
// Without hwloc.
#include "calibrate/measure.hpp"
#include "calibrate/topology.hpp"

namespace tutti::calibrate {

Topology topology_of_machine() {
  Topology topology;
  for (const int processor : usable_cores()) topology.cores.push_back({.processor = processor});
  topology.lines = {"built without hwloc (Debian: libhwloc-dev): which cores share what is not known"};
  return topology;
}

Result<Topology> topology_of(const std::string&) {
  return Status(Code::unsupported, "built without hwloc (Debian: libhwloc-dev)");
}

}  // namespace tutti::calibrate
