// SPDX-License-Identifier: Apache-2.0
// Traces in GOAL: any text is refused with its place, or is a trace each of whose operations is a step of one lane.
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "simulate/trace/goal.hpp"
#include "simulate/trace/lay_out.hpp"

namespace tutti::simulate {
namespace {

using fuzz::require;

void check_lanes(const LaidOut& laid_out, const Trace& trace) {
  const Schedule& schedule = laid_out.schedule;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    std::vector<bool> is_met(trace.ranks[rank].operations.size());
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Walk walk = schedule.walk(rank, lane);
      const std::size_t id = std::size_t{rank} * schedule.num_lanes + lane;
      while (const Step* step = walk.next()) {
        const std::uint32_t number = laid_out.operations[laid_out.additions.number_of(id, *step)];
        require(!is_met[number], "an operation is a step once");
        is_met[number] = true;
      }
    }
    for (const bool met : is_met) require(met, "every operation is a step");
  }
}

void check(std::string_view text) {
  static_cast<void>(looks_like_goal(text));
  Result<Trace> trace = read_goal(text, "my.goal");
  if (!trace.ok()) {
    require(trace.status().message().starts_with("my.goal:"), "an error has its place");
    return;
  }
  const Result<Predecessors> before = match(*trace);
  if (!before.ok()) {
    require(before.status().message().starts_with("my.goal:"), "an error has its place");
    return;
  }
  const auto shared = std::make_shared<const Trace>(*std::move(trace));
  const Result<LaidOut> laid_out = lay_out(shared, *before);
  if (laid_out.ok()) check_lanes(*laid_out, *shared);
}

}  // namespace
}  // namespace tutti::simulate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::simulate::check(tutti::fuzz::as_text(data, size));
  return 0;
}
