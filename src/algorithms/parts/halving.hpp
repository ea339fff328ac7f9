// SPDX-License-Identifier: Apache-2.0
// What Rabenseifner's algorithm and swing have in common: a reduce-scatter by halving and an all-gather by doubling,
// each in log2 P steps among a power of two of places; they differ in who meets whom. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "algorithms/patterns/fold_in.hpp"
#include "schedule/schedule.hpp"

namespace tutti::parts {

// Who meets whom. Two that meet in a step have exchanged with the same groups before, and keep different halves.
struct Halving {
  std::uint32_t (*peer)(std::uint32_t place, std::uint32_t step, std::uint32_t num_places);
  bool (*keeps_upper)(std::uint32_t place, std::uint32_t step, std::uint32_t num_places);
};

// The lane of a rank. There are as many pieces as places, and at most two ranks a place: these fold half of the buffer
// each before, and the second one gets the whole result in one message behind. The lower rank's part always comes
// first in a fold.
[[nodiscard]] Lane halve_and_double(Builder& b, patterns::FoldIn folded, Halving halving);

}  // namespace tutti::parts
