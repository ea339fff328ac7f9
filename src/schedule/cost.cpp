// SPDX-License-Identifier: Apache-2.0
#include "schedule/cost.hpp"

#include <algorithm>

#include "schedule/prove/symbolic_run.hpp"
#include "schedule/prove/world.hpp"
#include "schedule/timeline/earliest_times.hpp"

namespace tutti {

namespace {

RankCost count(const Program& program) {
  RankCost cost;
  cost.steps = program.num_steps();
  for (const auto& lane : program.lanes) {
    for (const Step& step : lane) {
      if (step.kind != StepKind::combine) continue;
      for (const Endpoint& end : step.sources) {
        if (end.place == Place::message) cost.pieces_received += end.slice.size();
        if (end.place == Place::remote || end.place == Place::multicast) cost.pieces_pulled += end.slice.size();
      }
      for (const Endpoint& end : step.destinations) {
        if (end.place == Place::message) ++cost.messages;
        if (end.place == Place::message) cost.pieces_sent += end.slice.size();
        if (end.place == Place::remote || end.place == Place::multicast) cost.pieces_pushed += end.slice.size();
      }
    }
  }
  return cost;
}

// As the programs may be used: in place where they are for nothing else.
std::uint32_t roundings_of(const Programs& programs) {
  const Schedule& schedule = programs.schedule();
  Conditions one_round;
  one_round.operations = {1};
  ValueTable values(schedule.num_ranks, schedule.division(Space::input));
  SymbolicRun run(programs, one_round, !schedule.allows_out_of_place, values);
  static_cast<void>(World(programs, one_round, &run).run());
  return run.roundings();
}

}  // namespace

Cost cost_of(const Schedule& schedule) {
  constexpr std::uint64_t RankCost::*kCounts[] = {&RankCost::steps,         &RankCost::messages,
                                                  &RankCost::pieces_sent,   &RankCost::pieces_received,
                                                  &RankCost::pieces_pulled, &RankCost::pieces_pushed};
  const Programs programs(schedule, Fusion::neighbours);
  Cost cost;
  cost.num_pieces = schedule.division(Space::input).pieces;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const RankCost& own = cost.ranks.emplace_back(count(programs.program(rank)));
    for (const auto each : kCounts) {
      cost.total.*each += own.*each;
      cost.most.*each = std::max(cost.most.*each, own.*each);
    }
  }
  cost.longest_path = EarliestTimes(programs, {.step = 0, .hop = 1}).walk();
  cost.roundings = roundings_of(programs);
  return cost;
}

}  // namespace tutti
