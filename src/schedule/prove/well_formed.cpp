// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/well_formed.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

// Walks one lane after the other and remembers the first thing that is wrong.
class Checker {
 public:
  explicit Checker(const Programs& programs) : programs_(programs), schedule_(programs.schedule()) {}

  std::optional<Failure> check() {
    if (!check_schedule()) return failure_;
    for (rank_ = 0; rank_ < schedule_.num_ranks; ++rank_) {
      posts_in_ = Programs::kNone;
      for (lane_ = 0; lane_ < schedule_.num_lanes; ++lane_) {
        next_number_ = 0;
        for (const Step& step : programs_.steps(rank_, lane_)) {
          step_ = &step;
          if (!check_step(step)) return failure_;
        }
      }
    }
    check_connections();
    return failure_;
  }

 private:
  struct Connection {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t channel = 0;
    std::uint32_t sending_lane = Programs::kNone;
    std::uint32_t receiving_lane = Programs::kNone;
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };

  bool fail(Fault fault, std::string what, std::string piece = "") {
    failure_ = {fault, rank_, lane_, step_ == nullptr ? 0 : step_->number, std::move(piece), std::move(what), {}};
    if (step_ != nullptr) failure_->story.push_back(fmt::format("the step is: {}", to_string(*step_)));
    return false;
  }

  bool check_schedule() {
    if (schedule_.root >= schedule_.num_ranks) {
      return fail(Fault::out_of_bounds,
                  fmt::format("the root is rank {}, but there are {} ranks", schedule_.root, schedule_.num_ranks));
    }
    if (facts_of(schedule_.collective).varies && schedule_.division(Space::scratch).blocks != 0)
      return fail(Fault::malformed, "has scratch, which has no size where blocks differ in size");
    // A piece keeps its number wherever it goes, so every space that is used is cut alike.
    std::uint32_t pieces = 0;
    for (const Division& division : schedule_.spaces) {
      if (division.blocks == 0) continue;
      if (division.pieces == 0) return fail(Fault::out_of_bounds, "a block is cut into no pieces");
      if (pieces != 0 && pieces != division.pieces) {
        return fail(Fault::malformed, fmt::format("blocks are cut into {} pieces in one space and {} in another",
                                                  pieces, division.pieces));
      }
      pieces = division.pieces;
    }
    return true;
  }

  bool check_step(const Step& step) {
    if (step.number != next_number_++) {
      return fail(Fault::malformed, fmt::format("step number {} stands where {} is due: steps of a lane count from 0",
                                                step.number, next_number_ - 1));
    }
    for (const After& after : step.after)
      if (!check_after(after)) return false;
    switch (step.kind) {
      case StepKind::combine: return check_combine(step);
      case StepKind::expose:
      case StepKind::open:
      case StepKind::signal: return check_post(step);
      case StepKind::wait: return check_wait(step);
      case StepKind::close: return true;
    }
    return fail(Fault::malformed, "a step of no known kind");
  }

  bool check_after(const After& after) {
    if (after.lane >= schedule_.num_lanes) {
      return fail(Fault::out_of_bounds,
                  fmt::format("waits for lane {}, but there are {} lanes", after.lane, schedule_.num_lanes));
    }
    if (programs_.index_of(rank_, after.lane, after.step) == Programs::kNone) {
      return fail(Fault::out_of_bounds, fmt::format("waits for step {} of lane {}, which has {} steps", after.step,
                                                    after.lane, programs_.steps(rank_, after.lane).size()));
    }
    return true;
  }

  // `owner` is the rank whose memory it is; kNone where only the pieces matter, as of a message.
  bool check_slice(const Slice& slice, std::uint32_t owner) {
    const Division& division = schedule_.division(slice.space);
    if (slice.num_pieces == 0) return fail(Fault::malformed, "a slice of no pieces", to_string(slice));
    if (slice.block >= division.blocks) {
      return fail(Fault::out_of_bounds, fmt::format("block {} of {}", slice.block, division.blocks), to_string(slice));
    }
    if (slice.first_piece >= division.pieces || slice.num_pieces > division.pieces - slice.first_piece) {
      return fail(Fault::out_of_bounds, fmt::format("the block has {} pieces", division.pieces), to_string(slice));
    }
    if (slice.num_blocks == 0) return fail(Fault::malformed, "a slice of no blocks", to_string(slice));
    if (slice.run == 0 || slice.stride < slice.run)
      return fail(Fault::malformed, "runs of blocks are at least 1 long and at least that far apart", to_string(slice));
    if (slice.reach() >= division.blocks) {
      return fail(Fault::out_of_bounds, fmt::format("goes around to its first block: there are {}", division.blocks),
                  to_string(slice));
    }
    for (std::uint32_t index = 0; owner != Programs::kNone && index < slice.num_blocks; ++index) {
      if (has_block(schedule_, owner, slice.space, block_at(slice, index, division.blocks))) continue;
      return fail(Fault::out_of_bounds,
                  fmt::format("rank {} has no such block in this {}", owner, name_of(schedule_.collective)),
                  to_string(slice));
    }
    return true;
  }

  bool check_peer(std::uint32_t peer) {
    if (peer >= schedule_.num_ranks)
      return fail(Fault::out_of_bounds, fmt::format("names rank {} of {}", peer, schedule_.num_ranks));
    if (peer == rank_) return fail(Fault::malformed, "names its own rank as another");
    return true;
  }

  bool check_combine(const Step& step) {
    if (step.sources.empty()) return fail(Fault::malformed, "combines no sources");
    if (step.destinations.empty()) return fail(Fault::malformed, "combines into no destination");
    const Slice& model = step.sources[0].slice;
    for (const auto* ends : {&step.sources, &step.destinations}) {
      const bool writes = ends == &step.destinations;
      for (const Endpoint& end : *ends) {
        const std::uint32_t owner = end.place == Place::local    ? rank_
                                    : end.place == Place::remote ? end.rank
                                                                 : Programs::kNone;
        if (!check_slice(end.slice, owner) || !check_endpoint(end, writes)) return false;
        if (!is_same_shape(end.slice, model)) {
          return fail(Fault::malformed,
                      "a step works on the same pieces, and as many blocks, of everything that it names",
                      to_string(end.slice));
        }
        if (end.slice.num_blocks > 1 && (end.place == Place::remote || end.place == Place::multicast))
          return fail(Fault::malformed, "reaches several blocks directly in one step", to_string(end.slice));
        if (writes && end.place != Place::message && end.slice.space == Space::input)
          return fail(Fault::malformed, "writes to an input, which belongs to the caller", to_string(end.slice));
        if (end.place == Place::message && std::count_if(ends->begin(), ends->end(), [&](const Endpoint& other) {
                                             return is_same_connection(end, other);
                                           }) > 1) {
          return fail(Fault::malformed,
                      fmt::format("{} two messages on one connection at once", writes ? "sends" : "receives"));
        }
        if (writes && std::count(ends->begin(), ends->end(), end) > 1)
          return fail(Fault::malformed, "names a destination twice", to_string(end.slice));
      }
    }
    const bool switched = std::any_of(step.sources.begin(), step.sources.end(),
                                      [](const Endpoint& end) { return end.place == Place::multicast; });
    if (switched && step.sources.size() != 1)
      return fail(Fault::malformed, "folds what the switch has folded together with something else");
    if (step.gives_up_source && (step.sources.size() != 1 || step.sources[0].place != Place::local))
      return fail(Fault::malformed, "gives up a source that is not one slice of its own");
    if (step.gives_up_source && step.sources[0].slice.space == Space::input)
      return fail(Fault::malformed, "gives up an input, which belongs to the caller", to_string(model));
    return true;
  }

  bool check_endpoint(const Endpoint& end, bool writes) {
    switch (end.place) {
      case Place::local: return true;
      case Place::message: return check_peer(end.rank) && count_message(end, writes);
      case Place::remote: return check_peer(end.rank) && check_remote(end, end.rank, writes);
      case Place::multicast: break;
    }
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank)
      if (!check_remote(end, rank, writes) || !check_alike(end, rank)) return false;
    return true;
  }

  // A switch reaches the same place of every rank's memory: what the post names, and the slot that it is copied to.
  bool check_alike(const Endpoint& end, std::uint32_t rank) {
    const Programs::RankFacts& first = programs_.rank_facts(0);
    const Programs::RankFacts& facts = programs_.rank_facts(rank);
    const Slice& given = facts.posts[end.post]->sources[0].slice;
    if (given == first.posts[end.post]->sources[0].slice && facts.slots[end.post] == first.slots[end.post] &&
        facts.num_exposes == first.num_exposes)
      return true;
    return fail(Fault::not_exposed,
                fmt::format("needs all ranks to post the same place, but post {} of rank {} is another than rank 0's",
                            end.post, rank),
                to_string(end.slice));
  }

  bool count_message(const Endpoint& end, bool writes) {
    if (end.channel >= kMostChannels)
      return fail(Fault::out_of_bounds, fmt::format("names channel {} of {}", end.channel, kMostChannels));
    const std::uint32_t from = writes ? rank_ : end.rank;
    const std::uint32_t to = writes ? end.rank : rank_;
    Connection& connection = connections_.try_emplace(connection_key(from, to, end.channel)).first->second;
    connection.from = from;
    connection.to = to;
    connection.channel = end.channel;
    std::uint32_t& lane = writes ? connection.sending_lane : connection.receiving_lane;
    ++(writes ? connection.sent : connection.received);
    if (lane != Programs::kNone && lane != lane_) {
      return fail(Fault::shared_end,
                  fmt::format("lanes {} and {} both {} rank {}{}, so the order of messages would be chance", lane,
                              lane_, writes ? "send to" : "receive from", end.rank, on_channel(end.channel)));
    }
    lane = lane_;
    return true;
  }

  bool check_remote(const Endpoint& end, std::uint32_t rank, bool writes) {
    const std::string piece = fmt::format("{} of rank {}", to_string(end.slice), rank);
    const Step* post = nullptr;
    if (!find_post(rank, end.post, post)) return false;
    const StepKind needed = writes ? StepKind::open : StepKind::expose;
    if (post->kind != needed || post->sources.size() != 1) {
      return fail(Fault::not_exposed,
                  fmt::format("{} needs an {}, but post {} of rank {} is: {}", writes ? "storing" : "loading",
                              writes ? "open" : "expose", end.post, rank, to_string(*post)),
                  piece);
    }
    const Slice& given = post->sources[0].slice;
    const Slice& used = end.slice;
    const bool inside = given.space == used.space && given.block == used.block &&
                        used.first_piece >= given.first_piece &&
                        used.first_piece + used.num_pieces <= given.first_piece + given.num_pieces;
    if (!inside) {
      return fail(Fault::not_exposed,
                  fmt::format("post {} of rank {} permits {} only", end.post, rank, to_string(given)), piece);
    }
    return true;
  }

  bool find_post(std::uint32_t rank, std::uint32_t number, const Step*& post) {
    const std::vector<const Step*>& posts = programs_.rank_facts(rank).posts;
    if (number >= posts.size()) {
      return fail(Fault::out_of_bounds,
                  fmt::format("names post {} of rank {}, which makes {} posts", number, rank, posts.size()));
    }
    post = posts[number];
    return true;
  }

  bool check_post(const Step& step) {
    if (posts_in_ != Programs::kNone && posts_in_ != lane_) {
      return fail(Fault::shared_end,
                  fmt::format("lanes {} and {} both make posts, so their order would be chance", posts_in_, lane_));
    }
    if (posts_in_ == Programs::kNone) next_post_ = 0;
    posts_in_ = lane_;
    if (step.post != next_post_++) {
      return fail(Fault::malformed, fmt::format("post {} stands where {} is due: posts of a rank count from 0",
                                                step.post, next_post_ - 1));
    }
    if (step.kind == StepKind::signal) return true;
    if (step.sources.size() != 1 || step.sources[0].place != Place::local)
      return fail(Fault::malformed, "exposes or opens something else than one slice of its own");
    if (step.kind == StepKind::open && step.sources[0].slice.space == Space::input) {
      return fail(Fault::malformed, "opens an input, which belongs to the caller, for writing",
                  to_string(step.sources[0].slice));
    }
    if (step.sources[0].slice.num_blocks > 1)
      return fail(Fault::malformed, "posts several blocks at once", to_string(step.sources[0].slice));
    return check_slice(step.sources[0].slice, rank_);
  }

  bool check_wait(const Step& step) {
    if (step.peers.empty() && schedule_.num_ranks > 1) return fail(Fault::malformed, "waits for nobody");
    for (const std::uint32_t peer : step.peers) {
      const Step* post = nullptr;
      if (!check_peer(peer) || !find_post(peer, step.post, post)) return false;
    }
    return true;
  }

  void check_connections() {
    // The least of them, so that the message is the same in every run.
    std::uint64_t worst = UINT64_MAX;
    for (const auto& [ends, connection] : connections_)
      if (connection.sent != connection.received) worst = std::min(worst, ends);
    if (worst == UINT64_MAX) return;
    const Connection& connection = connections_[worst];
    rank_ = connection.from;
    lane_ = connection.sending_lane == Programs::kNone ? 0 : connection.sending_lane;
    step_ = nullptr;
    fail(Fault::unmatched,
         fmt::format("rank {} sends rank {} {} messages a round{}, which receives {}", rank_, connection.to,
                     connection.sent, on_channel(connection.channel), connection.received));
  }

  const Programs& programs_;
  const Schedule& schedule_;
  std::uint32_t rank_ = 0;
  std::uint32_t lane_ = 0;
  const Step* step_ = nullptr;
  std::uint32_t next_number_ = 0;
  std::uint32_t next_post_ = 0;
  std::uint32_t posts_in_ = Programs::kNone;
  std::unordered_map<std::uint64_t, Connection> connections_;  // by connection_key
  std::optional<Failure> failure_;
};

}  // namespace

std::optional<Failure> find_malformed(const Programs& programs) { return Checker(programs).check(); }

}  // namespace tutti
