// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/engine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/empty_messages.hpp"
#include "schedule/meaning.hpp"

namespace tutti::simulate {

Engine::Engine(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options, const Sizes& sizes,
               const Symmetry* symmetry, Watch& watch)
    : schedule_(schedule),
      fabric_(fabric),
      options_(options),
      sizes_(sizes),
      symmetry_(symmetry),
      watch_(watch),
      loads_share_(!is_compiled_for(fabric, schedule.name, schedule.num_ranks)),
      by_slots_(fabric.queue.long_messages == fabric::LongMessages::slots),
      ways_(fabric, watch),
      passes_(fabric, schedule.num_ranks, sizes, options.in_place),
      connections_(schedule.num_ranks),
      network_(
          fabric, transfers_, events_, [this](TransferId id, double time) { arrived(id, time); },
          [this](TransferId id, double time) { has_left(id, time); }),
      ranks_(schedule.num_ranks),
      cores_(fabric.cores.size() + (options.additions == nullptr ? 0 : options.additions->num_cores)) {
  if (symmetry == nullptr && options.check && Contents::needed(schedule) <= kMostFingerprints)
    contents_ = std::make_unique<Contents>(schedule);
  std::vector<bool> has_rank(cores_.size());
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const std::uint32_t core = fabric.ranks[rank].core;
    cores_[core].is_shared = has_rank[core];
    shares_cores_ = shares_cores_ || has_rank[core];
    has_rank[core] = true;
  }
  lanes_.resize(std::size_t{num_walked()} * schedule.num_lanes);
  for (std::uint32_t id = 0; id < lanes_.size(); ++id) {
    LaneState& lane = lanes_[id];
    const std::uint32_t number = id / schedule.num_lanes;
    lane.rank = symmetry == nullptr ? number : symmetry->representatives()[number];
    lane.lane = id % schedule.num_lanes;
    const std::uint32_t further = options.additions == nullptr ? 0 : options.additions->cores[id];
    lane.core =
        further == 0 ? fabric.ranks[lane.rank].core : static_cast<std::uint32_t>(fabric.cores.size()) + further - 1;
    lane.shares.add(Share::launch, costs_of(lane.rank).launch);
    lane.last = {costs_of(lane.rank).launch, lane.shares};
    wake(id, lane.last.time);
  }
}

Status Engine::run() {
  num_events_ = 0;
  if (symmetry_ == nullptr && is_by_direct_steps()) learn_of_direct_steps();
  TUTTI_TRY(wrong_);
  events_.run([&](const Events::Event& event) {
    ++num_events_;
    if (ends(1)) return false;
    now_ = event.time;
    const Turn turn = event.what;
    switch (turn.of) {
      case Turn::Of::lane: go_on(turn.id); break;
      case Turn::Of::start: network_.start(turn.id, now_); break;
      case Turn::Of::room: has_room(turn.id); break;
      case Turn::Of::part: take_parts(turn.id); break;
      case Turn::Of::core: give_core_on(turn.id); break;
      case Turn::Of::arrival:
      case Turn::Of::end:
      case Turn::Of::entry:
      case Turn::Of::rates: network_.turn(turn, now_); break;
    }
    return wrong_.ok();
  });
  TUTTI_TRY(wrong_);
  const bool all_over =
      std::all_of(lanes_.begin(), lanes_.end(), [](const LaneState& lane) { return lane.stage == Stage::over; });
  if (!all_over) return what_is_stuck();
  const std::optional<std::string> wrong = contents_ == nullptr ? std::nullopt : contents_->wrong(sizes_, watch_);
  if (ends(0)) return wrong_;
  return wrong ? Status(Code::invalid_argument, *wrong) : Status();
}

bool Engine::note_end() {
  if (wrong_.ok() && watch_.is_over(0)) wrong_ = {Code::aborted, "interrupted"};
  if (wrong_.ok() && ways_.num_kept() > kMostLinksKept)
    wrong_ = {Code::unsupported,
              fmt::format("the ways between its ranks have more than {} links, which is too many", kMostLinksKept)};
  return !wrong_.ok();
}

Answer Engine::answer() const {
  Answer answer;
  answer.rank_times.reserve(ranks_.size());
  for (const RankState& rank : ranks_) answer.rank_times.push_back(rank.ended);
  const auto last = std::max_element(answer.rank_times.begin(), answer.rank_times.end());
  if (last != answer.rank_times.end()) {
    answer.time = *last;
    answer.slowest = static_cast<std::uint32_t>(last - answer.rank_times.begin());
  }
  const LaneState* slowest = nullptr;
  for (const LaneState& lane : lanes_)
    if (lane.rank == answer.slowest && (slowest == nullptr || lane.last.time > slowest->last.time)) slowest = &lane;
  if (slowest != nullptr) {
    answer.shares = slowest->last.shares;
    answer.shares.add(Share::launch, costs_of(slowest->rank).finish);
  }
  answer.links = network_.uses();
  if (symmetry_ != nullptr) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      answer.rank_times[rank] = ranks_[symmetry_->representative(rank)].ended;
    const std::vector<LinkUse> uses = answer.links;
    for (std::uint32_t link = 0; link < answer.links.size(); ++link)
      answer.links[link] = uses[symmetry_->standing_for(link)];
  }
  answer.rounds = sizes_.num_rounds();
  answer.ranks_walked = num_walked();
  answer.messages = messages_ * (schedule_.num_ranks / num_walked());
  answer.events = num_events_;
  answer.checked = contents_ != nullptr;
  return answer;
}

void Engine::go_on(std::uint32_t id) {
  lane_ = &lanes_[id];
  for (bool goes_on = true; goes_on;) {
    switch (lane_->stage) {
      case Stage::waiting: goes_on = fetch(*lane_) && begin(*lane_); break;
      case Stage::reading:
      case Stage::working: goes_on = work(*lane_); break;
      case Stage::sending: goes_on = send(*lane_); break;
      case Stage::over: goes_on = false; break;
    }
  }
  if (shares_cores_) ask_for_core(*lane_);
}

// A step to stand at; none once all rounds are over.
bool Engine::fetch(LaneState& lane) {
  while (lane.step == nullptr) {
    if (!lane.cursor) lane.cursor.emplace(schedule_, lane.rank, lane.lane, options_.fusion);
    lane.step = lane.cursor->next();
    if (lane.step == nullptr) {
      if (!end_round(lane)) return false;
      continue;
    }
    lane.source = nullptr;
    const bool moves = lane.step->kind != StepKind::wait && !lane.step->sources.empty();
    lane.length = moves ? static_cast<double>(bytes_of(lane)) : 0;
    lane.is_nothing = lane.step->kind == StepKind::combine && lane.length == 0 && !sends_empty();
    lane.begun = now_;
    lane.num_met = 0;
    if (lane.is_nothing && !is_direct(*lane.step)) pass(lane);
  }
  return true;
}

// Ranks that are alike have no direct steps (symmetry.hpp).
bool Engine::sends_empty() {
  if (!sends_empty_)
    sends_empty_ = sends_empty_messages(schedule_, [&] {
      return symmetry_ == nullptr && std::any_of(lanes_.begin(), lanes_.end(), [&](const LaneState& lane) {
               Walk walk = schedule_.walk(lane.rank, lane.lane);
               while (const Step* step = walk.next())
                 if (is_direct(*step)) return true;
               return false;
             });
    });
  return *sends_empty_;
}

// Of each end of its step, which are as long as each other.
std::uint64_t Engine::bytes_of(const LaneState& lane) const {
  if (options_.additions != nullptr) return options_.additions->steps[number_in_trace(lane)].bytes;
  const Endpoint& end = lane.step->sources[0];
  return sizes_.bytes(end.place == Place::remote ? end.rank : lane.rank, end.slice, lane.round);
}

bool Engine::begin(LaneState& lane) {
  const Step& step = *lane.step;
  if (!lane.is_looking) {
    lane.is_looking = true;
    lane.lacked_room = false;
    lane.posts_seen = 0;
    lane.cause = lane.last;
    if (by_slots_) open_to_parts(lane, true);
  }
  if (!has_passed(lane) || (options_.additions != nullptr && !has_begun(lane))) return false;
  posts_asked_ = 0;
  if (ends(step.sources.size()) || !is_ready(step, *this) || (shares_cores_ && !has_core(lane))) return false;
  lane.is_looking = false;
  if (by_slots_) open_to_parts(lane, false);
  lane.shares = lane.cause.shares;
  lane.begun = now_;
  if (now_ > lane.cause.time)
    lane.shares.add(lane.lacked_room ? Share::peer_wait : Share::core_wait, now_ - lane.cause.time);

  const auto is_read = [](const Endpoint& end) { return end.place == Place::remote || end.place == Place::multicast; };
  const bool reads = std::any_of(step.sources.begin(), step.sources.end(), is_read);
  if (reads) lane.read = {now_, lane.shares};
  Work work = work_of(lane);
  if (options_.additions != nullptr) {
    work.reducing += options_.additions->steps[number_in_trace(lane)].compute;
    note_begin(lane, std::max(now_, cores_[lane.core].free));
  }
  lane.busy_until = occupy(lane, work);
  lane.is_streaming = false;
  lane.stage = Stage::working;
  if (!reads) return !later(lane, lane.busy_until);
  for (const Endpoint& end : step.sources) {
    if (!is_read(end)) continue;
    if (ends(1)) return false;
    read(end, lane);
  }
  stream(lane);
  if (lane.reads == 0) return !later(lane, lane.busy_until);
  lane.stage = Stage::reading;  // the last arrival has a turn for it
  return false;
}

// What was over stays so.
bool Engine::has_passed(LaneState& lane) {
  for (; lane.num_met < lane.step->after.size(); ++lane.num_met) {
    const After& after = lane.step->after[lane.num_met];
    LaneState& other = lanes_[id_of(lane) - lane.lane + after.lane];
    if (other.round < lane.round || (other.round == lane.round && other.passed <= after.step)) {
      other.followers.push_back(id_of(lane));
      return false;
    }
    if (other.last.time == now_) caused_by(other.last);
  }
  return true;
}

bool Engine::has_begun(LaneState& lane) {
  const auto found = options_.additions->begun.find(number_in_trace(lane));
  if (found != options_.additions->begun.end()) {
    for (const After& after : found->second) {
      LaneState& other = lanes_[id_of(lane) - lane.lane + after.lane];
      if (other.num_begun <= after.step) {
        other.followers.push_back(id_of(lane));
        return false;
      }
      if (other.num_begun == after.step + 1 && later(lane, other.begun_at)) return false;
    }
  }
  // A receive has begun when it is ready for its message.
  if (!lane.step->sources.empty() && lane.step->sources[0].place == Place::message) note_begin(lane, now_);
  return true;
}

void Engine::note_begin(LaneState& lane, double time) {
  if (lane.num_begun > lane.step->number) return;
  lane.num_begun = lane.step->number + 1;
  lane.begun_at = time;
  wake(lane.followers, now_);
}

// The core has done its part, or what is read has come.
bool Engine::work(LaneState& lane) {
  if (lane.stage == Stage::reading) {
    lane.stage = Stage::working;
    if (later(lane, lane.busy_until)) return false;
    if (lane.read.time > lane.busy_until) lane.shares = lane.read.shares;
  }
  const Step& step = *lane.step;
  if (is_post(step)) {
    post(lane);
  } else if (step.kind == StepKind::combine) {
    if (carries_contents()) make_contents(lane);
    for (const Endpoint& end : step.sources) take(end);
  }
  lane.stage = Stage::sending;
  lane.destination = 0;
  lane.is_busy = false;
  return true;
}

bool Engine::send(LaneState& lane) {
  const Step& step = *lane.step;
  for (; step.kind == StepKind::combine && lane.destination < step.destinations.size(); ++lane.destination) {
    const Endpoint& end = step.destinations[lane.destination];
    if (end.place == Place::local || lane.is_nothing) continue;
    if (ends(1)) return false;
    if (!lane.is_busy) {
      lane.is_busy = true;
      const fabric::Costs& costs = costs_of(lane.rank);
      const bool is_message = end.place == Place::message;
      const Work handing_over{
          .overhead = (is_message ? costs.send_overhead : costs.store_overhead) + costs.send_per_byte * lane.length,
          .copying = is_message ? time_of_message(lane.rank, lane.length) : 0,
      };
      if (later(lane, occupy(lane, handing_over))) return false;
    }
    lane.is_busy = false;
    if (end.place == Place::message) {
      launch(connections_.outgoing(lane.rank, end.rank, end.channel), lane);
    } else if (!lane.is_streaming) {
      store(end, lane, now_);
    }
  }
  pass(lane);
  lane.stage = Stage::waiting;
  return true;
}

void Engine::pass(LaneState& lane) {
  const Step& step = *lane.step;
  lane.passed = step.number + 1;
  lane.last = {now_, lane.shares};
  if (options_.recorder != nullptr) options_.recorder->step(lane.rank, lane.lane, lane.round, step, lane.begun, now_);
  if (direct_ && is_direct(step) && --lane.remote_left == 0) end_direct_steps(lane);
  lane.step = nullptr;
  wake(lane.followers, now_);
}

// Whether there is another round.
bool Engine::end_round(LaneState& lane) {
  lane.cursor.reset();
  lane.passed = 0;
  ++lane.round;
  if (direct_) lane.remote_left = direct_->remote_steps[id_of(lane)];
  wake(lane.followers, now_);
  if (lane.round < sizes_.num_rounds()) return true;
  lane.stage = Stage::over;
  ranks_[lane.rank].ended = std::max(ranks_[lane.rank].ended, now_ + costs_of(lane.rank).finish);
  return false;
}

bool Engine::has_core(LaneState& lane) {
  CoreState& core = cores_[lane.core];
  if (!core.is_shared) return true;
  if (core.holder == kNobody) core.holder = lane.rank;
  if (core.holder == lane.rank) return true;
  if (!lane.is_queued) core.queued.push_back(id_of(lane));
  lane.is_queued = true;
  return false;
}

void Engine::ask_for_core(const LaneState& lane) {
  const std::uint32_t number = lane.core;
  CoreState& core = cores_[number];
  if (core.holder != lane.rank || core.is_asked || lane.stage == Stage::working || lane.stage == Stage::sending) return;
  core.is_asked = true;
  // Behind all that happens now, of which something may let the rank go on.
  events_.push(now_, {.of = Turn::Of::core, .id = number});
}

void Engine::give_core_on(std::uint32_t number) {
  CoreState& core = cores_[number];
  core.is_asked = false;
  const auto is_at_work = [&](std::uint32_t rank) {
    const auto first = lanes_.begin() + std::ptrdiff_t{rank} * schedule_.num_lanes;
    return std::any_of(first, first + schedule_.num_lanes, [&](const LaneState& lane) {
      return lane.core == number && (lane.stage == Stage::working || lane.stage == Stage::sending ||
                                     (lane.stage == Stage::reading && lane.busy_until > now_));
    });
  };
  if (core.holder == kNobody || is_at_work(core.holder)) return;
  core.holder = kNobody;
  if (core.queued.empty()) return;
  core.holder = lanes_[core.queued.front()].rank;
  std::erase_if(core.queued, [&](std::uint32_t id) {
    if (lanes_[id].rank != core.holder) return false;
    lanes_[id].is_queued = false;
    wake(id, now_);
    return true;
  });
}

double Engine::occupy(LaneState& lane, const Work& work) {
  const double duration = work.overhead + work.copying + work.reducing;
  if (duration <= 0) return now_;
  const std::uint32_t number = lane.core;
  CoreState& core = cores_[number];
  const double begin = std::max(now_, core.free);
  const bool changes = core.last_rank != kNobody && core.last_rank != lane.rank;
  const double change = changes ? fabric_.cores[number].switch_cost : 0;
  core.last_rank = lane.rank;
  core.free = begin + change + duration;
  lane.shares.add(Share::core_wait, begin - now_ + change);
  lane.shares.add(Share::overhead, work.overhead);
  lane.shares.add(Share::copying, work.copying);
  lane.shares.add(Share::reducing, work.reducing);
  return core.free;
}

bool Engine::later(const LaneState& lane, double time) {
  if (time <= now_) return false;
  wake(id_of(lane), time);
  return true;
}

void Engine::wake(std::vector<std::uint32_t>& lanes, double time) {
  for (const std::uint32_t lane : lanes) wake(lane, time);
  lanes.clear();
}

void Engine::caused_by(const Moment& moment) {
  if (moment.time > lane_->cause.time) lane_->cause = moment;
}

Status Engine::what_is_stuck() {
  const auto stuck =
      std::find_if(lanes_.begin(), lanes_.end(), [](const LaneState& lane) { return lane.stage != Stage::over; });
  const std::string where = fmt::format("rank {}, lane {} waits for ever at {}", stuck->rank, stuck->lane,
                                        stuck->step == nullptr ? "its end" : to_string(*stuck->step));
  if (stuck->lacked_room || fabric_.queue.slots > 0)
    return {Code::unsupported,
            fmt::format("with queues of {} slots the schedule gets stuck: {} (tutti prove tells how many it needs)",
                        fabric_.queue.slots, where)};
  return {Code::invalid_argument, fmt::format("the schedule gets stuck: {} (tutti prove tells the story)", where)};
}

}  // namespace tutti::simulate
