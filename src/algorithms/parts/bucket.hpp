// SPDX-License-Identifier: Apache-2.0
// What bucket all-reduces on tori are made of. A torus has a ring along each dimension. There is a share of the buffer
// for each dimension: it is reduce-scattered along that one first and along the others after it, and all-gathered back
// the same ways, so that all dimensions are busy at all times. Pure; thread-safe.
//
//   first dimension    share 0 ↘  scatter   share 2 ↘ scatter   share 1    both ways   …   share 0 gather
//   second dimension   share 1    scatter   share 0 ↘ scatter   share 2    both ways   …   share 1 gather
//   third dimension    share 2    scatter   share 1   scatter   share 0    both ways   …   share 2 gather
#pragma once

#include "algorithms/algorithm.hpp"

namespace tutti::parts {

// The all-reduce on the request's grid. Dimensions with one rank are left out; with one dimension it is a ring of all
// pieces. A lane for each dimension: a connection then has one lane at each end also where a dimension has two ranks,
// whose neighbours to both sides are the same.
[[nodiscard]] Schedule buckets(const Algorithm& algorithm, const Request& request);

}  // namespace tutti::parts
