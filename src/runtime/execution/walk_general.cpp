// SPDX-License-Identifier: Apache-2.0
// The general walker: lanes side by side, each in its own round, whatever is ready next; of one lane, what is next.
#include <algorithm>
#include <optional>

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
  lanes_left_ = 0;
  for (const auto& steps : call.plan->program.lanes) lanes_left_ += steps.empty() || call.rounds == 0 ? 0 : 1;
  next_lane_ = 0;
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

bool Executor::can_go(const Call& call, Machine& machine, std::size_t lane) {
  const LaneState& state = lanes_[lane];
  const auto& steps = call.plan->program.lanes[lane];
  if (state.round == call.rounds || steps.empty()) return false;
  machine.set_step(steps[state.index], state.round);
  return is_after(steps[state.index], state.round, lanes_) && is_ready(steps[state.index], machine);
}

// Leaves in next_lane_ a lane whose next step can be done, of which there may be none.
bool Executor::find_lane(const Call& call, Machine& machine) {
  for (std::size_t looked = 0; looked < lanes_.size(); ++looked) {
    if (next_lane_ >= lanes_.size()) next_lane_ = 0;
    if (can_go(call, machine, next_lane_)) return true;
    ++next_lane_;
  }
  return false;
}

// The step that find_lane() has found.
End Executor::go(const Call& call, Machine& machine) {
  LaneState& state = lanes_[next_lane_];
  const auto& steps = call.plan->program.lanes[next_lane_];
  const Step& step = steps[state.index];
  if (step.kind == StepKind::wait) machine.check_posts(step);
  perform(step, machine);
  if (machine.mismatched()) return End::mismatched;
  ++progress_;
  ++next_lane_;
  state.passed = step.number;
  if (++state.index == steps.size()) {
    state = {state.round + 1, 0, -1};
    if (state.round == call.rounds) --lanes_left_;
  }
  if (published_ == call.rounds) return End::done;
  if (const std::uint64_t now = rounds_passed(call); now > published_) {
    published_ = now;
    finish_rounds(call.round_base + now);
  }
  return End::done;
}

void Executor::expect_messages(const Call& call, Machine& machine, const Step* step) {
  if (step != nullptr) return machine.expect(*step);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const LaneState& state = lanes_[lane];
    const auto& steps = call.plan->program.lanes[lane];
    if (state.round == call.rounds || steps.empty()) continue;
    machine.set_step(steps[state.index], state.round);
    // Until the steps that this one comes after are done, they may still read the destination.
    if (is_after(steps[state.index], state.round, lanes_)) machine.expect(steps[state.index]);
  }
}

// A single lane needs no asking which may go: a small message is sooner there.
End Executor::walk_lane(const Call& call, bool may_wait) {
  const auto wait = [&](const auto& ready) { return await(ready, may_wait); };
  const auto& steps = call.plan->program.lanes[0];
  const std::int64_t last_remote = call.plan->last_remote[0];
  ListState& state = started_.state;
  if (!started_.walks) {
    const auto can_begin = [&] { return all_lines_are_free(); };
    if (!can_begin())
      if (const End end = wait(can_begin); end != End::done) return end;
    started_.walks = true;
    if (last_remote < 0) finish_rounds(call.round_base + call.rounds);
  }
  Machine machine(*this, call);
  for (; state.round < call.rounds; ++state.round, state.next = 0) {
    for (; state.next < steps.size(); ++state.next) {
      const Step& step = steps[state.next];
      machine.set_step(step, state.round);
      const auto is_ready_now = [&] { return is_ready(step, machine); };
      if (!is_ready_now())
        if (const End end = await_step(is_ready_now, may_wait, call, machine, &step); end != End::done) return end;
      if (step.kind == StepKind::wait) machine.check_posts(step);
      perform(step, machine);
      if (machine.mismatched()) return End::mismatched;
      ++progress_;
      if (static_cast<std::int64_t>(state.next) == last_remote) finish_rounds(call.round_base + state.round + 1);
    }
  }
  if (const End end = await_sent(call, may_wait); end != End::done) return end;
  end_call(call);
  return End::done;
}

std::optional<std::uint32_t> Executor::awaited_elsewhere(const Step& step, Machine& machine) const {
  const auto is_missing = [&](const Endpoint& end, bool has_come) {
    return end.place == Place::message && !region_.is_here(end.rank) && !has_come;
  };
  for (const Endpoint& end : step.sources)
    if (is_missing(end, end.place != Place::message || machine.has_message(end))) return end.rank;
  for (const Endpoint& end : step.destinations)
    if (is_missing(end, end.place != Place::message || machine.has_credit(end))) return end.rank;
  return std::nullopt;
}

std::optional<std::uint32_t> Executor::awaited_elsewhere() {
  const Call* const call = started_.call;
  if (endpoint_ == nullptr || call == nullptr || started_.list != nullptr || !started_.walks) return std::nullopt;
  Machine machine(*this, *call);
  for (std::size_t lane = 0; lane < call->plan->num_lanes(); ++lane) {
    const auto& steps = call->plan->program.lanes[lane];
    const bool is_only = call->plan->num_lanes() == 1;
    const std::uint64_t round = is_only ? started_.state.round : lanes_[lane].round;
    const std::size_t next = is_only ? started_.state.next : lanes_[lane].index;
    if (round == call->rounds || next >= steps.size()) continue;
    // Another lane is what holds it up.
    if (!is_only && !is_after(steps[next], round, lanes_)) continue;
    machine.set_step(steps[next], round);
    if (const std::optional<std::uint32_t> rank = awaited_elsewhere(steps[next], machine)) return rank;
  }
  return std::nullopt;
}

End Executor::walk_general(const Call& call, bool may_wait) {
  // Says what the wait ended with, or that this call may not wait.
  const auto wait = [&](const auto& ready) { return await(ready, may_wait); };
  if (!started_.walks) {
    const auto can_begin = [&] { return all_lines_are_free(); };
    if (!can_begin())
      if (const End end = wait(can_begin); end != End::done) return end;
    begin_general(call);
  }
  Machine machine(*this, call);
  const auto can_go_on = [&] { return find_lane(call, machine); };
  while (lanes_left_ > 0) {
    if (!can_go_on())
      if (const End end = await_step(can_go_on, may_wait, call, machine, nullptr); end != End::done) return end;
    if (const End end = go(call, machine); end != End::done) return end;
  }
  if (const End end = await_sent(call, may_wait); end != End::done) return end;
  end_call(call);
  finish_rounds(rounds_);
  return End::done;
}

}  // namespace tutti
