// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/meaning.hpp"

namespace tutti {

World::World(const Programs& programs, Conditions conditions, Observer* observer)
    : programs_(programs),
      conditions_(std::move(conditions)),
      observer_(observer),
      ranks_(programs.num_ranks()),
      connections_(programs.num_connections()) {
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank) {
    ranks_[rank].limit = conditions_.operations.empty() ? 0 : conditions_.operations[0];
    for (std::uint32_t lane = 0; lane < programs.num_lanes(); ++lane) {
      LaneState state{.rank = rank, .lane = lane, .id = programs.lane_id(rank, lane)};
      if (programs.lane_facts(state.id).last_remote == Programs::kNone) {
        state.done = kUnlimited;
      } else {
        ++num_direct_lanes_;
      }
      lanes_.push_back(state);
    }
  }
}

std::optional<Failure> World::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (LaneState& lane : lanes_) {
      while (advance(lane)) {
        moved = true;
        if (observer_ != nullptr && observer_->wants_to_stop()) return std::nullopt;
      }
    }
  }
  const bool all_ended = std::all_of(ranks_.begin(), ranks_.end(), [&](const RankState& rank) {
    return rank.operation == conditions_.operations.size();
  });
  if (all_ended) return std::nullopt;
  return deadlock();
}

bool World::advance(LaneState& lane) {
  if (lane.round >= ranks_[lane.rank].limit) return false;
  lane_ = &lane;
  const std::vector<Step>& steps = programs_.steps(lane.rank, lane.lane);
  if (lane.index == steps.size()) {
    end_round(lane);
    return true;
  }
  const Step& step = steps[lane.index];
  bool moved = false;
  if (!lane.performed) {
    if (!may_start(step)) return false;
    if (observer_ != nullptr) observer_->ready(*this, lane, step);
    perform(step, *this);
    lane.performed = true;
    moved = true;
  }
  if (conditions_.depth == 0 && !is_passed(step, *this)) return moved;
  pass(lane, step);
  return true;
}

bool World::may_start(const Step& step) {
  for (const After& after : step.after) {
    const LaneState& other = lanes_[programs_.lane_id(lane_->rank, after.lane)];
    const bool met = other.round > lane_->round || (other.round == lane_->round && other.passed > after.step);
    if (!because(met, Waiting::after, lane_->rank, after.lane)) return false;
  }
  return is_ready(step, *this);
}

void World::pass(LaneState& lane, const Step& step) {
  if (observer_ != nullptr) observer_->passed(*this, lane, step);
  lane.performed = false;
  lane.passed = step.number + 1;
  if (lane.index == programs_.lane_facts(lane.id).last_remote) {
    if (num_done_of_round_.size() <= lane.round) num_done_of_round_.resize(lane.round + 1);
    ++num_done_of_round_[lane.round];
    lane.done = lane.round + 1;
  }
  ++lane.index;
}

void World::end_round(LaneState& lane) {
  lane.index = 0;
  lane.passed = 0;
  ++lane.round;
  RankState& rank = ranks_[lane.rank];
  if (lane.round < rank.limit || ++rank.at_end < programs_.num_lanes()) return;
  rank.at_end = 0;
  if (observer_ != nullptr) observer_->ended(*this, lane.rank, rank.first_round, rank.limit);
  rank.first_round = rank.limit;
  if (++rank.operation < conditions_.operations.size()) rank.limit += conditions_.operations[rank.operation];
}

// --- conditions
// -------------------------------------------------------------------------------------------------------

bool World::because(bool met, Waiting waiting, std::uint32_t rank, std::uint32_t what) {
  if (!met) cause_ = {waiting, rank, what};
  return met;
}

bool World::has_message(const Endpoint& end) {
  const Connection& from = connection(end.rank, lane_->rank, end.channel);
  return because(from.published > from.taken, Waiting::message, end.rank, end.channel);
}

bool World::has_credit(const Endpoint& end) {
  const Connection& to = connection(lane_->rank, end.rank, end.channel);
  // At depth 0 the sender itself waits for the receiver (is_taken), so that its connection is empty here.
  return because(to.published - to.taken < std::max(conditions_.depth, 1U), Waiting::credit, end.rank, end.channel);
}

bool World::is_taken(const Endpoint& end) {
  const Connection& to = connection(lane_->rank, end.rank, end.channel);
  return because(to.published == to.taken, Waiting::taken, end.rank, end.channel);
}

bool World::has_posted(std::uint32_t rank, std::uint32_t post) {
  const auto posts = static_cast<std::uint32_t>(programs_.rank_facts(rank).posts.size());
  return because(ranks_[rank].posted > lane_->round * posts + post, Waiting::post, rank, post);
}

std::optional<std::uint32_t> World::not_done(std::uint32_t round) const {
  if (round < num_done_of_round_.size() && num_done_of_round_[round] == num_direct_lanes_) return std::nullopt;
  for (const LaneState& lane : lanes_)
    if (lane.done <= round) return lane.id;
  return std::nullopt;
}

std::optional<std::uint32_t> World::round_before_slot(std::uint32_t rank) const {
  const std::uint32_t slots = conditions_.staging_slots;
  if (!conditions_.staged || slots == kUnlimited || ranks_[rank].exposed < slots) return std::nullopt;
  return (ranks_[rank].exposed - slots) / programs_.rank_facts(rank).num_exposes;
}

bool World::has_slot(const Step&) {
  if (conditions_.staged && conditions_.staging_slots == 0) return because(false, Waiting::slot, lane_->id, 0);
  const std::optional<std::uint32_t> round = round_before_slot(lane_->rank);
  if (!round) return true;
  const std::optional<std::uint32_t> late = not_done(*round);
  return because(!late, Waiting::slot, late.value_or(0), *round);
}

bool World::close_waits(std::uint32_t rank) const { return !conditions_.staged || programs_.rank_facts(rank).opens; }

bool World::all_done() {
  if (!close_waits(lane_->rank)) return true;
  const std::optional<std::uint32_t> late = not_done(lane_->round);
  return because(!late, Waiting::close, late.value_or(0), lane_->round);
}

// --- effects
// ----------------------------------------------------------------------------------------------------------

void World::combine(const Step& step) {
  if (observer_ != nullptr) observer_->combine(*this, *lane_, step);
}

void World::take(const Endpoint& end) {
  if (observer_ != nullptr) observer_->take(*this, *lane_, end);
  ++connection(end.rank, lane_->rank, end.channel).taken;
}

void World::publish(const Endpoint& end) {
  if (observer_ != nullptr) observer_->publish(*this, *lane_, end);
  ++connection(lane_->rank, end.rank, end.channel).published;
}

void World::post(const Step& step) {
  if (observer_ != nullptr) observer_->post(*this, *lane_, step);
  RankState& rank = ranks_[lane_->rank];
  ++rank.posted;
  if (step.kind == StepKind::expose) ++rank.exposed;
}

// --- deadlock
// ---------------------------------------------------------------------------------------------------------

World::Cause World::cause_of(LaneState& lane) {
  cause_ = {};
  if (lane.round >= ranks_[lane.rank].limit) {
    cause_ = {Waiting::operation, lane.rank, 0};
  } else {
    advance(lane);  // nothing moves: it only says why
  }
  return cause_;
}

std::uint32_t World::lane_behind(const LaneState& lane, const Cause& cause) const {
  std::uint32_t number = Programs::kNone;
  switch (cause.waiting) {
    case Waiting::message: number = programs_.sending_lane(cause.rank, lane.rank, cause.what); break;
    case Waiting::credit:
    case Waiting::taken: number = programs_.receiving_lane(cause.rank, lane.rank, cause.what); break;
    case Waiting::post: number = programs_.rank_facts(cause.rank).posting_lane; break;
    case Waiting::after: number = cause.what; break;
    case Waiting::slot:
    case Waiting::close: return cause.rank;  // these name the lane itself
    case Waiting::operation:
      for (number = 0; lanes_[programs_.lane_id(lane.rank, number)].round >= ranks_[lane.rank].limit; ++number)
        if (number + 1 == programs_.num_lanes()) return Programs::kNone;
      break;
    case Waiting::nothing: break;
  }
  return number == Programs::kNone ? Programs::kNone : programs_.lane_id(cause.rank, number);
}

std::string World::describe(const LaneState& lane, const Cause& cause) const {
  const std::vector<Step>& steps = programs_.steps(lane.rank, lane.lane);
  std::string text = fmt::format("rank {}, lane {}", lane.rank, lane.lane);
  if (cause.waiting == Waiting::operation)
    return text + " is at the operation's end and waits for the rank's other lanes";
  const Step& step = steps[lane.index];
  text += fmt::format(" stands at step {} of round {} ({}) and waits for ", step.number, lane.round,
                      tutti::to_string(step));
  const std::uint32_t rank = cause.rank;
  switch (cause.waiting) {
    case Waiting::message: return text + fmt::format("a message from rank {}{}", rank, on_channel(cause.what));
    case Waiting::credit:
      return text + fmt::format("room in its connection to rank {}{}", rank, on_channel(cause.what));
    case Waiting::taken: return text + fmt::format("rank {} to take its message{}", rank, on_channel(cause.what));
    case Waiting::post: return text + fmt::format("post {} of rank {}", cause.what, rank);
    case Waiting::slot:
      return text + fmt::format("a staging slot, of which there are {}, until rank {} has done round {}",
                                conditions_.staging_slots, lanes_[rank].rank, cause.what);
    case Waiting::close: return text + fmt::format("rank {} to be done with round {}", lanes_[rank].rank, cause.what);
    case Waiting::after: return text + fmt::format("lane {} of its own rank", cause.what);
    case Waiting::operation:
    case Waiting::nothing: break;
  }
  return text + "nothing";
}

Failure World::deadlock() {
  // From any lane that is stuck, whoever it waits for is stuck as well: walking on from one to the next must meet one
  // again, and from there it is the cycle.
  std::uint32_t id = 0;
  while (lanes_[id].round >= ranks_[lanes_[id].rank].limit) ++id;
  std::vector<bool> met(lanes_.size());
  std::vector<std::uint32_t> path;
  while (id != Programs::kNone && !met[id]) {
    met[id] = true;
    path.push_back(id);
    id = lane_behind(lanes_[id], cause_of(lanes_[id]));
  }
  const auto cycle = std::find(path.begin(), path.end(), id);
  const LaneState& lane = lanes_[cycle == path.end() ? path.front() : *cycle];
  Failure failure{Fault::deadlock, lane.rank, lane.lane, 0, "", "", {}};
  const std::vector<Step>& steps = programs_.steps(lane.rank, lane.lane);
  if (lane.index < steps.size()) failure.step = steps[lane.index].number;
  for (auto each = cycle == path.end() ? path.begin() : cycle; each != path.end(); ++each)
    failure.story.push_back(describe(lanes_[*each], cause_of(lanes_[*each])));
  if (cycle == path.end()) {
    failure.what = "waits for what never comes";
  } else if (failure.story.size() == 1) {
    failure.what = "waits for itself";
  } else {
    failure.what = fmt::format("{} lanes wait for each other in a ring", failure.story.size());
  }
  return failure;
}

}  // namespace tutti
