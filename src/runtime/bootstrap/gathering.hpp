// SPDX-License-Identifier: Apache-2.0
// One generation of a rendezvous while its ranks arrive: which are there, whether they agree, and who is missing. It
// knows nothing of sockets (rendezvous.cpp has those). A value with one owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

class Gathering {
 public:
  // Takes a rank in. An error is the end of the whole generation: it concerns all ranks.
  [[nodiscard]] Status admit(wire::Hello hello);
  // Once all have arrived.
  [[nodiscard]] Status check_hosts() const;
  void mark_ready(int rank);

  // As the first to arrive has it; 0 before.
  [[nodiscard]] int num_ranks() const { return num_ranks_; }
  [[nodiscard]] int num_arrived() const { return arrived_; }
  // Whether the same has arrived as that rank: pids may be equal in containers, names of sockets are random.
  [[nodiscard]] bool has(const wire::Hello& hello) const {
    if (hello.rank < 0 || hello.rank >= num_ranks_) return false;
    const Seat& seat = seats_[static_cast<std::size_t>(hello.rank)];
    return seat.arrived && seat.hello.version == hello.version && seat.hello.pid == hello.pid &&
           seat.hello.leader_socket == hello.leader_socket;
  }
  [[nodiscard]] bool all_arrived() const { return num_ranks_ > 0 && arrived_ == num_ranks_; }
  [[nodiscard]] bool all_ready() const { return num_ranks_ > 0 && ready_ == num_ranks_; }
  [[nodiscard]] wire::Table table() const;

  // Who is missing: "ranks 1 and 3-5 of 8 have not arrived".
  [[nodiscard]] std::string progress() const;
  // "rank 3 (process 1234) ended before the communicator was complete"
  [[nodiscard]] Status lost(int rank) const;

 private:
  struct Seat {
    bool arrived = false;
    bool ready = false;
    wire::Hello hello;
  };
  [[nodiscard]] Status compare(const wire::Hello& a, const wire::Hello& b) const;

  int num_ranks_ = 0;
  int arrived_ = 0;
  int ready_ = 0;
  int first_ = 0;  // the first to arrive: all others are compared with it
  std::vector<Seat> seats_;
};

// "rank 3", "ranks 1 and 3-5", "ranks 0, 2, 4-6 and 90 more"; `ranks` ascends.
[[nodiscard]] std::string rank_list(const std::vector<int>& ranks);

// How two configurations (lines of NAME=VALUE) of two ranks differ, in words: "TUTTI_TIMEOUT is 5s on rank 0 and unset
// on rank 2"; empty where they do not.
struct RankConfiguration {
  int rank = 0;
  std::string_view lines;
};
[[nodiscard]] std::string configuration_difference(const RankConfiguration& a, const RankConfiguration& b);

}  // namespace tutti
