// SPDX-License-Identifier: Apache-2.0
// The connections of a simulated operation, found by their ends: each a queue of messages that are on their way or have
// come, with its room. Made when they are first used. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulate/network/transfer.hpp"

namespace tutti::simulate {

inline constexpr std::uint32_t kNobody = UINT32_MAX;

struct Connection {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
  std::uint32_t used = 0;            // room that is taken, as the sender knows
  std::uint32_t pending = 0;         // messages that may take several slots: handed over, and not taken whole
  std::uint32_t receiver = kNobody;  // the lane that waits for a message
  std::uint32_t sender = kNobody;    // the lane that waits for room
  bool is_open = false;              // parts of a message of several slots are taken out as they come
  double lacking_since = 0;          // when that lane found no room
  std::span<const std::uint32_t> links = {};
  std::span<const std::uint32_t> links_back = {};

  // Messages in the order in which they were sent: a list through Transfer::next.
  TransferId first = kNoTransfer;
  TransferId last = kNoTransfer;
  TransferId unsent = kNoTransfer;  // of those, the first that waits for room: a part of a message of several slots
};

class Connections {
 public:
  explicit Connections(std::uint32_t num_ranks) : outgoing_(num_ranks), incoming_(num_ranks) {}

  // What the one end calls it; made where there is none. Its number stays, its address does not.
  std::uint32_t outgoing(std::uint32_t rank, std::uint32_t to, std::uint32_t channel) {
    const std::uint32_t found = outgoing_[rank].find(to, channel);
    return found != kNobody ? found : make(rank, to, channel);
  }
  std::uint32_t incoming(std::uint32_t rank, std::uint32_t from, std::uint32_t channel) {
    const std::uint32_t found = incoming_[rank].find(from, channel);
    return found != kNobody ? found : make(from, rank, channel);
  }
  [[nodiscard]] Connection& operator[](std::uint32_t number) { return all_[number]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  // A rank's connections in one direction. Where there are few they are looked through, beginning with the one used
  // last and the one behind it.
  class Side {
   public:
    [[nodiscard]] std::uint32_t find(std::uint32_t peer, std::uint32_t channel) {
      if (last_ < known_.size() && known_[last_].peer == peer && known_[last_].channel == channel)
        return known_[last_].number;
      return find_further(peer, channel);
    }
    void add(std::uint32_t peer, std::uint32_t channel, std::uint32_t number);

   private:
    [[nodiscard]] std::uint32_t find_further(std::uint32_t peer, std::uint32_t channel);

    struct Known {
      std::uint32_t peer = 0;
      std::uint32_t channel = 0;
      std::uint32_t number = 0;
    };
    std::vector<Known> known_;
    std::uint32_t last_ = 0;
    std::unique_ptr<std::unordered_map<std::uint64_t, std::uint32_t>> many_;  // all of them, where they are not few
  };

  std::uint32_t make(std::uint32_t from, std::uint32_t to, std::uint32_t channel);

  std::vector<Side> outgoing_;
  std::vector<Side> incoming_;
  std::vector<Connection> all_;
};

}  // namespace tutti::simulate
