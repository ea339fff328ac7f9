// SPDX-License-Identifier: Apache-2.0
// The general walker: lanes side by side, each in its own round, whatever is ready next.
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
  started_.walks = true;
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

End Executor::walk_general(const Call& call, bool may_wait) {
  const auto can_begin = [&] { return all_lines_are_free(); };
  if (!started_.walks) {
    if (!can_begin())
      if (const End end = may_wait ? end_of(waiter_.until(can_begin)) : End::pending; end != End::done) return end;
    begin_general(call);
  }
  const auto can_any_go = [&] {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if (can_go(call, lane)) return true;
    return false;
  };
  while (true) {
    bool moved = false;
    bool over = true;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      over = over && is_over(call, lane);
      if (!can_go(call, lane)) continue;
      moved = true;
      if (const End end = go(call, lane); end != End::done) return end;
    }
    if (over) break;
    if (moved) {
      ++progress_;
    } else if (const End end = may_wait ? end_of(waiter_.until(can_any_go)) : End::pending; end != End::done) {
      return end;
    }
  }
  end_call(call);
  finish_rounds(rounds_);
  return End::done;
}

}  // namespace tutti
