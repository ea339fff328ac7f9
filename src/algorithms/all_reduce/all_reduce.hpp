// The all-reduce algorithms: a row each, written in the file of the same name.
#pragma once

#include "algorithms/algorithm.hpp"

namespace tutti::all_reduce {

Schedule make_one_shot(const Request& request);
Schedule make_two_shot(const Request& request);
Schedule make_ring(const Request& request);

inline constexpr Algorithm kOneShot = {
    .name = "one_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .method = "every rank exposes its whole input, and every rank folds all of them for itself",
    .citation = "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (as the flat exchange)",
    .make = make_one_shot,
};

inline constexpr Algorithm kTwoShot = {
    .name = "two_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::symmetric,
    .order = OrderClass::ordered,
    .method = "rank r folds piece r of all inputs in place and stores the result into every rank's output",
    .citation =
        "R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004 (reduce-scatter, then "
        "all-gather; here both by load and store)",
    .make = make_two_shot,
};

inline constexpr Algorithm kRing = {
    .name = "ring",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "pieces travel once around the ring being reduced, and once more being handed out",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009",
    .make = make_ring,
};

}  // namespace tutti::all_reduce
