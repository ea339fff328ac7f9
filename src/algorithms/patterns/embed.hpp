// SPDX-License-Identifier: Apache-2.0
// A schedule run by some of the ranks of a larger one, on some pieces of its buffers: how an all-reduce becomes the
// middle part of another.
//
//   Embedded inner(schedule, {.rank_of = ..., .first_piece = ...}, own_place, 0);
//   while (const Step* step = inner.next(b)) co_yield *step;
//
// The inner schedule works in place on the outer output: it finds there what its ranks have made of their inputs
// already, so its first touches are none of the outer one's. Its last touches are, if its ranks bring all contributions
// together. Its lane l is the outer lane l; lane 0 may have outer steps in front of it. Steps that only pass messages
// and fold can be embedded, posts cannot: an outer rank numbers its own.
//
// The state is that of the inner lane. Borrows the schedule. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "schedule/schedule.hpp"

namespace tutti::patterns {

struct Embedding {
  std::function<std::uint32_t(std::uint32_t)> rank_of;  // the outer rank of an inner one
  std::uint32_t first_piece = 0;                        // the outer piece that is the inner piece 0
  std::uint32_t steps_before = 0;                       // outer steps of lane 0 before the inner ones
};

class Embedded {
 public:
  // Lane `lane` of the inner rank `rank`.
  Embedded(const Schedule& inner, Embedding embedding, std::uint32_t rank, std::uint32_t lane)
      : embedding_(std::move(embedding)), walk_(inner.walk(rank, lane)) {}

  // The next inner step as one of the outer builder's lane, borrowed until the next call; null after the last.
  [[nodiscard]] const Step* next(Builder& outer);

 private:
  void place(Endpoint& end) const;

  Embedding embedding_;
  Walk walk_;
  Step step_;
};

// How many steps a lane has: what an After has to name to wait for all of it. Walks the lane.
[[nodiscard]] std::uint32_t num_steps_of(const Schedule& schedule, std::uint32_t rank, std::uint32_t lane);

}  // namespace tutti::patterns
