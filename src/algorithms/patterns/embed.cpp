// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/embed.hpp"

#include "base/assert.hpp"

namespace tutti::patterns {

const Step* Embedded::next(Builder& outer) {
  const Step* const inner = walk_.next();
  if (inner == nullptr) return nullptr;
  step_ = *inner;
  for (Endpoint& end : step_.sources) place(end);
  for (Endpoint& end : step_.destinations) place(end);
  for (const After& after : step_.after)
    outer.after(after.lane, after.step + (after.lane == 0 ? embedding_.steps_before : 0));
  return &outer.again(step_);
}

void Embedded::place(Endpoint& end) const {
  TUTTI_ASSERT(end.place == Place::local || end.place == Place::message, "what is embedded only passes messages");
  if (end.place == Place::message) end.rank = embedding_.rank_of(end.rank);
  if (end.slice.space == Space::input) end.slice.space = Space::output;
  end.slice.first_piece += embedding_.first_piece;
}

std::uint32_t num_steps_of(const Schedule& schedule, std::uint32_t rank, std::uint32_t lane) {
  Walk walk = schedule.walk(rank, lane);
  std::uint32_t count = 0;
  while (walk.next() != nullptr) ++count;
  return count;
}

}  // namespace tutti::patterns
