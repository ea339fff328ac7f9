// SPDX-License-Identifier: Apache-2.0
#include "schedule/programs.hpp"

#include <algorithm>

namespace tutti {

namespace {

bool names(const std::vector<Endpoint>& ends, std::uint32_t rank, std::uint32_t channel) {
  return std::any_of(ends.begin(), ends.end(), [&](const Endpoint& end) {
    return end.place == Place::message && end.rank == rank && end.channel == channel;
  });
}

}  // namespace

bool posts_first(const Program& program) {
  return std::all_of(program.lanes.begin(), program.lanes.end(), [](const std::vector<Step>& lane) {
    const auto first_other = std::find_if_not(lane.begin(), lane.end(), is_post);
    return std::none_of(first_other, lane.end(), is_post) &&
           std::all_of(lane.begin(), first_other, [](const Step& post) { return post.after.empty(); });
  });
}

bool is_exchange(const Schedule& schedule, const Program& program) {
  if (program.lanes.size() != 2) return false;
  const std::vector<Step>& exposing = program.lanes[0];
  const std::vector<Step>& folding = program.lanes[1];
  const Slice input{Space::input, 0, 0, 1};
  const Slice output{Space::output, 0, 0, 1};
  if (schedule.division(Space::input).pieces != 1 || schedule.division(Space::output).pieces != 1 ||
      exposing.size() != 1 || exposing[0].kind != StepKind::expose || exposing[0].sources[0].slice != input)
    return false;
  if (folding.empty() || folding.size() > 2 || (folding.size() == 2 && folding[1].kind != StepKind::close))
    return false;
  const Step& fold = folding[0];
  return fold.kind == StepKind::combine && fold.completes && fold.destinations.size() == 1 &&
         fold.destinations[0].place == Place::local && fold.destinations[0].slice == output &&
         std::all_of(fold.sources.begin(), fold.sources.end(),
                     [&](const Endpoint& end) { return end.place != Place::message && end.slice == input; });
}

Programs::Programs(const Schedule& schedule, Fusion fusion) : schedule_(&schedule) {
  programs_.reserve(schedule.num_ranks);
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) programs_.push_back(collect(schedule, rank, fusion));
  ranks_.resize(schedule.num_ranks);
  lanes_.resize(std::size_t{schedule.num_ranks} * schedule.num_lanes);
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) learn(rank);
  number_connections();
}

void Programs::number_connections() {
  std::sort(connections_.begin(), connections_.end());
  connections_.erase(std::unique(connections_.begin(), connections_.end()), connections_.end());
  for (std::uint32_t rank = 0; rank <= num_ranks(); ++rank) {
    const auto first = std::lower_bound(connections_.begin(), connections_.end(), connection_key(rank, 0, 0));
    first_connection_.push_back(static_cast<std::uint32_t>(first - connections_.begin()));
  }
}

std::uint32_t Programs::connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) const {
  const auto begin = connections_.begin();
  const auto found = std::lower_bound(begin + first_connection_[from], begin + first_connection_[from + 1],
                                      connection_key(from, to, channel));
  return static_cast<std::uint32_t>(found - begin);
}

void Programs::learn(std::uint32_t rank) {
  RankFacts& facts = ranks_[rank];
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    lanes_[lane_id(rank, lane)].is_waited_for.resize(steps(rank, lane).size());
  }
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    LaneFacts& lane_facts = lanes_[lane_id(rank, lane)];
    for (std::uint32_t index = 0; index < steps(rank, lane).size(); ++index) {
      const Step& step = steps(rank, lane)[index];
      if (is_direct(step)) lane_facts.last_remote = index;
      for (const Endpoint& end : step.sources)
        if (end.place == Place::message) add_connection(end.rank, rank, end.channel);
      for (const Endpoint& end : step.destinations)
        if (end.place == Place::message) add_connection(rank, end.rank, end.channel);
      for (const After& after : step.after) {
        const std::uint32_t target = index_of(rank, after.lane, after.step);
        if (target != kNone) lanes_[lane_id(rank, after.lane)].is_waited_for[target] = true;
      }
      if (!is_post(step)) continue;
      facts.posting_lane = lane;
      facts.posts.push_back(&step);
      facts.slots.push_back(step.kind == StepKind::expose ? facts.num_exposes++ : kNone);
      facts.opens = facts.opens || step.kind == StepKind::open;
    }
  }
}

std::size_t Programs::num_steps() const {
  std::size_t count = 0;
  for (const Program& program : programs_) count += program.num_steps();
  return count;
}

bool Programs::shares_memory() const {
  return num_lanes() > 1 ||
         std::any_of(lanes_.begin(), lanes_.end(), [](const LaneFacts& lane) { return lane.last_remote != kNone; });
}

std::uint32_t Programs::sending_lane(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) const {
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane)
    for (const Step& step : steps(rank, lane))
      if (names(step.destinations, peer, channel)) return lane;
  return kNone;
}

std::uint32_t Programs::receiving_lane(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) const {
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane)
    for (const Step& step : steps(rank, lane))
      if (names(step.sources, peer, channel)) return lane;
  return kNone;
}

std::uint32_t Programs::index_of(std::uint32_t rank, std::uint32_t lane, std::uint32_t number) const {
  if (lane >= num_lanes()) return kNone;
  const std::vector<Step>& all = steps(rank, lane);
  const auto found =
      std::partition_point(all.begin(), all.end(), [&](const Step& step) { return step.number < number; });
  return found == all.end() ? kNone : static_cast<std::uint32_t>(found - all.begin());
}

}  // namespace tutti
