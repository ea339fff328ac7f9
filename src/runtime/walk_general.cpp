// The general walker: lanes side by side, each in its own round, whatever is ready next. And the straight walker: a
// single lane, step after step, waiting where it must.
#include <algorithm>

#include "runtime/executor.hpp"
#include "runtime/machine.hpp"

namespace tutti {

namespace {

template <typename Lanes>
bool is_after(const Step& step, std::uint64_t round, const Lanes& lanes) {
  return std::all_of(step.after.begin(), step.after.end(), [&](const After& after) {
    const auto& other = lanes[after.lane];
    return other.round > round || (other.round == round && other.passed >= static_cast<std::int64_t>(after.step));
  });
}

}  // namespace

End Executor::walk_general(const Call& call) {
  const Plan& plan = *call.plan;
  Machine machine(*this, call);
  lanes_.assign(plan.num_lanes(), LaneState{});
  const auto is_over = [&](std::size_t lane) {
    return lanes_[lane].round == call.rounds || plan.program.lanes[lane].empty();
  };
  const auto can_go = [&](std::size_t lane) {
    const LaneState& state = lanes_[lane];
    const Step& step = plan.program.lanes[lane][state.index];
    machine.set_round(state.round);
    return is_after(step, state.round, lanes_) && is_ready(step, machine);
  };
  const auto finished = [&] {
    std::uint64_t least = call.rounds;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (plan.last_remote[lane] < 0) continue;
      const bool past = static_cast<std::int64_t>(lanes_[lane].index) > plan.last_remote[lane];
      least = std::min(least, lanes_[lane].round + (past ? 1 : 0));
    }
    return least;
  };

  // Who reads and writes nothing of others is done with that from the start.
  std::uint64_t published = finished();
  if (published > 0) finish_rounds(call.round_base + published);
  while (true) {
    bool moved = false;
    bool over = true;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (is_over(lane)) continue;
      over = false;
      if (!can_go(lane)) continue;
      moved = true;
      LaneState& state = lanes_[lane];
      const Step& step = plan.program.lanes[lane][state.index];
      perform(step, machine);
      if (machine.mismatched()) return End::mismatched;
      state.passed = step.number;
      if (++state.index == plan.program.lanes[lane].size()) state = {state.round + 1, 0, -1};
      if (const std::uint64_t now = finished(); now > published) {
        published = now;
        finish_rounds(call.round_base + now);
      }
    }
    if (over) return End::done;
    if (moved) continue;
    const shm::WaitEnd end = waiter_.until([&] {
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
        if (!is_over(lane) && can_go(lane)) return true;
      return false;
    });
    if (end != shm::WaitEnd::ready) return end_of(end);
  }
}

End Executor::walk_straight(const Call& call) {
  const Plan& plan = *call.plan;
  const std::vector<Step>& steps = plan.program.lanes[0];
  Machine machine(*this, call);
  // Others may wait in a close for what this rank has nothing of.
  if (plan.last_remote[0] < 0) finish_rounds(call.round_base + call.rounds);
  for (std::uint64_t round = 0; round < call.rounds; ++round) {
    machine.set_round(round);
    for (std::size_t index = 0; index < steps.size(); ++index) {
      const Step& step = steps[index];
      const shm::WaitEnd end = waiter_.until([&] { return is_ready(step, machine); });
      if (end != shm::WaitEnd::ready) return end_of(end);
      perform(step, machine);
      if (machine.mismatched()) return End::mismatched;
      if (static_cast<std::int64_t>(index) == plan.last_remote[0]) finish_rounds(call.round_base + round + 1);
    }
  }
  return End::done;
}

}  // namespace tutti
