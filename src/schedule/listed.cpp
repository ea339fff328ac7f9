// SPDX-License-Identifier: Apache-2.0
#include "schedule/listed.hpp"

#include <memory>
#include <utility>

#include "base/assert.hpp"

namespace tutti {

namespace {

using Listed = std::shared_ptr<const std::vector<Program>>;

Lane replay(Listed programs, std::uint32_t rank, std::uint32_t lane) {
  for (const Step& step : (*programs)[rank].lanes[lane]) co_yield step;
}

}  // namespace

Schedule listed(Schedule header, std::vector<Program> programs) {
  TUTTI_ASSERT(programs.size() == header.num_ranks, "a program for each rank");
  for (const Program& program : programs)
    TUTTI_ASSERT(program.lanes.size() == header.num_lanes, "every program has all lanes");
  const Listed shared = std::make_shared<const std::vector<Program>>(std::move(programs));
  header.lane = [shared](Builder& builder, std::uint32_t lane) { return replay(shared, builder.rank(), lane); };
  return header;
}

std::vector<Program> programs_of(const Schedule& schedule) {
  std::vector<Program> programs;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    programs.push_back(collect(schedule, rank, Fusion::none));
  return programs;
}

}  // namespace tutti
