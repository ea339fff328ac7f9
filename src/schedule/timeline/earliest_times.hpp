// SPDX-License-Identifier: Apache-2.0
// How early the steps of one round can happen, where a step that moves data and the way from one rank to another take a
// time each, nothing else takes any, and no one waits for room. With only hops counted it says how many ranks deep a
// step is, with only steps counted where a space-time diagram shows it.
//
// An observer of a World, and the Machine of meaning.hpp that answers every condition with yes and takes the latest of
// the times at which they were met. Used once, for one round; one thread at a time. Borrows the programs.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "schedule/prove/world.hpp"

namespace tutti {

// What takes time.
struct Pace {
  std::uint32_t step = 0;  // one that moves data
  std::uint32_t hop = 0;   // from what a rank does to what another does because of it
};

class EarliestTimes : public Observer {
 public:
  EarliestTimes(const Programs& programs, Pace pace);

  // Walks one round of the programs, which are of a schedule that prove() has passed; the time at which it is over.
  std::uint32_t walk();

  void ready(const World& world, const LaneState& lane, const Step& step) override;
  void take(const World&, const LaneState& lane, const Endpoint& end) override;
  void publish(const World&, const LaneState& lane, const Endpoint& end) override;
  void post(const World&, const LaneState& lane, const Step& step) override;
  void passed(const World&, const LaneState& lane, const Step&) override;

  bool has_message(const Endpoint& end);
  bool has_credit(const Endpoint&) { return true; }
  bool has_posted(std::uint32_t rank, std::uint32_t post);
  bool has_slot(const Step&) { return true; }
  [[nodiscard]] std::uint32_t num_ranks() const { return programs_.num_ranks(); }
  bool all_done();

 protected:
  // The present step needs the message that was sent at `sent`; the post of another rank that was made at `made`.
  virtual void awaits_message(const Endpoint& /*end*/, std::uint32_t /*sent*/) {}
  virtual void awaits_post(std::uint32_t /*rank*/, std::uint32_t /*post*/, std::uint32_t /*made*/) {}
  // The present step takes from `begin` to `end`.
  virtual void happens(std::uint32_t /*begin*/, std::uint32_t /*end*/) {}

  // What is being done at the moment.
  [[nodiscard]] const LaneState& lane() const { return *lane_; }
  [[nodiscard]] const Step& step() const { return *step_; }

 private:
  std::uint32_t& now() { return times_[lane_->id]; }
  bool reach(std::uint32_t time);

  const Programs& programs_;
  Pace pace_;
  const World* world_ = nullptr;
  const LaneState* lane_ = nullptr;
  const Step* step_ = nullptr;
  std::vector<std::uint32_t> times_;                                     // by lane
  std::vector<std::uint32_t> done_;                                      // by lane: past its last remote end
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> queues_;  // by connection
  std::unordered_map<std::uint64_t, std::uint32_t> posts_;
  std::unordered_map<std::uint64_t, std::uint32_t> passed_;  // steps that some After names
};

}  // namespace tutti
