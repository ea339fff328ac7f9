// SPDX-License-Identifier: Apache-2.0
// An MSCCL program put together: its thread blocks as lanes of steps that do something, who hands a message to whom,
// and which steps wait for which. Borrows the File; one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "schedule/msccl/file.hpp"

namespace tutti::msccl {

inline constexpr std::uint32_t kNone = UINT32_MAX;

// A step goes only after `step` of `lane`, another of its rank.
struct Wait {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
};

struct LaneStep {
  const FileStep* file = nullptr;
  std::uint32_t first_wait = 0;  // of Lanes::waits
  std::uint32_t num_waits = 0;
  std::uint32_t first_move = 0;    // its chunks, counted through all lanes
  std::uint32_t received = kNone;  // messages, counted through all connections
  std::uint32_t sent = kNone;
};

struct BlockLane {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;    // the id of the thread block
  std::uint32_t from = kNone;  // connections
  std::uint32_t to = kNone;
  const FileBlock* file = nullptr;
  std::vector<LaneStep> steps;
};

struct Connection {
  std::uint32_t sender = kNone;  // lanes
  std::uint32_t receiver = kNone;
  std::uint32_t from = 0;  // ranks
  std::uint32_t to = 0;
  std::uint32_t file_channel = 0;
  std::uint32_t channel = 0;  // among those between the two ranks, from 0 on
  std::uint32_t first_message = 0;
  std::uint32_t num_messages = 0;
};

struct Lanes {
  std::vector<const FileGpu*> gpus;       // by rank
  std::vector<BlockLane> lanes;           // rank by rank, by number
  std::vector<std::uint32_t> first_lane;  // of each rank, and one past the last
  std::uint32_t most_lanes = 1;           // of a rank
  std::vector<Connection> connections;
  std::vector<Wait> waits;
  std::uint32_t num_messages = 0;
  std::uint32_t num_moves = 0;
};

[[nodiscard]] Result<Lanes> put_together(const File& file);

// The steps of all lanes in an order in which they can be taken, where every message has room. The same order each
// time. Borrows the lanes.
class StepOrder {
 public:
  explicit StepOrder(const Lanes& lanes);

  struct Next {
    std::uint32_t lane = 0;
    std::uint32_t step = 0;
  };
  // Nothing where no step can be taken any more: at the end, or because the lanes wait for each other.
  std::optional<Next> next();
  // What is wrong where not all steps could be taken.
  [[nodiscard]] std::optional<Status> stuck(const File& file) const;

 private:
  struct Waiter {
    std::uint32_t step = 0;  // that it waits for
    std::uint32_t lane = 0;
    bool operator>(const Waiter& other) const { return step > other.step; }
  };

  // What keeps the lane from its next step: a step of another lane, or a message.
  [[nodiscard]] const Wait* unmet(const LaneStep& step) const;
  [[nodiscard]] bool lacks_message(const BlockLane& lane, const LaneStep& step) const;
  bool may_go(std::uint32_t lane);
  void pass(std::uint32_t lane);
  [[nodiscard]] std::string describe(const File& file, std::uint32_t lane, std::uint32_t& other) const;

  const Lanes& lanes_;
  std::vector<std::uint32_t> passed_;     // steps, by lane
  std::vector<std::uint32_t> published_;  // messages, by connection
  std::vector<bool> awaited_;             // by connection: its receiver stands still for it
  std::vector<std::priority_queue<Waiter, std::vector<Waiter>, std::greater<>>> waiters_;  // by lane waited for
  std::deque<std::uint32_t> ready_;
};

}  // namespace tutti::msccl
