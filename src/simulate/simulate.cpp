#include "simulate/simulate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/cursor.hpp"
#include "simulate/engine.hpp"
#include "simulate/symmetry.hpp"

namespace tutti::simulate {

namespace {

// The pieces of the longest message.
std::uint32_t longest_message(const Schedule& schedule, Fusion fusion) {
  std::uint32_t longest = 1;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Cursor cursor(schedule, rank, lane, fusion);
      while (const Step* step = cursor.next()) {
        for (const Endpoint& end : step->destinations)
          if (end.place == Place::message) longest = std::max(longest, end.slice.size());
      }
    }
  }
  return longest;
}

}  // namespace

Result<Answer> simulate(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
  if (fabric.num_ranks() < schedule.num_ranks)
    return Status(Code::invalid_argument, fmt::format("{} has {} ranks; the schedule is for {}", fabric.name,
                                                      fabric.num_ranks(), schedule.num_ranks));
  if (facts_of(schedule.collective).varies)
    return Status(Code::unsupported,
                  fmt::format("{}: blocks of different sizes are not simulated", name_of(schedule.collective)));
  std::uint64_t window = options.window;
  if (window == 0 && fabric.queue.slot_bytes > 0) {
    window = fabric.queue.slot_bytes / options.element_size / longest_message(schedule, options.fusion);
    if (window == 0)
      return Status(
          Code::invalid_argument,
          fmt::format("a slot of {} bytes is too small for a message of {} pieces, each of an element at least",
                      fabric.queue.slot_bytes, longest_message(schedule, options.fusion)));
  }
  const Sizes sizes(schedule, options.count, options.element_size, window);
  const bool is_worth_it =
      options.alike == Alike::always || (options.alike == Alike::from_many && schedule.num_ranks >= kManyRanks);
  const std::optional<Symmetry> symmetry =
      is_worth_it ? Symmetry::find(schedule, fabric, options.fusion, sizes) : std::nullopt;
  Engine engine(schedule, fabric, options, sizes, symmetry ? &*symmetry : nullptr);
  if (const std::optional<std::string> wrong = engine.run())
    return Status(Code::invalid_argument, fmt::format("{} on {}: {}", schedule.name, fabric.name, *wrong));
  return engine.answer();
}

}  // namespace tutti::simulate
