// Direct channels: posts, loads from and stores to other ranks' memory, and multicast.
#include <algorithm>

#include "simulate/engine.hpp"

namespace tutti::simulate {

// --- posts
// ------------------------------------------------------------------------------------------------------------

bool Engine::has_posted(std::uint32_t rank, std::uint32_t number) {
  const Post& post = post_of(rank, lane_->round, number);
  if (post.time < 0) {
    ranks_[rank].waiting.push_back(id_of(*lane_));
    return false;
  }
  const double latency = rank == lane_->rank ? 0 : ways_.latency(rank, lane_->rank);
  if (later(*lane_, post.time + latency)) return false;
  if (post.time + latency > cause_time_) {
    Shares shares = post.shares;
    shares.add(Share::wire, latency);
    caused_by(post.time + latency, shares);
  }
  return true;
}

Engine::Post& Engine::post_of(std::uint32_t rank, std::uint64_t round, std::uint32_t number) {
  std::vector<std::deque<Post>>& posts = ranks_[rank].posts;
  if (posts.size() <= round) posts.resize(round + 1);
  // Others point at posts: a deque leaves them where they are.
  while (posts[round].size() <= number) posts[round].emplace_back();
  return posts[round][number];
}

void Engine::announce(LaneState& lane) {
  if (!direct_) learn_of_direct_steps();
  const Step& step = *lane.step;
  if (step.kind == StepKind::expose && options_.staged && carries_contents())
    contents_->copy(lane.rank, step.post, step.sources[0].slice);
  RankState& rank = ranks_[lane.rank];
  Post& post = post_of(lane.rank, lane.round, step.post);
  post.shares = lane.shares;
  rank.unknown.push_back(&post);
  if (rank.stores == 0) make_known(rank);
}

// Everything that was stored before the posts has arrived: a post is not seen before it.
void Engine::make_known(RankState& rank) {
  for (Post* post : rank.unknown) {
    post->time = std::max(now_, rank.stored);
    if (const double rest = post->time - post->shares.total(); rest > 0) post->shares.add(Share::wire, rest);
  }
  rank.unknown.clear();
  wake(rank.waiting, now_);
}

bool Engine::all_done() {
  if (options_.staged && !direct_->opens[lane_->rank]) return true;
  if (direct_->num_done.size() <= lane_->round || direct_->num_done[lane_->round] < direct_->lanes) {
    direct_->waiting.push_back(id_of(*lane_));
    return false;
  }
  double last = now_;
  for (std::uint32_t id = 0; id < lanes_.size(); ++id) {
    const double done = direct_->done[lane_->round][id];
    if (done < 0) continue;
    const std::uint32_t rank = lanes_[id].rank;
    const double seen = done + (rank == lane_->rank ? 0 : ways_.latency(rank, lane_->rank));
    if (seen > cause_time_ && lanes_[id].since == done) {
      Shares shares = lanes_[id].shares;
      shares.add(Share::wire, seen - done);
      caused_by(seen, shares);
    }
    last = std::max(last, seen);
  }
  return !later(*lane_, last);
}

void Engine::learn_of_direct_steps() {
  direct_.emplace();
  direct_->remote_steps.resize(lanes_.size());
  direct_->opens.resize(schedule_.num_ranks);
  for (std::uint32_t id = 0; id < lanes_.size(); ++id) {
    LaneState& lane = lanes_[id];
    Cursor cursor(schedule_, lane.rank, lane.lane, options_.fusion);
    while (const Step* step = cursor.next()) {
      if (is_direct(*step)) ++direct_->remote_steps[id];
      if (step->kind == StepKind::open) direct_->opens[lane.rank] = true;
    }
    if (direct_->remote_steps[id] > 0) ++direct_->lanes;
    // No direct step can have been passed before the first post.
    lane.remote_left = direct_->remote_steps[id];
  }
}

// --- loads
// ------------------------------------------------------------------------------------------------------------

void Engine::read(const Endpoint& end, LaneState& lane) {
  if (lane.length == 0) return;
  if (end.place == Place::remote && end.rank != lane.rank) {
    read(ways_.between(end.rank, lane.rank), lane, ways_.latency(lane.rank, end.rank));
  } else if (end.place == Place::multicast) {
    // Every rank's bytes go up to the switch, and the folded ones come down. A rank alone asks nobody.
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      const std::uint32_t other = rank == lane.rank ? (rank + 1) % schedule_.num_ranks : lane.rank;
      const auto up = ways_.between(rank, other);
      if (!up.empty()) read(up.first(1), lane, ways_.latency(other, rank));
      if (rank == lane.rank && !up.empty()) read(ways_.between(other, rank).last(1), lane, ways_.latency(rank, other));
    }
  }
}

void Engine::read(std::span<const std::uint32_t> links, LaneState& lane, double asked) {
  const TransferId id = transfers_.add();
  transfers_[id] = {.cargo = Cargo::read, .whose = id_of(lane), .bytes = lane.length, .links = links};
  ++lane.reads;
  events_.push(now_ + asked, {Turn::Of::start, id});
}

void Engine::has_read(const Transfer& transfer, double time) {
  LaneState& lane = lanes_[transfer.whose];
  lane.latest = std::max(lane.latest, time);
  if (--lane.reads > 0) return;
  wake(transfer.whose, std::max(now_, lane.latest));
}

// --- stores
// -----------------------------------------------------------------------------------------------------------

void Engine::store(const Endpoint& end, LaneState& lane) {
  if (lane.length == 0) return;
  const bool to_all = end.place == Place::multicast;
  if (to_all && schedule_.num_ranks == 1) return;
  const std::uint32_t to = to_all ? (lane.rank + 1) % schedule_.num_ranks : end.rank;
  std::span<const std::uint32_t> links = ways_.between(lane.rank, to);
  if (to_all && !links.empty()) links = links.first(1);
  const TransferId id = transfers_.add();
  transfers_[id] = {
      .cargo = to_all ? Cargo::lead : Cargo::write, .whose = id_of(lane), .bytes = lane.length, .links = links};
  ++ranks_[lane.rank].stores;
  network_->start(id, now_);
}

// The switch copies what it gets as it comes.
void Engine::multicast(Transfer lead, double time) {
  const std::uint32_t from = lanes_[lead.whose].rank;
  const double bandwidth = lead.links.empty() ? 0 : fabric_.links[lead.links[0]].bandwidth;
  const double head = std::max(now_, time - (bandwidth > 0 ? lead.bytes / bandwidth : 0));
  for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
    const auto links = ways_.between(from, rank);
    if (links.empty()) continue;
    const TransferId id = transfers_.add();
    transfers_[id] = {.cargo = Cargo::write, .whose = lead.whose, .bytes = lead.bytes, .links = links.subspan(1)};
    ++ranks_[from].stores;
    events_.push(head, {Turn::Of::start, id});
  }
}

void Engine::has_stored(const Transfer& transfer, double time) {
  RankState& rank = ranks_[lanes_[transfer.whose].rank];
  double latency = 0;
  for (const std::uint32_t link : transfer.links) latency += fabric_.links[link].latency;
  rank.stored = std::max(rank.stored, time - latency);
  if (--rank.stores == 0 && !rank.unknown.empty()) make_known(rank);
}

}  // namespace tutti::simulate
