// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/side_by_side.hpp"

#include <memory>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace tutti {

namespace {

struct Part {
  std::shared_ptr<const Schedule> whole;
  std::uint32_t number = 0;
  std::uint32_t parts = 1;

  void place(Endpoint& end) const {
    end.slice.first_piece += number * whole->division(end.slice.space).pieces;
    if (end.place == Place::message) end.channel = end.channel * parts + number;
  }

  void place(Step& step) const {
    for (Endpoint& end : step.sources) place(end);
    for (Endpoint& end : step.destinations) place(end);
    TUTTI_ASSERT(step.kind == StepKind::combine && !is_direct(step), "parts that are side by side only pass messages");
    for (After& after : step.after) after.lane += number * whole->num_lanes;
  }
};

Lane lane_of(Builder& b, Part part, std::uint32_t number) {
  Lane steps = part.whole->lane(b, number);
  Step step;
  while (const Step* each = steps.next()) {
    step = *each;
    part.place(step);
    co_yield step;
  }
}

}  // namespace

Schedule side_by_side(const Schedule& schedule, std::uint32_t parts) {
  if (parts <= 1) return schedule;
  Schedule made = schedule;
  made.name = fmt::format("{} in {} parts", schedule.name, parts);
  made.num_lanes *= parts;
  for (Division& division : made.spaces) division.pieces *= parts;
  made.lane = [whole = std::make_shared<const Schedule>(schedule), parts](Builder& b, std::uint32_t lane) {
    return lane_of(b, {whole, lane / whole->num_lanes, parts}, lane % whole->num_lanes);
  };
  return made;
}

}  // namespace tutti
