#include "schedule/schedule.hpp"

#include "schedule/fuse.hpp"

namespace tutti {

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return "all_reduce";
  }
  return "unknown";
}

std::string_view name_of(OrderClass order) {
  switch (order) {
    case OrderClass::ordered: return "ordered";
    case OrderClass::rank_order: return "rank_order";
    case OrderClass::uniform: return "uniform";
    case OrderClass::free: return "free";
  }
  return "unknown";
}

Program collect(const Schedule& schedule, std::uint32_t rank, Fusion fusion) {
  Program program;
  for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
    Walk walk = schedule.walk(rank, lane);
    std::vector<Step> steps;
    while (const Step* step = walk.next()) steps.push_back(*step);
    program.lanes.push_back(fusion == Fusion::neighbours ? fuse(std::move(steps)) : std::move(steps));
  }
  return program;
}

}  // namespace tutti
