// SPDX-License-Identifier: Apache-2.0
// The connections of a simulated operation, found by their ends: each a queue of messages that are on their way or have
// come, with its room. Made when they are first used. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/huge_pages.hpp"
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
  explicit Connections(std::uint32_t num_ranks)
      : last_outgoing_(num_ranks, kNobody), last_incoming_(num_ranks, kNobody), table_(kFirstTable) {}

  // What the one end calls it; made where there is none. Its number stays, its address does not.
  std::uint32_t outgoing(std::uint32_t rank, std::uint32_t to, std::uint32_t channel) {
    std::uint32_t& last = last_outgoing_[rank];
    if (last == kNobody || !is(all_[last], rank, to, channel)) last = find_or_make(rank, to, channel);
    return last;
  }
  std::uint32_t incoming(std::uint32_t rank, std::uint32_t from, std::uint32_t channel) {
    std::uint32_t& last = last_incoming_[rank];
    if (last == kNobody || !is(all_[last], from, rank, channel)) last = find_or_make(from, rank, channel);
    return last;
  }
  [[nodiscard]] Connection& operator[](std::uint32_t number) { return all_[number]; }

 private:
  // Of the table, which is looked through from the place of the hash on.
  struct Place {
    std::uint32_t hash = 0;
    std::uint32_t number = kNobody;  // where it is empty
  };
  static constexpr std::size_t kFirstTable = 64;  // places: a power of two, as always

  static bool is(const Connection& connection, std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    return connection.from == from && connection.to == to && connection.channel == channel;
  }
  std::uint32_t find_or_make(std::uint32_t from, std::uint32_t to, std::uint32_t channel);
  void make_room_in_table();

  // The one that each rank has used last.
  std::vector<std::uint32_t> last_outgoing_;
  std::vector<std::uint32_t> last_incoming_;
  HugeVector<Connection> all_;
  HugeVector<Place> table_;  // by their ends; at most half full
};

}  // namespace tutti::simulate
