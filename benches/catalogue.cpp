// SPDX-License-Identifier: Apache-2.0
// What handling schedules may cost at most: 65,536 programs of recursive doubling walked side by side, the ring of 512
// ranks proven, and the whole catalogue proven with all its cases. Each in a process of its own, so that memory is its
// own; one verdict a bar.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "benches/bar.hpp"
#include "schedule/prove/prove.hpp"

namespace {

using tutti::benches::Bar;

bool walk_side_by_side() {
  constexpr std::uint32_t kRanks = 65536;
  const tutti::Algorithm* algorithm = tutti::find_algorithm(tutti::Collective::all_reduce, "recursive_doubling");
  const tutti::Schedule schedule = algorithm->make({.num_ranks = kRanks});
  std::vector<tutti::Walk> walks;
  walks.reserve(kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) walks.push_back(schedule.walk(rank, 0));
  // A step of each in turn, as a simulator would take them.
  std::uint64_t steps = 0;
  for (bool any = true; any;) {
    any = false;
    for (tutti::Walk& walk : walks)
      if (walk.next() != nullptr) {
        any = true;
        ++steps;
      }
  }
  // Sixteen exchanges of a send and a receipt each.
  return steps == std::uint64_t{kRanks} * 32;
}

bool prove_ring_of_512() {
  return tutti::prove(tutti::find_algorithm(tutti::Collective::all_reduce, "ring")->make({.num_ranks = 512})).ok();
}

bool command(const std::string& arguments) {
  return std::system(fmt::format("'{}' {} >/dev/null 2>&1", TUTTI_PROGRAM, arguments).c_str()) == 0;
}

}  // namespace

int main() {
  const Bar bars[] = {
      {"65,536 programs walked side by side", 2, 300, walk_side_by_side},
      {"the ring of 512 ranks proven", 5, 0, prove_ring_of_512},
      {"prove --all --num-ranks 1-33", 90, 0, [] { return command("prove --all --num-ranks 1-33"); }},
      {"prove --all --num-ranks 2-9 --mutate 20000", 300, 0,
       [] { return command("prove --all --num-ranks 2-9 --mutate 20000 --seed 1"); }},
  };
  bool all_met = true;
  for (const Bar& bar : bars) all_met = tutti::benches::holds(bar) && all_met;
  fmt::print("catalogue: {}\n", all_met ? "all bars met" : "a bar is missed");
  return all_met ? 0 : 1;
}
