// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/definition.hpp"

namespace tutti {

std::optional<Expected> expected_output(const Schedule& schedule, std::uint32_t rank, Origin output) {
  const std::uint32_t all = schedule.num_ranks;
  const auto folded = [&](std::uint32_t block) { return Expected{{block, output.piece}, 0, all}; };
  const auto copied = [&](std::uint32_t from, std::uint32_t block) {
    return Expected{{block, output.piece}, from, from + 1};
  };
  switch (schedule.collective) {
    case Collective::all_reduce: return folded(0);
    case Collective::all_gather:
    case Collective::all_gather_v: return copied(output.block, 0);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return folded(rank);
    case Collective::broadcast: return copied(schedule.root, 0);
    case Collective::reduce: return rank == schedule.root ? std::optional(folded(0)) : std::nullopt;
    case Collective::all_to_all:
    case Collective::all_to_all_v: return copied(output.block, rank);
    case Collective::gather:
    case Collective::gather_v: return rank == schedule.root ? std::optional(copied(output.block, 0)) : std::nullopt;
    case Collective::scatter:
    case Collective::scatter_v: return copied(schedule.root, rank);
    case Collective::scan: return Expected{{0, output.piece}, 0, rank + 1};
    case Collective::exclusive_scan:
      return rank > 0 ? std::optional(Expected{{0, output.piece}, 0, rank}) : std::nullopt;
    case Collective::barrier: return std::nullopt;
  }
  return std::nullopt;
}

bool has_block(const Schedule& schedule, std::uint32_t rank, Space space, std::uint32_t block) {
  if (space == Space::scratch) return true;
  if (space == Space::output) return expected_output(schedule, rank, {block, 0}).has_value();
  switch (schedule.collective) {
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::scatter_v: return rank == schedule.root;
    default: return true;
  }
}

std::optional<std::uint32_t> contributions_of_result(const Schedule& schedule) {
  const bool scans = schedule.collective == Collective::scan || schedule.collective == Collective::exclusive_scan;
  if (!facts_of(schedule.collective).folds || scans) return std::nullopt;
  return schedule.num_ranks;
}

std::optional<std::uint32_t> input_behind(const Schedule& schedule, std::uint32_t rank, std::uint32_t output_block) {
  const auto if_so = [](bool same, std::uint32_t block) { return same ? std::optional(block) : std::nullopt; };
  switch (schedule.collective) {
    case Collective::all_reduce:
    case Collective::scan:
    case Collective::exclusive_scan: return 0;
    case Collective::all_gather:
    case Collective::all_gather_v: return if_so(output_block == rank, 0);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return rank;
    case Collective::broadcast:
    case Collective::reduce: return if_so(rank == schedule.root, 0);
    case Collective::all_to_all:
    case Collective::all_to_all_v: return output_block;
    case Collective::gather:
    case Collective::gather_v: return if_so(rank == schedule.root && output_block == rank, 0);
    case Collective::scatter:
    case Collective::scatter_v: return if_so(rank == schedule.root, rank);
    case Collective::barrier: return std::nullopt;
  }
  return std::nullopt;
}

std::uint32_t num_size_classes(const Schedule& schedule) {
  if (!facts_of(schedule.collective).varies) return 1;
  const std::uint32_t all = schedule.num_ranks;
  return schedule.collective == Collective::all_to_all_v ? all * all : all;
}

std::uint32_t size_class(const Schedule& schedule, std::uint32_t rank, Space space, std::uint32_t block) {
  const CollectiveFacts& facts = facts_of(schedule.collective);
  if (!facts.varies) return 0;
  // Each pair has a size: from the block's rank to this one where it comes in, the other way where it goes out.
  if (schedule.collective == Collective::all_to_all_v)
    return space == Space::input ? rank * schedule.num_ranks + block : block * schedule.num_ranks + rank;
  const bool many = space == Space::input ? facts.many_inputs : facts.many_outputs;
  return many ? block : rank;
}

}  // namespace tutti
