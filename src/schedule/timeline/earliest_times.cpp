// SPDX-License-Identifier: Apache-2.0
#include "schedule/timeline/earliest_times.hpp"

#include <algorithm>

#include "schedule/meaning.hpp"

namespace tutti {

namespace {

std::uint64_t key(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }

}  // namespace

EarliestTimes::EarliestTimes(const Programs& programs, Pace pace)
    : programs_(programs),
      pace_(pace),
      times_(std::size_t{programs.num_ranks()} * programs.num_lanes()),
      done_(times_) {}

std::uint32_t EarliestTimes::walk() {
  Conditions one_round;
  one_round.operations = {1};
  static_cast<void>(World(programs_, one_round, this).run());
  return times_.empty() ? 0 : *std::max_element(times_.begin(), times_.end());
}

void EarliestTimes::ready(const World& world, const LaneState& lane, const Step& step) {
  world_ = &world;
  lane_ = &lane;
  step_ = &step;
  for (const After& after : step.after) {
    const std::uint32_t other = programs_.lane_id(lane.rank, after.lane);
    reach(passed_[key(other, programs_.index_of(lane.rank, after.lane, after.step))]);
  }
  static_cast<void>(is_ready(step, *this));
  const std::uint32_t begin = now();
  if (step.kind == StepKind::combine) now() += pace_.step;
  happens(begin, now());
}

void EarliestTimes::take(const World&, const LaneState& lane, const Endpoint& end) {
  queues_[connection_key(end.rank, lane.rank, end.channel)].pop_front();
}

void EarliestTimes::publish(const World&, const LaneState& lane, const Endpoint& end) {
  queues_[connection_key(lane.rank, end.rank, end.channel)].push_back(now());
}

void EarliestTimes::post(const World&, const LaneState& lane, const Step& step) {
  posts_[key(lane.rank, step.post)] = now();
}

void EarliestTimes::passed(const World&, const LaneState& lane, const Step&) {
  const Programs::LaneFacts& facts = programs_.lane_facts(lane.id);
  if (facts.is_waited_for[lane.index]) passed_[key(lane.id, lane.index)] = now();
  if (facts.last_remote == lane.index) done_[lane.id] = now();
}

bool EarliestTimes::has_message(const Endpoint& end) {
  const std::uint32_t sent = queues_[connection_key(end.rank, lane_->rank, end.channel)].front();
  awaits_message(end, sent);
  return reach(sent + pace_.hop);
}

bool EarliestTimes::has_posted(std::uint32_t rank, std::uint32_t post) {
  const std::uint32_t made = posts_[key(rank, post)];
  if (rank == lane_->rank) return reach(made);
  awaits_post(rank, post, made);
  return reach(made + pace_.hop);
}

bool EarliestTimes::all_done() {
  if (!world_->close_waits(lane_->rank)) return true;
  for (std::uint32_t lane = 0; lane < done_.size(); ++lane) {
    if (programs_.lane_facts(lane).last_remote == Programs::kNone) continue;
    reach(done_[lane] + (lane / programs_.num_lanes() == lane_->rank ? 0 : pace_.hop));
  }
  return true;
}

bool EarliestTimes::reach(std::uint32_t time) {
  now() = std::max(now(), time);
  return true;
}

}  // namespace tutti
