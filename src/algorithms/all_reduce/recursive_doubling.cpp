// SPDX-License-Identifier: Apache-2.0
// Recursive doubling all-reduce: recursive multiplying with radix 2, under the name that the literature gives it. In
// each round pairs of ranks, twice as far apart as before, exchange all they have and fold it.
//
// Meant for small messages: log2 N rounds of one message with the whole buffer for a power of two, and
// floor(log2 N) + 2 for any other number of ranks. One piece; no scratch; results are in rank order.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Schedule make(const Request& request) {
  Request with_two = request;
  with_two.parameters.radix = 2;
  Schedule schedule = recursive_multiplying.make(with_two);
  schedule.name = full_name(recursive_doubling, request);
  return schedule;
}

}  // namespace

const Algorithm recursive_doubling = {
    .name = "recursive_doubling",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "in each round pairs of ranks, twice as far apart as before, exchange all they have and fold it",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005",
    .make = make,
};

}  // namespace tutti::all_reduce
