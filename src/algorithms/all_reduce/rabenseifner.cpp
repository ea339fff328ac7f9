// SPDX-License-Identifier: Apache-2.0
// Rabenseifner's all-reduce: a reduce-scatter by recursive halving, an all-gather by recursive doubling.
//
// Meant for medium and large messages: 2·log2 N steps, and 2·n·(N-1)/N sent per rank, which is the least there can be.
// A power of two P of places has P pieces; no scratch. Any other number of ranks: the first 2(N-P) ranks are pairs.
// Each of a pair folds one half of both buffers, the second hands its half to the first, who goes on alone and hands
// back the whole result: four messages, of which two cross, and 2.5·n sent more between the two.
//
// Halving goes with doubling of the distance: neighbours meet first, so what a rank has folded is always a run of
// ranks, and results are in rank order.
#include "algorithms/parts/halving.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

std::uint32_t peer(std::uint32_t place, std::uint32_t step, std::uint32_t /*num_places*/) {
  return place ^ (1U << step);
}

bool keeps_upper(std::uint32_t place, std::uint32_t step, std::uint32_t /*num_places*/) {
  return (place >> step) % 2 == 1;
}

Schedule make(const Request& request) {
  const std::uint32_t places = patterns::floor_power(request.num_ranks, 2);
  Schedule schedule = header_of(rabenseifner, request, places);
  const patterns::FoldIn folded(request.num_ranks, places);
  schedule.lane = [folded](Builder& b, std::uint32_t) {
    return parts::halve_and_double(b, folded, {peer, keeps_upper});
  };
  return schedule;
}

}  // namespace

const Algorithm rabenseifner = {
    .name = "rabenseifner",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "a reduce-scatter by recursive halving, then an all-gather by recursive doubling",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004; R. Rabenseifner, J. L. Träff, "
        "More efficient reduction algorithms for non-power-of-two number of processors in message-passing parallel "
        "systems, EuroPVM/MPI 2004",
    .make = make,
};

}  // namespace tutti::all_reduce
