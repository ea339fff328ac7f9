// Bruck's all-gather with any radix k: a rank that has the w blocks from its own on, counted to the right, gets those
// of the ranks w, 2w, ..., (k-1)w to the right and has k·w.
//
// Meant for small blocks: ceil(log_k N) phases for any number of ranks, in each up to k-1 exchanges that do not wait
// for each other; N-1 blocks sent and received per rank, one message each. Blocks are received at their final places,
// since steps name blocks: there is no rotation at the end, and no scratch. Blocks may differ in size.
//
// Two lanes, so that the messages of a phase do not wait for those that come the other way: lane 0 sends, each block
// when it is there; lane 1 receives.
#include <algorithm>

#include "algorithms/registry.hpp"

namespace tutti::all_gather {

namespace {

Lane sending(Builder& b, std::uint32_t radix) {
  const std::uint64_t n = b.num_ranks();
  co_yield b.copy(b.input(), b.output_block(b.rank()));
  for (std::uint64_t known = 1; known < n; known *= radix) {
    for (std::uint64_t shift = known; shift < std::min(n, known * radix); shift += known) {
      const std::uint32_t to = b.neighbour(-static_cast<std::int64_t>(shift));
      for (std::uint32_t distance = 0; distance < std::min(known, n - shift); ++distance) {
        // Blocks come in the order of their distance.
        if (distance > 0) b.after(1, distance - 1);
        co_yield b.send(to, b.output_block(b.neighbour(distance)));
      }
    }
  }
}

Lane receiving(Builder& b, std::uint32_t radix) {
  const std::uint64_t n = b.num_ranks();
  for (std::uint64_t known = 1; known < n; known *= radix) {
    for (std::uint64_t shift = known; shift < std::min(n, known * radix); shift += known) {
      const std::uint32_t from = b.neighbour(static_cast<std::int64_t>(shift));
      for (std::uint64_t distance = shift; distance < std::min(shift + known, n); ++distance)
        co_yield b.recv(from, b.output_block(b.neighbour(static_cast<std::int64_t>(distance))));
    }
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(bruck, request, 1, 2);
  schedule.lane = [radix = request.parameters.radix](Builder& b, std::uint32_t lane) {
    return lane == 0 ? sending(b, radix) : receiving(b, radix);
  };
  return schedule;
}

}  // namespace

const Algorithm bruck = {
    .name = "bruck",
    .collective = Collective::all_gather,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "in each phase a rank gets k-1 times as many blocks as it has, from ranks at growing distances",
    .citation =
        "J. Bruck, C. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in "
        "multiport message-passing systems, IEEE TPDS 8(11), 1997",
    .make = make,
};

}  // namespace tutti::all_gather

namespace tutti::all_gather_v {

const Algorithm bruck = {
    .name = "bruck",
    .collective = Collective::all_gather_v,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .takes = {.radix = true},
    .method = "in each phase a rank gets k-1 times as many blocks as it has, from ranks at growing distances",
    .citation =
        "J. Bruck, C. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in "
        "multiport message-passing systems, IEEE TPDS 8(11), 1997",
    .make = all_gather::make,
};

}  // namespace tutti::all_gather_v
