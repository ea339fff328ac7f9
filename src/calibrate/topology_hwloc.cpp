// SPDX-License-Identifier: Apache-2.0
// Topologies as hwloc sees them.
#include <algorithm>
#include <memory>
#include <tuple>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/units.hpp"
#include "calibrate/measure.hpp"
#include "calibrate/topology.hpp"

namespace tutti::calibrate {

namespace {

struct Destroyed {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Hwloc = std::unique_ptr<hwloc_topology, Destroyed>;

Hwloc make() {
  hwloc_topology_t topology = nullptr;
  return Hwloc(hwloc_topology_init(&topology) == 0 ? topology : nullptr);
}

// The last cache above a core, which others may share.
hwloc_obj_t last_cache(hwloc_obj_t core) {
  hwloc_obj_t found = nullptr;
  for (hwloc_obj_t above = core->parent; above != nullptr; above = above->parent)
    if (hwloc_obj_type_is_dcache(above->type) != 0) found = above;
  return found;
}

hwloc_obj_t package_of(hwloc_topology* topology, hwloc_obj_t core) {
  return hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
}

std::uint32_t number_of(std::vector<hwloc_obj_t>& seen, hwloc_obj_t object) {
  const auto found = std::find(seen.begin(), seen.end(), object);
  if (found != seen.end()) return static_cast<std::uint32_t>(found - seen.begin());
  seen.push_back(object);
  return static_cast<std::uint32_t>(seen.size() - 1);
}

std::string cores_in_words(const std::vector<CorePlace>& cores, std::size_t first, std::size_t count) {
  std::string words = fmt::format("{} core{}: processor{}", count, count == 1 ? "" : "s", count == 1 ? "" : "s");
  for (std::size_t i = first; i < first + count; ++i) {
    std::size_t last = i;
    while (last + 1 < first + count && cores[last + 1].processor == cores[last].processor + 1) ++last;
    words += last > i ? fmt::format(" {}-{}", cores[i].processor, cores[last].processor)
                      : fmt::format(" {}", cores[i].processor);
    i = last;
  }
  return words;
}

// Cores by package and cache, and a line for each of these.
Topology read(hwloc_topology* topology, const std::vector<int>* usable) {
  Topology found;
  const auto may_use = [&](unsigned processor) {
    return usable == nullptr || std::binary_search(usable->begin(), usable->end(), static_cast<int>(processor));
  };
  // In the order in which they are met: on some machines caches of several levels are the last. None is one, too.
  std::vector<hwloc_obj_t> caches;
  std::vector<hwloc_obj_t> packages;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
    for (unsigned processor = 0; processor <= static_cast<unsigned>(hwloc_bitmap_last(core->cpuset)); ++processor) {
      if (hwloc_bitmap_isset(core->cpuset, processor) == 0 || !may_use(processor)) continue;
      found.cores.push_back({.processor = static_cast<int>(processor),
                             .cache = number_of(caches, last_cache(core)),
                             .package = number_of(packages, package_of(topology, core))});
      break;
    }
  }
  std::stable_sort(found.cores.begin(), found.cores.end(), [](const CorePlace& a, const CorePlace& b) {
    return std::tie(a.package, a.cache) < std::tie(b.package, b.cache);
  });
  const auto begins = [&](std::size_t at, bool package) {
    if (at == 0) return true;
    const Apart distance = apart(found.cores[at - 1], found.cores[at]);
    return package ? distance == Apart::packages : distance != Apart::not_at_all;
  };
  for (std::size_t at = 0; at < found.cores.size(); ++at) {
    const CorePlace& place = found.cores[at];
    if (begins(at, true)) {
      const hwloc_obj* const package = packages[place.package];
      const std::uint64_t memory = package == nullptr ? 0 : package->total_memory;
      found.lines.push_back(fmt::format("package {}", place.package) +
                            (memory > 0 ? fmt::format(", {} of memory", to_text(Bytes(memory >> 20U << 20U))) : ""));
    }
    if (!begins(at, false)) continue;
    std::size_t count = 1;
    while (at + count < found.cores.size() && !begins(at + count, false)) ++count;
    std::string line = "  ";
    hwloc_obj_t above = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(place.processor));
    if (above != nullptr) above = last_cache(above);
    if (above != nullptr)
      line += fmt::format("L{} {}, ", above->attr->cache.depth, to_text(Bytes(above->attr->cache.size)));
    found.lines.push_back(line + cores_in_words(found.cores, at, count));
  }
  return found;
}

}  // namespace

Topology topology_of_machine() {
  const std::vector<int> usable = usable_cores();
  const Hwloc topology = make();
  Topology found;
  if (topology != nullptr && hwloc_topology_load(topology.get()) == 0) found = read(topology.get(), &usable);
  if (found.lines.empty()) found.lines = {"hwloc cannot tell which cores share what"};
  if (found.cores.size() >= 2 || usable.size() == found.cores.size()) return found;
  // The threads of a single core, which are as near each other as can be.
  found.cores.clear();
  for (const int processor : usable) found.cores.push_back({.processor = processor});
  return found;
}

Result<Topology> topology_of(const std::string& synthetic) {
  const Hwloc topology = make();
  if (topology == nullptr || hwloc_topology_set_synthetic(topology.get(), synthetic.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0)
    return Status(Code::invalid_argument, fmt::format("'{}' is no topology to hwloc", synthetic));
  return read(topology.get(), nullptr);
}

}  // namespace tutti::calibrate
