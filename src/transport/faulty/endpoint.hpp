// SPDX-License-Identifier: Apache-2.0
// For tests: an endpoint that is late, over any other one. Messages are held at their source and at their destination,
// credits are seen late, and for a while steps see nothing. It may also cut a rank off for good. All of it is drawn
// from a seed. Each queue keeps its order; queues overtake each other. One thread at a time, as for any endpoint.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/endpoint.hpp"

namespace tutti::transport::faulty {

// Shares are of a hundred.
struct Faults {
  std::uint64_t seed = 1;
  std::uint32_t delayed = 6;    // messages, at their source, and as many at their destination
  std::uint32_t withheld = 10;  // credits
  std::uint32_t blind = 1;      // steps with which a while begins in which steps see nothing
  std::uint32_t longest = 300;  // steps that any of this lasts, at most
  std::uint64_t cut_after = 0;  // messages, sent and seen together, until one rank of these is cut off; 0: none is
};

// Over an endpoint that it owns, or that outlives it.
[[nodiscard]] std::unique_ptr<Endpoint> make_faulty_endpoint(std::unique_ptr<Endpoint> real, const Faults& faults);
[[nodiscard]] std::unique_ptr<Endpoint> make_faulty_endpoint(Endpoint& real, const Faults& faults);

}  // namespace tutti::transport::faulty
