// Ring all-reduce: N pieces; each travels N-1 places to the right while every rank on its way adds its own part, and
// then N-1 places further, being handed out.
//
// Meant for large messages: 2(N-1) steps, and 2·n·(N-1)/N bytes sent per rank, which is the least there can be. Any
// number of ranks, and any count (pieces may be empty); no scratch. After the first half rank r holds piece r+1 whole.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Lane steps(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  if (n == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);

  co_yield b.send(right, b.input(b.rank()));
  for (std::uint32_t step = 1; step < n; ++step) {
    const std::uint32_t piece = b.neighbour(-static_cast<std::int64_t>(step));
    if (step + 1 == n) b.completing();
    co_yield b.recv_reduce(left, b.input(piece), b.output(piece));
    // A partial sum is of no use here once it has gone on; the last one is whole and stays.
    co_yield step + 1 < n ? b.send_away(right, b.output(piece)) : b.send(right, b.output(piece));
  }
  for (std::uint32_t step = 0; step + 1 < n; ++step) {
    const std::uint32_t piece = b.neighbour(-static_cast<std::int64_t>(step));
    co_yield b.recv(left, b.output(piece));
    if (step + 2 < n) co_yield b.send(right, b.output(piece));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(ring, request, request.num_ranks);
  schedule.lane = [](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

}  // namespace

const Algorithm ring = {
    .name = "ring",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "pieces travel once around the ring being reduced, and once more being handed out",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009",
    .make = make,
};

}  // namespace tutti::all_reduce
