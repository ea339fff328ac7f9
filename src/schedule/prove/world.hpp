// SPDX-License-Identifier: Apache-2.0
// All ranks of a schedule, walked side by side as far as they can go: queues, posts, slots, rounds and marks, without
// any data. What each step waits for and does is meaning.hpp's; what data does on the way is an Observer's.
//
// Every wait is for a count to reach a threshold, counts only grow, each is moved on by one lane alone, and a lane
// takes its steps in order. So a step that can be performed stays so until it is, and whichever order the lanes are
// walked in, the same steps are performed and the same ones get stuck: one walk decides. Borrows the programs; one
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/programs.hpp"
#include "schedule/prove/failure.hpp"

namespace tutti {

inline constexpr std::uint32_t kUnlimited = UINT32_MAX;

struct Conditions {
  std::uint32_t depth = kUnlimited;                // messages in flight of each connection; 0 is rendezvous
  std::uint32_t staging_slots = kUnlimited;        // of each rank
  bool staged = true;                              // exposing copies; else it names the memory itself
  std::vector<std::uint32_t> operations = {2, 1};  // rounds of one operation after another
};

struct LaneState {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t id = 0;
  std::uint32_t round = 0;   // counted on from one operation to the next
  std::uint32_t index = 0;   // of the step that the lane stands at
  std::uint32_t passed = 0;  // one more than the number of the last step passed in this round
  std::uint32_t done = 0;    // rounds in which this lane is past its last remote endpoint
  bool performed = false;    // the step is done but not passed: a rendezvous that the receiver has not taken yet
};

class World;

// What happens in a world, in the order in which it happens. `lane` stands at the step spoken of.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void ready(const World&, const LaneState&, const Step&) {}
  virtual void combine(const World&, const LaneState&, const Step&) {}
  virtual void take(const World&, const LaneState&, const Endpoint&) {}
  virtual void publish(const World&, const LaneState&, const Endpoint&) {}
  virtual void post(const World&, const LaneState&, const Step&) {}
  virtual void passed(const World&, const LaneState&, const Step&) {}
  // `rank` has ended an operation that began with `first_round`; the next begins with `next_round`.
  virtual void ended(const World&, std::uint32_t /*rank*/, std::uint32_t /*first_round*/, std::uint32_t /*next*/) {}
  [[nodiscard]] virtual bool wants_to_stop() const { return false; }
};

class World {
 public:
  World(const Programs& programs, Conditions conditions, Observer* observer = nullptr);

  // Walks until every lane has ended (nothing is returned), nothing moves any more (the deadlock, with its story), or
  // the observer wants to stop.
  [[nodiscard]] std::optional<Failure> run();

  [[nodiscard]] const Programs& programs() const { return programs_; }
  [[nodiscard]] const Conditions& conditions() const { return conditions_; }

  // The exposes and posts of a rank counted through all rounds.
  [[nodiscard]] std::uint32_t num_exposed(std::uint32_t rank) const { return ranks_[rank].exposed; }
  // The round that must be done on every rank before this one's next expose has its slot; none where it has one anyway.
  [[nodiscard]] std::optional<std::uint32_t> round_before_slot(std::uint32_t rank) const;
  // Whether close waits at all for this rank.
  [[nodiscard]] bool close_waits(std::uint32_t rank) const;

  // The Machine of meaning.hpp, for the lane that is being walked.
  bool has_message(const Endpoint& end);
  bool has_credit(const Endpoint& end);
  bool has_posted(std::uint32_t rank, std::uint32_t post);
  [[nodiscard]] std::uint32_t num_ranks() const { return programs_.num_ranks(); }
  bool has_slot(const Step&);
  bool all_done();
  bool is_taken(const Endpoint& end);
  void combine(const Step& step);
  void take(const Endpoint& end);
  void publish(const Endpoint& end);
  void post(const Step& step);

 private:
  enum class Waiting : std::uint8_t { nothing, message, credit, post, slot, close, after, taken, operation };
  struct RankState {
    std::uint32_t posted = 0;
    std::uint32_t exposed = 0;
    std::uint32_t operation = 0;
    std::uint32_t first_round = 0;
    std::uint32_t limit = 0;   // one past the last round of the present operation
    std::uint32_t at_end = 0;  // lanes that have reached it
  };
  struct Connection {
    std::uint32_t published = 0;
    std::uint32_t taken = 0;
  };
  struct Cause {
    Waiting waiting = Waiting::nothing;
    std::uint32_t rank = 0;  // of whom
    std::uint32_t what = 0;  // post, round, lane, or channel
  };

  bool advance(LaneState& lane);
  bool may_start(const Step& step);
  void pass(LaneState& lane, const Step& step);
  void end_round(LaneState& lane);
  [[nodiscard]] std::optional<std::uint32_t> not_done(std::uint32_t round) const;
  Connection& connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    return connections_[programs_.connection(from, to, channel)];
  }
  bool because(bool met, Waiting waiting, std::uint32_t rank, std::uint32_t what);

  Failure deadlock();
  Cause cause_of(LaneState& lane);
  [[nodiscard]] std::string describe(const LaneState& lane, const Cause& cause) const;
  [[nodiscard]] std::uint32_t lane_behind(const LaneState& lane, const Cause& cause) const;

  const Programs& programs_;
  Conditions conditions_;
  Observer* observer_;
  std::vector<LaneState> lanes_;
  std::vector<RankState> ranks_;
  std::vector<Connection> connections_;           // by Programs::connection()
  std::vector<std::uint32_t> num_done_of_round_;  // lanes, of those that have remote endpoints
  std::uint32_t num_direct_lanes_ = 0;            // how many have
  LaneState* lane_ = nullptr;                     // being walked
  Cause cause_;                                   // the last answer that was no
};

}  // namespace tutti
