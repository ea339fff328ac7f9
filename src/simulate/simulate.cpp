// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "schedule/programs.hpp"
#include "schedule/prove/definition.hpp"
#include "simulate/engine/cursor.hpp"
#include "simulate/engine/engine.hpp"
#include "simulate/engine/symmetry.hpp"
#include "simulate/engine/watch.hpp"

namespace tutti::simulate {

namespace {

// The pieces of the longest message; 0 where there is none. Of ranks that are alike one says it.
std::uint32_t longest_message(const Schedule& schedule, Fusion fusion, const Symmetry* symmetry, Watch& watch) {
  std::uint32_t longest = 0;
  const auto walked = symmetry == nullptr ? schedule.num_ranks : symmetry->representatives().size();
  for (std::uint32_t number = 0; number < walked; ++number) {
    const std::uint32_t rank = symmetry == nullptr ? number : symmetry->representatives()[number];
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

// Elements of a block that all its pieces have whole, where these are hardly more than there are; else those there are.
// Ranks are then alike whose last pieces would be a little shorter.
std::uint64_t count_of_whole_pieces(const Schedule& schedule, std::uint64_t count) {
  constexpr std::uint64_t kMost = 256;  // one in so many may be added
  std::uint64_t pieces = 1;
  for (const Space space : {Space::input, Space::output, Space::scratch})
    pieces = std::max<std::uint64_t>(pieces, schedule.division(space).pieces);
  const std::uint64_t added = (pieces - count % pieces) % pieces;
  return added <= count / kMost ? count + added : count;
}

// As rank 0's steps say; a copy within a rank is of all.
fabric::Channels channels_of(const Schedule& schedule) {
  const auto is_message = [](const Endpoint& end) { return end.place == Place::message; };
  fabric::Channels channels = fabric::Channels::all;
  for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
    Walk walk = schedule.walk(0, lane);
    while (const Step* step = walk.next()) {
      if (is_direct(*step) || is_post(*step)) return fabric::Channels::direct;
      if (std::any_of(step->sources.begin(), step->sources.end(), is_message) ||
          std::any_of(step->destinations.begin(), step->destinations.end(), is_message))
        channels = fabric::Channels::messages;
    }
  }
  return channels;
}

// Whether some rank opens its memory for others to store in.
bool stores(const Schedule& schedule) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    for (std::uint32_t lane = 0; lane < schedule.num_lanes; ++lane) {
      Walk walk = schedule.walk(rank, lane);
      while (const Step* step = walk.next())
        if (step->kind == StepKind::open) return true;
    }
  return false;
}

// The kinds that a direct schedule is of, the narrowest first, if the fabric has costs of these.
std::vector<fabric::Channels> kinds_of(const Schedule& schedule, const fabric::Fabric& fabric) {
  using fabric::Channels;
  const auto has = [&](Channels kind) {
    return std::any_of(fabric.costs.begin(), fabric.costs.end(),
                       [&](const fabric::Costs& costs) { return costs.channels == kind; });
  };
  std::vector<Channels> kinds = {Channels::direct};
  if (has(Channels::stores) && stores(schedule)) return {Channels::stores, Channels::direct};
  if (!has(Channels::one_phase) && !has(Channels::exchange)) return kinds;
  bool is_one_phase = true;
  for (std::uint32_t rank = 0; is_one_phase && rank < schedule.num_ranks; ++rank)
    is_one_phase = posts_first(collect(schedule, rank, Fusion::none));
  if (is_one_phase) kinds.insert(kinds.begin(), Channels::one_phase);
  if (is_exchange(schedule, collect(schedule, 0, Fusion::none))) kinds.insert(kinds.begin(), Channels::exchange);
  return kinds;
}

// The costs of a kind: those with the least limit that covers the bytes, else those without a limit.
std::vector<std::uint32_t> costs_of(fabric::Channels channels, const fabric::Fabric& fabric, double bytes) {
  std::uint64_t limit = 0;
  for (const fabric::Costs& costs : fabric.costs)
    if (costs.channels == channels && static_cast<double>(costs.up_to) >= bytes && costs.up_to > 0 &&
        (limit == 0 || costs.up_to < limit))
      limit = costs.up_to;
  std::vector<std::uint32_t> found;
  for (std::uint32_t number = 0; number < fabric.costs.size(); ++number)
    if (fabric.costs[number].channels == channels && fabric.costs[number].up_to == limit) found.push_back(number);
  return found;
}

// The kinds of costs that may be meant, where those of the ranks are not of such schedules.
std::vector<std::uint32_t> costs_instead(const Schedule& schedule, const fabric::Fabric& fabric, double bytes) {
  const auto is_of_all = [](const fabric::Costs& costs) { return costs.channels == fabric::Channels::all; };
  if (std::all_of(fabric.costs.begin(), fabric.costs.end(), is_of_all)) return {};
  const fabric::Channels wanted = channels_of(schedule);
  const fabric::Costs& usual = fabric.costs[fabric.ranks.front().costs];
  if (wanted == fabric::Channels::all || is_of_all(usual) || usual.channels == wanted) return {};
  if (wanted != fabric::Channels::direct) return costs_of(wanted, fabric, bytes);
  for (const fabric::Channels kind : kinds_of(schedule, fabric))
    if (std::vector<std::uint32_t> found = costs_of(kind, fabric, bytes); !found.empty()) return found;
  return {};
}

// Of all blocks, as benchmarks count; where they differ in size, of blocks of a middling one.
double bytes_of(const Schedule& schedule, const Options& options) {
  auto elements = static_cast<double>(options.count);
  if (!options.counts.empty())
    elements =
        std::accumulate(options.counts.begin(), options.counts.end(), 0.0) / static_cast<double>(options.counts.size());
  return elements * num_blocks(schedule.collective, schedule.num_ranks) * static_cast<double>(options.element_size);
}

Result<Answer> simulate_as_it_is(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
  if (fabric.num_ranks() < schedule.num_ranks)
    return Status(Code::invalid_argument, fmt::format("{} has {}; the schedule is for {}", fabric.name,
                                                      counted(fabric.num_ranks(), "rank"), schedule.num_ranks));
  const bool varies = facts_of(schedule.collective).varies;
  if (!options.counts.empty() && (!varies || options.counts.size() != num_size_classes(schedule)))
    return Status(Code::invalid_argument, fmt::format("{} has {} sizes of blocks, not {}", name_of(schedule.collective),
                                                      num_size_classes(schedule), options.counts.size()));
  const bool is_worth_it =
      options.recorder == nullptr && options.counts.empty() && options.additions == nullptr &&
      (options.alike == Alike::always || (options.alike == Alike::from_many && schedule.num_ranks >= kManyRanks));
  Watch watch(options.is_interrupted);
  const std::uint64_t alike_count = count_of_whole_pieces(schedule, options.count);
  const std::optional<Symmetry> symmetry =
      is_worth_it ? Symmetry::find(schedule, fabric, options.fusion,
                                   Sizes(schedule, alike_count, {}, options.element_size, 0), watch)
                  : std::nullopt;
  std::uint64_t window = options.window;
  if (window == 0 && fabric.queue.slot_bytes > 0 && fabric.queue.long_messages == fabric::LongMessages::rounds) {
    const std::uint32_t longest = longest_message(schedule, options.fusion, symmetry ? &*symmetry : nullptr, watch);
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
  const Sizes sizes(schedule, symmetry ? alike_count : options.count, options.counts, options.element_size, window);
  Engine engine(schedule, fabric, options, sizes, symmetry ? &*symmetry : nullptr, watch);
  if (const Status wrong = engine.run(); !wrong.ok())
    return Status(wrong.code(), fmt::format("{} on {}: {}", schedule.name, fabric.name, wrong.message()));
  Answer answer = engine.answer();
  for (std::uint32_t rank = 0; options.recorder != nullptr && rank < schedule.num_ranks; ++rank)
    options.recorder->done(rank, answer.rank_times[rank]);
  return answer;
}

}  // namespace

Result<Answer> simulate(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options) {
  if (options.own_costs) return simulate_as_it_is(schedule, fabric, options);
  const std::vector<std::uint32_t> instead = costs_instead(schedule, fabric, bytes_of(schedule, options));
  if (instead.empty()) return simulate_as_it_is(schedule, fabric, options);
  fabric::Fabric changed = fabric;
  const auto with = [&](std::uint32_t costs, Recorder* recorder) {
    for (fabric::RankPlacement& rank : changed.ranks) rank.costs = costs;
    Options told = options;
    told.recorder = recorder;
    Result<Answer> answer = simulate_as_it_is(schedule, changed, told);
    if (answer.ok()) answer->costs = fabric.costs[costs].name;
    return answer;
  };
  if (instead.size() == 1) return with(instead.front(), options.recorder);
  std::uint32_t fastest = instead.front();
  Result<Answer> best = with(fastest, nullptr);
  for (std::size_t each = 1; best.ok() && each < instead.size(); ++each) {
    Result<Answer> other = with(instead[each], nullptr);
    if (!other.ok()) return other;
    if (other->time >= best->time) continue;
    best = std::move(other);
    fastest = instead[each];
  }
  return best.ok() && options.recorder != nullptr ? with(fastest, options.recorder) : best;
}

}  // namespace tutti::simulate
