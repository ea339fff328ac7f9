// SPDX-License-Identifier: Apache-2.0
#include "tune/timings.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::tune {

namespace {

// The middle one of each way's times, in the order in which the ways came.
std::vector<WayTime> middle_times(const std::vector<const WayTime*>& all, std::size_t& repeated) {
  std::vector<std::vector<const WayTime*>> by_way;
  for (const WayTime* const time : all) {
    const auto same =
        std::find_if(by_way.begin(), by_way.end(), [&](const auto& times) { return times.front()->way == time->way; });
    if (same == by_way.end())
      by_way.push_back({time});
    else
      same->push_back(time);
  }
  std::vector<WayTime> middle;
  for (auto& times : by_way) {
    const auto half = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::nth_element(times.begin(), half, times.end(),
                     [](const WayTime* a, const WayTime* b) { return a->us < b->us; });
    middle.push_back(**half);
    repeated += times.size() - 1;
  }
  return middle;
}

}  // namespace

std::vector<MachineCell> cells_of(std::span<const Timing> timings, std::size_t& repeated) {
  repeated = 0;
  std::vector<std::string> machines;  // in the order in which they came
  std::map<std::tuple<std::size_t, CaseKey, std::uint64_t>, std::vector<const WayTime*>> cells;
  for (const Timing& timing : timings) {
    const auto found = std::find(machines.begin(), machines.end(), timing.machine);
    const auto machine = static_cast<std::size_t>(found - machines.begin());
    if (found == machines.end()) machines.push_back(timing.machine);
    cells[{machine, timing.key, timing.bytes}].push_back(&timing.time);
  }
  std::vector<MachineCell> made;
  for (const auto& [place, times] : cells) {
    const auto& [machine, key, bytes] = place;
    made.push_back(
        {.machine = machines[machine], .cell = {.key = key, .bytes = bytes, .times = middle_times(times, repeated)}});
  }
  return made;
}

std::vector<DecisionTable> tables_of(std::span<const MachineCell> cells, std::string_view peer,
                                     const MergeOptions& options) {
  std::vector<std::pair<std::string, std::vector<Cell>>> by_machine;
  for (const MachineCell& each : cells) {
    Cell cell = each.cell;
    if (peer == kOwnPeer) std::erase_if(cell.times, [](const WayTime& time) { return !time.way.settings.empty(); });
    const auto found = std::find_if(by_machine.begin(), by_machine.end(),
                                    [&](const auto& of_machine) { return of_machine.first == each.machine; });
    if (found == by_machine.end())
      by_machine.push_back({each.machine, {std::move(cell)}});
    else
      found->second.push_back(std::move(cell));
  }
  std::vector<DecisionTable> tables;
  for (const auto& [machine, of_machine] : by_machine) {
    DecisionTable& table = tables.emplace_back();
    table.peer = peer;
    table.fingerprint = kAnyMachine;
    table.machine = machine;
    table.sections = make_sections(of_machine, options);
  }
  return tables;
}

}  // namespace tutti::tune
