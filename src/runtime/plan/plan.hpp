// SPDX-License-Identifier: Apache-2.0
// A plan: one rank's program of a schedule, made ready for walking on shared memory. It knows nothing of addresses,
// counts or types, so a communicator makes it once and keeps it, whatever sizes and pointers follow. Immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "runtime/bootstrap/hosts.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// With more ranks, planning that each reads a few words from each takes longer than doing it: the plan has a step for
// each pair.
inline constexpr std::uint32_t kMostDirectRanks = 128;

// What a rank exposes or opens with one of its posts.
struct Posted {
  StepKind kind = StepKind::signal;
  Slice slice;
  std::uint32_t expose = 0;  // its number among the rank's exposes
  // Of the plan's own rank's exposes: the runs of pieces that another rank reads. The others need not be copied.
  std::vector<Slice> read;
};

struct Plan {
  Schedule schedule;
  std::uint32_t rank = 0;
  Program program;  // neighbours fused
  // By rank, by number of the post: what it makes known. Every rank has the same number of entries, the most that any
  // has, so that all count posts alike.
  std::vector<std::vector<Posted>> posts;
  std::uint32_t posts_per_round = 0;
  std::uint32_t exposes_per_round = 0;
  // By lane: the last step that reads or writes other ranks' memory, or -1. A rank has finished a round, as far as its
  // peers care, when all lanes have passed these.
  std::vector<std::int32_t> last_remote;
  // Of an exchange, where one lane exposes the input and the other reduces what ranks have exposed into the output
  // (one_shot): the ranks whose exposures are reduced, in order. Empty in other plans.
  std::vector<std::uint32_t> fold_order;
  bool crosses_hosts = false;  // some rank reaches the memory of one on another host
  bool opens = false;          // something, for others to store to: then all is reached by name
  bool has_messages = false;
  // Every rank's posts wait for nothing: they stand first in their lanes.
  bool posts_first = true;
  // And each rank exposes several times, a piece each, as often as the others, and posts nothing else.
  bool exposes_several = false;
  // Messages are sent even if they carry nothing: in a barrier, and where some rank has several lanes or reaches
  // another's memory, so that a message may be all that orders two accesses.
  bool orders = false;
  // The most pieces in one message, and in one exposure: a slot must hold that many windows.
  std::uint32_t widest_message = 1;
  std::uint32_t widest_expose = 1;

  [[nodiscard]] bool is_exchange() const { return !fold_order.empty(); }
  [[nodiscard]] std::uint32_t num_lanes() const { return static_cast<std::uint32_t>(program.lanes.size()); }
};

// An error where a program breaks a rule that prove would have named: plans are only made of what is well-formed.
// Code::aborted after an interrupt, which is looked for at each rank; null where there is none.
[[nodiscard]] Result<Plan> make_plan(Schedule schedule, std::uint32_t rank,
                                     const std::function<bool()>& is_interrupted = nullptr, const Hosts& hosts = {});

}  // namespace tutti
