// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/passes.hpp"

#include <algorithm>

namespace tutti::simulate {

namespace {

bool has_curves(const fabric::Memory& memory) {
  return !memory.bandwidths.empty() || !memory.beside_bandwidths.empty();
}

}  // namespace

Passes::Passes(const fabric::Fabric& fabric, std::uint32_t num_ranks, const Sizes& sizes, bool in_place)
    : fabric_(fabric), kept_(fabric.costs.size()) {
  if (std::none_of(fabric.memories.begin(), fabric.memories.end(), has_curves)) return;
  // All that share a core share its caches.
  std::vector<double> of_core(fabric.cores.size());
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
    of_core[fabric.ranks[rank].core] += sizes.touched(rank, in_place);
  rates_.resize(num_ranks);
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
    const fabric::RankPlacement& place = fabric.ranks[rank];
    const fabric::Memory& memory = fabric.memories[place.memory];
    rates_[rank] = {fabric::rate_at(memory.bandwidths, of_core[place.core]),
                    fabric::rate_at(memory.beside_bandwidths, of_core[place.core])};
  }
}

double Passes::bandwidth(std::uint32_t rank) const {
  const fabric::Memory& memory = fabric_.memories[fabric_.ranks[rank].memory];
  return memory.bandwidths.empty() ? memory.bandwidth : rates_[rank].bandwidth;
}

double Passes::look_up(std::uint32_t number, Kind kind, double bytes) {
  Kept& kept = kept_[number].at(kind);
  if (kept.bytes == bytes) return kept.time;
  const fabric::Costs& costs = fabric_.costs[number];
  const std::array<const fabric::Curve*, kNumKinds> curves = {
      &costs.send_times, &costs.receive_times, &costs.fold_times, &costs.forward_times, &costs.fold_forward_times};
  double time = 0;
  if (!curves.at(kind)->empty()) {
    time = fabric::time_of(*curves.at(kind), bytes);
  } else if (kind == fold) {  // what is not known is the sum of what is
    time = look_up(number, receive, bytes);
  } else if (kind == forward) {
    time = look_up(number, receive, bytes) + look_up(number, send, bytes);
  } else if (kind == fold_forward) {
    time = look_up(number, fold, bytes) + look_up(number, send, bytes);
  }
  kept = {bytes, time};
  return time;
}

double Passes::time_of(std::uint32_t rank, const Pass& pass, double bytes) {
  if (bytes <= 0) return 0;
  const fabric::RankPlacement& place = fabric_.ranks[rank];
  const bool both = pass.from_others > 0 && pass.to_others > 0;
  const Kind kind = both                 ? (pass.folds ? fold_forward : forward)
                    : pass.to_others > 0 ? send
                    : pass.folds         ? fold
                                         : receive;
  double time = look_up(place.costs, kind, bytes);
  if (pass.from_others > 1) time += (pass.from_others - 1) * look_up(place.costs, receive, bytes);
  if (pass.to_others > 1) time += (pass.to_others - 1) * look_up(place.costs, send, bytes);
  if (!rates_.empty() && rates_[rank].beside > 0) time += pass.own_ends * bytes / rates_[rank].beside;
  return time + fabric_.memories[place.memory].latency;
}

double Passes::time_of_any(std::uint32_t rank, const Pass& pass, double bytes) {
  if (!pass.writes) return 0;
  if (pass.from_others > 0 || pass.to_others > 0) return time_of(rank, pass, bytes);
  return time_in_memory(rank, pass.own_ends * bytes, pass.folds ? bytes : 0);
}

double Passes::time_in_memory(std::uint32_t rank, double bytes_moved, double bytes_made) const {
  if (bytes_moved <= 0) return 0;
  const fabric::Memory& memory = fabric_.memories[fabric_.ranks[rank].memory];
  const double rate = bandwidth(rank);
  const double moving = rate > 0 ? bytes_moved / rate : 0;
  const double folding = memory.fold > 0 ? bytes_made / memory.fold : 0;
  return memory.latency + std::max(moving, folding);
}

}  // namespace tutti::simulate
