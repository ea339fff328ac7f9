// SPDX-License-Identifier: Apache-2.0
// The general walker: lanes side by side, each in its own round, whatever is ready next. And the straight walker: a
// single lane, step after step, waiting where it must.
#include <algorithm>

#include "runtime/execution/executor.hpp"
#include "runtime/execution/machine.hpp"

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

void Executor::begin_general(const Call& call) {
  lanes_.assign(call.plan->num_lanes(), LaneState{});
  // Who reads and writes nothing of others is done with that from the start.
  published_ = rounds_passed(call);
  if (published_ > 0) finish_rounds(call.round_base + published_);
}

// The rounds of which this rank has its direct reads and writes behind it.
std::uint64_t Executor::rounds_passed(const Call& call) const {
  std::uint64_t least = call.rounds;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (call.plan->last_remote[lane] < 0) continue;
    const bool past = static_cast<std::int64_t>(lanes_[lane].index) > call.plan->last_remote[lane];
    least = std::min(least, lanes_[lane].round + (past ? 1 : 0));
  }
  return least;
}

bool Executor::is_over(const Call& call, std::size_t lane) const {
  return lanes_[lane].round == call.rounds || call.plan->program.lanes[lane].empty();
}

bool Executor::can_go(const Call& call, std::size_t lane) {
  if (is_over(call, lane)) return false;
  const LaneState& state = lanes_[lane];
  const Step& step = call.plan->program.lanes[lane][state.index];
  Machine machine(*this, call);
  machine.set_round(state.round);
  return is_after(step, state.round, lanes_) && is_ready(step, machine);
}

End Executor::go(const Call& call, std::size_t lane) {
  LaneState& state = lanes_[lane];
  const Step& step = call.plan->program.lanes[lane][state.index];
  Machine machine(*this, call);
  machine.set_round(state.round);
  if (step.kind == StepKind::wait) machine.check_posts(step);
  perform(step, machine);
  if (machine.mismatched()) return End::mismatched;
  state.passed = step.number;
  if (++state.index == call.plan->program.lanes[lane].size()) state = {state.round + 1, 0, -1};
  if (const std::uint64_t now = rounds_passed(call); now > published_) {
    published_ = now;
    finish_rounds(call.round_base + now);
  }
  return End::done;
}

End Executor::advance_general(const Call& call) {
  while (true) {
    bool moved = false;
    bool over = true;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      over = over && is_over(call, lane);
      if (!can_go(call, lane)) continue;
      moved = true;
      if (const End end = go(call, lane); end != End::done) return end;
    }
    if (over) return End::done;
    if (!moved) return End::pending;
    ++progress_;
  }
}

End Executor::walk_general(const Call& call) {
  begin_general(call);
  while (true) {
    if (const End end = advance_general(call); end != End::pending) return end;
    const shm::WaitEnd end = waiter_.until([&] {
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
        if (can_go(call, lane)) return true;
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
      if (step.kind == StepKind::wait) machine.check_posts(step);
      perform(step, machine);
      if (machine.mismatched()) return End::mismatched;
      if (static_cast<std::int64_t>(index) == plan.last_remote[0]) finish_rounds(call.round_base + round + 1);
    }
  }
  return End::done;
}

}  // namespace tutti
