// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "schedule/prove/definition.hpp"
#include "simulate/engine/cursor.hpp"
#include "simulate/engine/engine.hpp"
#include "simulate/engine/symmetry.hpp"
#include "simulate/engine/watch.hpp"

namespace tutti::simulate {

namespace {

// The pieces of the longest message; 0 where there is none. Of ranks that are alike the first says it.
std::uint32_t longest_message(const Schedule& schedule, Fusion fusion, std::uint32_t num_ranks, Watch& watch) {
  std::uint32_t longest = 0;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Cursor cursor(schedule, rank, lane, fusion);
      while (const Step* step = cursor.next()) {
        if (watch.is_over(1 + step->destinations.size())) return longest;
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
    return Status(Code::invalid_argument, fmt::format("{} has {}; the schedule is for {}", fabric.name,
                                                      counted(fabric.num_ranks(), "rank"), schedule.num_ranks));
  const bool varies = facts_of(schedule.collective).varies;
  if (!options.counts.empty() && (!varies || options.counts.size() != num_size_classes(schedule)))
    return Status(Code::invalid_argument, fmt::format("{} has {} sizes of blocks, not {}", name_of(schedule.collective),
                                                      num_size_classes(schedule), options.counts.size()));
  const bool is_worth_it =
      options.recorder == nullptr && options.counts.empty() &&
      (options.alike == Alike::always || (options.alike == Alike::from_many && schedule.num_ranks >= kManyRanks));
  Watch watch(options.is_interrupted);
  const std::optional<Symmetry> symmetry =
      is_worth_it ? Symmetry::find(schedule, fabric, options.fusion,
                                   Sizes(schedule, options.count, {}, options.element_size, 0), watch)
                  : std::nullopt;
  std::uint64_t window = options.window;
  if (window == 0 && fabric.queue.slot_bytes > 0 && fabric.queue.long_messages == fabric::LongMessages::rounds) {
    const std::uint32_t longest = longest_message(schedule, options.fusion, symmetry ? 1 : schedule.num_ranks, watch);
    if (longest > 0 && !watch.is_over(0)) {
      window = fabric.queue.slot_bytes / options.element_size / longest;
      if (window == 0)
        return Status(Code::unsupported,
                      fmt::format("{} on {}: a slot of {} bytes is too small for a message of {} pieces, each of at "
                                  "least an element of {}",
                                  schedule.name, fabric.name, fabric.queue.slot_bytes, longest, options.element_size));
    }
  }
  if (watch.is_over(0)) return Status(Code::aborted, fmt::format("{}: interrupted", schedule.name));
  const Sizes sizes(schedule, options.count, options.counts, options.element_size, window);
  Engine engine(schedule, fabric, options, sizes, symmetry ? &*symmetry : nullptr, watch);
  if (const Status wrong = engine.run(); !wrong.ok())
    return Status(wrong.code(), fmt::format("{} on {}: {}", schedule.name, fabric.name, wrong.message()));
  Answer answer = engine.answer();
  for (std::uint32_t rank = 0; options.recorder != nullptr && rank < schedule.num_ranks; ++rank)
    options.recorder->done(rank, answer.rank_times[rank]);
  return answer;
}

}  // namespace tutti::simulate
