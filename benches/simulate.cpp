// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: messages a second on one core, the largest runs that it must manage, and that the time of
// a message does not grow with their number. One verdict a bar; fingerprints are carried wherever all ranks are walked.
#include "simulate/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "benches/bar.hpp"
#include "fabric/generators/generate.hpp"

namespace {

using tutti::benches::Bar;

// Messages; none where something is wrong.
std::uint64_t simulated(std::string_view algorithm, std::uint32_t num_ranks, const std::string& fabric) {
  const tutti::Schedule schedule =
      tutti::find_algorithm(tutti::Collective::all_reduce, algorithm)->make({.num_ranks = num_ranks});
  const tutti::Result<tutti::fabric::Fabric> machine = tutti::fabric::generate(fabric);
  if (!machine.ok()) return 0;
  const tutti::Result<tutti::simulate::Answer> answer =
      tutti::simulate::simulate(schedule, *machine, {.count = std::uint64_t{64} * num_ranks, .element_size = 4});
  // Where one rank stands for all, nothing is carried.
  return answer.ok() && (answer->checked || answer->ranks_walked == 1) ? answer->messages : 0;
}

std::string ring_of(std::uint32_t num_ranks) { return fmt::format("ring_1d:{}", num_ranks); }

double ns_a_message(std::uint32_t num_ranks) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t messages = simulated("ring", num_ranks, ring_of(num_ranks));
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return messages == 0 ? 1e9 : taken.count() / static_cast<double>(messages);
}

// The least of some, since what others do to the machine only makes it slower.
double least_ns(std::uint32_t num_ranks, int times) {
  double least = 1e9;
  for (int i = 0; i < times; ++i) least = std::min(least, ns_a_message(num_ranks));
  return least;
}

}  // namespace

int main() {
  bool all_met = true;
  const double small = least_ns(256, 9);
  const bool is_fast = small <= 200;
  fmt::print("{:46} {:>7.2f} M messages/s of 5  {}\n", "ring all-reduce of 256 ranks", 1e3 / small,
             is_fast ? "met" : "missed");
  all_met = all_met && is_fast;
  const Bar bars[] = {
      {"recursive doubling of 65,536 ranks", 2, 0,
       [] { return simulated("recursive_doubling", 65536, "switch:65536") == std::uint64_t{65536} * 16; }},
      {"ring of 4,096 ranks, 33.5 million messages", 15, 2048,
       [] { return simulated("ring", 4096, ring_of(4096)) == std::uint64_t{4096} * 2 * 4095; }},
      {"ring of 65,536 ranks, which are alike", 5, 0,
       [] { return simulated("ring", 65536, ring_of(65536)) == std::uint64_t{65536} * 2 * 65535; }},
  };
  for (const Bar& bar : bars) all_met = tutti::benches::holds(bar) && all_met;

  fmt::print("\n{:>6} {:>12} {:>14}\n", "ranks", "messages", "ns a message");
  double largest = 0;
  for (const std::uint32_t num_ranks : {64U, 128U, 256U, 512U, 1024U, 2048U}) {
    largest = least_ns(num_ranks, num_ranks < 1024 ? 5 : 2);
    fmt::print("{:>6} {:>12} {:>14.0f}\n", num_ranks, std::uint64_t{num_ranks} * 2 * (num_ranks - 1), largest);
  }
  // A thousand times as many messages; what each costs grows as the buffers outgrow the caches, and no further.
  const bool is_linear = largest <= 2 * small;
  fmt::print("{:46} {:>7.2f} times of 2  {}\n", "a message of 2,048 ranks beside one of 256", largest / small,
             is_linear ? "met" : "missed");
  all_met = all_met && is_linear;
  fmt::print("simulate: {}\n", all_met ? "all bars met" : "a bar is missed");
  return all_met ? 0 : 1;
}
