// SPDX-License-Identifier: Apache-2.0
// Where the ranks of one generation wait for each other. Of few ranks all wait at the rendezvous. Of many only the
// first few do; each later one waits at a rank that arrived before it, so that nobody has more than kFanOut others to
// serve.
//
// A value with one owner, the rendezvous; not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/bootstrap/wire.hpp"

namespace tutti {

// How many ranks wait at the rendezvous or at one rank, and how many hosts' leaders are linked to one.
inline constexpr std::size_t kFanOut = 8;
// So many ranks may all wait at the rendezvous.
inline constexpr int kMostAtRendezvous = 32;

class WaitingTree {
 public:
  // Where a rank that has just arrived is to wait.
  [[nodiscard]] wire::Place place(const wire::Hello& hello) {
    wire::Place stays{.generation = hello.generation};
    if (hello.num_ranks <= kMostAtRendezvous || hello.addresses.empty()) return stays;
    const std::size_t number = servers_.size();
    servers_.push_back(
        {.generation = hello.generation, .rank = hello.rank, .pid = hello.pid, .addresses = hello.addresses});
    if (number < kFanOut) return stays;
    const wire::Place& place = servers_[(number - kFanOut) / kFanOut];
    parents_[hello.rank] = place.rank;
    on_the_way_.insert(hello.rank);
    return place;
  }
  // It waits where it was sent. False where it was not on its way.
  bool note_attached(int rank) { return on_the_way_.erase(rank) > 0; }
  // It has come back.
  void forget(int rank) {
    parents_.erase(rank);
    on_the_way_.erase(rank);
  }
  [[nodiscard]] bool have_all_attached() const { return on_the_way_.empty(); }

  // At which rank that rank waits, or is to; nothing: at the rendezvous, or it has not arrived.
  [[nodiscard]] std::optional<int> parent_of(int rank) const {
    const auto found = parents_.find(rank);
    return found == parents_.end() ? std::nullopt : std::optional(found->second);
  }
  // How many wait at other ranks.
  [[nodiscard]] int num_attached() const { return static_cast<int>(parents_.size() - on_the_way_.size()); }
  // Who is on the way: "rank 9 has not come to rank 3 yet, at which it is to wait, nor have 2 more to theirs".
  [[nodiscard]] std::string progress() const {
    if (on_the_way_.empty()) return "";
    const int first = *on_the_way_.begin();
    const std::size_t more = on_the_way_.size() - 1;
    return fmt::format("rank {} has not come to rank {} yet, at which it is to wait{}", first, parents_.at(first),
                       more == 0 ? "" : fmt::format(", nor have {} more to theirs", more));
  }

 private:
  std::vector<wire::Place> servers_;  // in order of arrival
  std::map<int, int> parents_;        // of ranks that were sent on
  std::set<int> on_the_way_;          // of these
};

}  // namespace tutti
