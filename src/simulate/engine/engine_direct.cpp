// SPDX-License-Identifier: Apache-2.0
// Direct channels: posts, loads from and stores to other ranks' memory, and multicast.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulate/engine/engine.hpp"

namespace tutti::simulate {

namespace {

// Of what a step reads from other ranks and stores there.
std::uint64_t accesses_of(const Step& step, std::uint32_t num_ranks) {
  std::uint64_t sum = 0;
  for (const std::vector<Endpoint>* ends : {&step.sources, &step.destinations})
    for (const Endpoint& end : *ends)
      sum += end.place == Place::multicast ? num_ranks : end.place == Place::remote ? 1 : 0;
  return sum;
}

}  // namespace

// --- posts
// ------------------------------------------------------------------------------------------------------------

bool Engine::has_posted(std::uint32_t rank, std::uint32_t number) {
  if (ends(1)) return false;
  // A step asks in the same order each time.
  if (posts_asked_++ < lane_->posts_seen) return true;
  const Moment& post = post_of(rank, lane_->round, number);
  if (post.time < 0) {
    ranks_[rank].waiting.push_back(id_of(*lane_));
    return false;
  }
  const double latency = rank == lane_->rank ? 0 : ways_.latency(rank, lane_->rank);
  if (later(*lane_, post.time + latency)) return false;
  ++lane_->posts_seen;
  Moment seen = post;
  seen.time += latency;
  seen.shares.add(Share::latency, latency);
  caused_by(seen);
  return true;
}

Moment& Engine::post_of(std::uint32_t rank, std::uint64_t round, std::uint32_t number) {
  std::vector<std::vector<Moment>>& posts = ranks_[rank].posts;
  if (posts.size() <= round) posts.resize(round + 1);
  if (posts[round].size() <= number) posts[round].resize(number + 1);
  return posts[round][number];
}

void Engine::post(LaneState& lane) {
  if (!direct_) learn_of_direct_steps();
  const Step& step = *lane.step;
  if (step.kind == StepKind::expose && options_.staged && carries_contents())
    contents_->copy(lane.rank, step.post, step.sources[0].slice);
  announce(lane.rank, {.is_post = true, .number = step.post, .round = lane.round, .moment = {now_, lane.shares}});
}

void Engine::end_direct_steps(LaneState& lane) {
  announce(lane.rank, {.number = id_of(lane), .round = lane.round, .moment = lane.last});
}

void Engine::announce(std::uint32_t number, Announcement announcement) {
  RankState& rank = ranks_[number];
  announcement.order = rank.announced++;
  announcement.stores = rank.stores;
  if (rank.stored > announcement.moment.time) {
    announcement.moment.shares.add(Share::bytes, rank.stored - announcement.moment.time);
    announcement.moment.time = rank.stored;
  }
  if (announcement.stores > 0) {
    rank.withheld.push_back(announcement);
  } else {
    make_known(number, announcement);
  }
}

void Engine::make_known(std::uint32_t number, Announcement& announcement) {
  if (announcement.is_post) {
    post_of(number, announcement.round, announcement.number) = announcement.moment;
    wake(ranks_[number].waiting, now_);
    return;
  }
  if (direct_->done.size() <= announcement.round) {
    direct_->done.resize(announcement.round + 1, std::vector<Moment>(lanes_.size()));
    direct_->num_done.resize(announcement.round + 1);
  }
  direct_->done[announcement.round][announcement.number] = announcement.moment;
  if (++direct_->num_done[announcement.round] == direct_->lanes) wake(direct_->waiting, now_);
}

bool Engine::all_done() {
  if (!direct_) learn_of_direct_steps();
  if (direct_->lanes == 0 || (options_.staged && !direct_->opens[lane_->rank])) return true;
  if (direct_->num_done.size() <= lane_->round || direct_->num_done[lane_->round] < direct_->lanes) {
    direct_->waiting.push_back(id_of(*lane_));
    return false;
  }
  Moment last;
  for (std::uint32_t id = 0; id < lanes_.size(); ++id) {
    if (ends(1)) return false;
    const Moment& done = direct_->done[lane_->round][id];
    if (done.time < 0) continue;
    const double latency = lanes_[id].rank == lane_->rank ? 0 : ways_.latency(lanes_[id].rank, lane_->rank);
    if (done.time + latency <= last.time) continue;
    last = done;
    last.time += latency;
    last.shares.add(Share::latency, latency);
  }
  if (later(*lane_, last.time)) return false;
  caused_by(last);
  return true;
}

bool Engine::is_by_direct_steps() const {
  for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
    Cursor cursor(schedule_, 0, lane, options_.fusion);
    while (const Step* step = cursor.next())
      if (is_direct(*step) || is_post(*step)) return true;
  }
  return false;
}

void Engine::learn_of_direct_steps() {
  direct_.emplace();
  direct_->remote_steps.resize(lanes_.size());
  direct_->opens.resize(schedule_.num_ranks);
  std::uint64_t at_once = 0;
  for (std::uint32_t id = 0; id < lanes_.size(); ++id) {
    LaneState& lane = lanes_[id];
    std::uint64_t most = 0;  // of a step
    Cursor cursor(schedule_, lane.rank, lane.lane, options_.fusion);
    while (const Step* step = cursor.next()) {
      if (ends(1 + step->sources.size() + step->destinations.size())) return;
      most = std::max(most, accesses_of(*step, schedule_.num_ranks));
      if (is_direct(*step)) ++direct_->remote_steps[id];
      if (step->kind == StepKind::open) direct_->opens[lane.rank] = true;
      direct_->multicasts = direct_->multicasts || is_multicast(*step);
    }
    if (direct_->remote_steps[id] > 0) ++direct_->lanes;
    // No direct step can have been passed before the first post.
    lane.remote_left = direct_->remote_steps[id];
    at_once += most;
    if (at_once <= kMostAccesses) continue;
    wrong_ = {Code::unsupported,
              fmt::format("its ranks make more than {} loads and stores at once, which is too many", kMostAccesses)};
    return;
  }
  if (direct_->multicasts && schedule_.num_ranks > 1 && !has_multicast_switch())
    wrong_ = {Code::unsupported, "it multicasts, which needs one switch that does so between all ranks"};
}

// Whether between each two neighbours there is a link up to a switch, the same for all, and one down.
bool Engine::has_multicast_switch() {
  std::uint32_t common = kNobody;
  for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
    const auto links = ways_.between(rank, (rank + 1) % schedule_.num_ranks);
    if (links.size() != 2) return false;
    const std::uint32_t middle = fabric_.links[links[0]].to;
    if (!fabric_.nodes[middle].multicast || (common != kNobody && middle != common)) return false;
    common = middle;
  }
  return true;
}

// --- loads
// ------------------------------------------------------------------------------------------------------------

void Engine::read(const Endpoint& end, LaneState& lane) {
  if (lane.length == 0) return;
  if (end.place == Place::remote && end.rank != lane.rank) {
    if (passes_.carries(lane.rank)) return;  // the core is at it
    const double rate = costs_of(lane.rank).read_rate;
    const double asked = ways_.latency(lane.rank, end.rank);
    // Where loads share their rate, those that the step began before take their part of it.
    const double bytes = loads_share_ ? (lane.reads + 1) * lane.length : lane.length;
    const double paced = rate > 0 ? now_ + round_trip(lane, end) + bytes / rate : 0;
    read({.cargo = Cargo::read, .not_before = paced, .links = ways_.between(end.rank, lane.rank)}, lane, asked);
  } else if (end.place == Place::multicast && schedule_.num_ranks > 1) {
    read_by_tree(lane);
  }
}

// As a fluid that goes up every rank's link and down the reader's at one rate.
void Engine::read_by_tree(LaneState& lane) {
  const std::uint32_t other = (lane.rank + 1) % schedule_.num_ranks;
  const double latency = ways_.latency(other, lane.rank);
  const double rate = costs_of(lane.rank).multicast_read_rate;
  const double asked = ways_.latency(lane.rank, other);
  const double paced = rate > 0 ? now_ + asked + latency + lane.length / rate : 0;
  const Tree& tree = tree_of(lane.rank);
  read(
      {.cargo = Cargo::read, .not_before = paced, .is_tree = true, .stretch = stretch_of(tree, lane), .links = tree.up},
      lane, asked);
}

// How many times as long a tree's byte keeps its links as a message's.
double Engine::stretch_of(const Tree& tree, const LaneState& lane) const {
  const double rate = costs_of(lane.rank).multicast_bandwidth;
  return rate > 0 ? std::max(1.0, fabric_.links[tree.up[0]].bandwidth / rate) : 1;
}

const Engine::Tree& Engine::tree_of(std::uint32_t rank) {
  const auto [found, is_new] = trees_.try_emplace(rank);
  Tree& tree = found->second;
  if (!is_new) return tree;
  const auto next = [&](std::uint32_t from) { return ways_.between(from, (from + 1) % schedule_.num_ranks); };
  const std::uint32_t before = (rank + schedule_.num_ranks - 1) % schedule_.num_ranks;
  tree.down = {next(rank)[0]};
  tree.up = {next(before)[1]};
  for (std::uint32_t each = 0; each < schedule_.num_ranks; ++each) {
    tree.up.push_back(next(each)[0]);
    if (each != before) tree.down.push_back(next(each)[1]);
  }
  return tree;
}

void Engine::read(Transfer transfer, LaneState& lane, double asked) {
  transfer.whose = id_of(lane);
  transfer.bytes = lane.length * transfer.stretch;
  transfer.shares = lane.read.shares;
  transfer.shares.add(Share::latency, asked);
  const TransferId id = transfers_.add();
  transfers_[id] = transfer;
  ++lane.reads;
  events_.push(now_ + asked, {.of = Turn::Of::start, .id = id});
}

void Engine::has_read(const Transfer& transfer, double time) {
  LaneState& lane = lanes_[transfer.whose];
  if (time > lane.read.time) lane.read = arrival_of(transfer, time);
  if (--lane.reads > 0) return;
  if (lane.is_streaming) feed_last(lane);
  wake(transfer.whose, std::max(now_, lane.read.time));
}

// --- stores
// -----------------------------------------------------------------------------------------------------------

// Nothing stands in the way of loads but that links are shared: all flow a round trip after they are asked for, and
// only their ends are not known.
void Engine::stream(LaneState& lane) {
  const std::vector<Endpoint>& destinations = lane.step->destinations;
  lane.is_streaming = lane.reads > 0 && std::any_of(destinations.begin(), destinations.end(), [](const Endpoint& end) {
                        return end.place == Place::remote || end.place == Place::multicast;
                      });
  if (!lane.is_streaming) return;
  double first = 0;  // bytes of all loads are there
  for (const Endpoint& end : lane.step->sources) {
    if (ends(1)) return;
    first = std::max(first, round_trip(lane, end));
  }
  begin_stores(lane, now_ + first);
}

double Engine::round_trip(const LaneState& lane, const Endpoint& end) {
  const bool is_far = end.place == Place::remote && end.rank != lane.rank;
  if (!is_far && end.place != Place::multicast) return 0;
  const std::uint32_t other = is_far ? end.rank : (lane.rank + 1) % schedule_.num_ranks;
  return ways_.latency(lane.rank, other) + ways_.latency(other, lane.rank);
}

void Engine::begin_stores(LaneState& lane, double time) {
  for (const Endpoint& end : lane.step->destinations) {
    if (ends(1)) return;
    if (end.place == Place::remote || end.place == Place::multicast) store(end, lane, time);
  }
}

// When the last bytes of all that the step reads come is known now.
void Engine::feed_last(LaneState& lane) {
  const double last = std::max(lane.read.time, lane.busy_until);
  for (const TransferId id : std::exchange(lane.fed, {})) {
    Transfer& write = transfers_[id];
    write.is_fed = false;
    write.not_before = last + write.latency;
    if (write.has_left) has_stored(write, last);
    if (write.is_settled) arrived(id, write.arrives);
  }
}

void Engine::store(const Endpoint& end, LaneState& lane, double time) {
  if (lane.length == 0) return;
  if (end.place != Place::multicast)
    return store({.cargo = Cargo::write,
                  .latency = ways_.latency(lane.rank, end.rank),
                  .links = ways_.between(lane.rank, end.rank)},
                 lane, time);
  if (schedule_.num_ranks == 1) return;
  const std::uint32_t other = (lane.rank + 1) % schedule_.num_ranks;
  const Tree& tree = tree_of(lane.rank);
  store({.cargo = Cargo::write,
         .latency = ways_.latency(lane.rank, other),
         .is_tree = true,
         .stretch = stretch_of(tree, lane),
         .links = tree.down},
        lane, time);
}

void Engine::store(Transfer transfer, LaneState& lane, double time) {
  RankState& rank = ranks_[lane.rank];
  transfer.whose = id_of(lane);
  transfer.bytes = lane.length * transfer.stretch;
  transfer.order = rank.announced;
  transfer.is_fed = lane.is_streaming;
  const TransferId id = transfers_.add();
  transfers_[id] = transfer;
  ++rank.stores;
  if (transfer.is_fed) lane.fed.push_back(id);
  if (transfer.is_fed || time > now_) {
    events_.push(time, {.of = Turn::Of::start, .id = id});
  } else {
    network_.start(id, now_);
  }
}

// Its last byte is on its way, a latency before it is there: so is whatever its rank says behind it.
void Engine::has_left(TransferId id, double time) {
  Transfer& write = transfers_[id];
  write.has_left = true;
  if (!write.is_fed) has_stored(write, std::max(time, write.not_before - write.latency));
}

void Engine::has_stored(const Transfer& transfer, double stored) {
  const std::uint32_t number = lanes_[transfer.whose].rank;
  RankState& rank = ranks_[number];
  rank.stored = std::max(rank.stored, stored);
  --rank.stores;
  std::size_t kept = 0;
  std::vector<Announcement> known;
  for (Announcement& withheld : rank.withheld) {
    if (withheld.order >= transfer.order) {
      --withheld.stores;
      if (stored > withheld.moment.time) {
        withheld.moment.shares.add(Share::bytes, stored - withheld.moment.time);
        withheld.moment.time = stored;
      }
    }
    if (withheld.stores == 0) {
      known.push_back(withheld);
    } else {
      rank.withheld[kept++] = withheld;
    }
  }
  rank.withheld.resize(kept);
  for (Announcement& announcement : known) make_known(number, announcement);
}

}  // namespace tutti::simulate
