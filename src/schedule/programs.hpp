// SPDX-License-Identifier: Apache-2.0
// The programs of all ranks at once, with the facts about them that running them needs. Immutable once made;
// thread-safe. Borrows the schedule.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

// A connection as one number, ordered by sender, receiver and channel. Channels are below kMostChannels.
[[nodiscard]] inline std::uint64_t connection_key(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
  return (std::uint64_t{from} << 29U | to) * kMostChannels + channel;
}

// Whether each lane posts all that it posts before anything else, and waits for nothing before.
[[nodiscard]] bool posts_first(const Program& program);

// Whether a rank's program is one exchange: lane 0 exposes the whole input; lane 1 folds exposures into the whole
// output, and may close.
[[nodiscard]] bool is_exchange(const Schedule& schedule, const Program& program);

class Programs {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // What a post permits: the index of the step that makes it in the lane that makes all posts of the rank.
  struct RankFacts {
    std::uint32_t posting_lane = kNone;
    std::vector<const Step*> posts;    // by number
    std::vector<std::uint32_t> slots;  // by post: its number among the exposes of a round, kNone for other posts
    std::uint32_t num_exposes = 0;
    bool opens = false;
  };

  struct LaneFacts {
    std::uint32_t last_remote = kNone;  // index of the last step with a remote endpoint
    std::vector<bool> is_waited_for;    // by index: some After names this step
  };

  Programs(const Schedule& schedule, Fusion fusion);

  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return schedule_->num_ranks; }
  [[nodiscard]] std::uint32_t num_lanes() const { return schedule_->num_lanes; }
  [[nodiscard]] std::size_t num_steps() const;
  // Whether any piece is within reach of more than one lane.
  [[nodiscard]] bool shares_memory() const;

  // Lanes of all ranks in one row: rank by rank.
  [[nodiscard]] std::uint32_t lane_id(std::uint32_t rank, std::uint32_t lane) const {
    return rank * num_lanes() + lane;
  }
  [[nodiscard]] const std::vector<Step>& steps(std::uint32_t rank, std::uint32_t lane) const {
    return programs_[rank].lanes[lane];
  }
  [[nodiscard]] const Program& program(std::uint32_t rank) const { return programs_[rank]; }
  [[nodiscard]] const RankFacts& rank_facts(std::uint32_t rank) const { return ranks_[rank]; }
  [[nodiscard]] const LaneFacts& lane_facts(std::uint32_t lane_id) const { return lanes_[lane_id]; }

  // Connections that messages name, numbered; one that no message names has no number.
  [[nodiscard]] std::uint32_t num_connections() const { return static_cast<std::uint32_t>(connections_.size()); }
  [[nodiscard]] std::uint32_t connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) const;

  // The lane of `rank` that sends to, or receives from, `peer` on `channel`; kNone where none does.
  [[nodiscard]] std::uint32_t sending_lane(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) const;
  [[nodiscard]] std::uint32_t receiving_lane(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) const;

  // The index of the first step of the lane whose number is at least `number`: the one that `After` waits for.
  [[nodiscard]] std::uint32_t index_of(std::uint32_t rank, std::uint32_t lane, std::uint32_t number) const;

 private:
  void learn(std::uint32_t rank);
  void add_connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    const std::uint64_t key = connection_key(from, to, channel);
    // Messages of one connection mostly follow each other.
    if (connections_.empty() || connections_.back() != key) connections_.push_back(key);
  }
  void number_connections();

  const Schedule* schedule_;
  std::vector<Program> programs_;
  std::vector<RankFacts> ranks_;
  std::vector<LaneFacts> lanes_;
  std::vector<std::uint64_t> connections_;       // keys, sorted
  std::vector<std::uint32_t> first_connection_;  // by sender, and one behind the last
};

}  // namespace tutti
