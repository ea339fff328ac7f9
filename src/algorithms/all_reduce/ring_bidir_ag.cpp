// Ring all-reduce with a bidirectional all-gather: the reduce-scatter goes around to the right as in the ring; then
// finished shards go out both ways at once.
//
// N shards, one piece each. Reduce-scatter: N-1 rounds to the right, after which rank r owns shard r+1. All-gather:
// ceil((N-1)/2) rounds to the right and, at the same time, floor((N-1)/2) rounds to the left. So there are
// (N-1) + ceil((N-1)/2) rounds instead of the ring's 2(N-1), with as much sent: 2·n·(N-1)/N a rank. Meant for medium
// and large messages. Any number of ranks, and any count; no scratch. Two lanes, the second for the way to the left;
// up to two ranks have nothing to go left.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

// The step of the lane to the right in which a rank's own shard becomes whole: a send, then pairs of a fold and a send,
// of which it is the last fold.
std::uint32_t step_that_completes(std::uint32_t num_ranks) { return 2 * (num_ranks - 1) - 1; }

Lane to_the_right(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  if (n == 1) {
    b.completing();
    co_yield b.copy(b.input(), b.output());
    co_return;
  }
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);

  co_yield b.send(right, b.input(b.rank()));
  for (std::uint32_t round = 1; round < n; ++round) {
    const std::uint32_t shard = b.neighbour(-static_cast<std::int64_t>(round));
    const bool is_whole = round + 1 == n;
    if (is_whole) b.completing();
    co_yield b.recv_reduce(left, b.input(shard), b.output(shard));
    co_yield is_whole ? b.send(right, b.output(shard)) : b.send_away(right, b.output(shard));
  }
  const std::uint32_t rounds = n / 2;  // ceil((n-1)/2)
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t shard = b.neighbour(-static_cast<std::int64_t>(round));
    co_yield b.recv(left, b.output(shard));
    if (round + 1 < rounds) co_yield b.send(right, b.output(shard));
  }
}

Lane to_the_left(Builder& b) {
  const std::uint32_t n = b.num_ranks();
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);
  const std::uint32_t rounds = (n - 1) / 2;

  b.after(0, step_that_completes(n));
  co_yield b.send(left, b.output(b.neighbour(1)));
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const std::uint32_t shard = b.neighbour(std::int64_t{1} + round);
    co_yield b.recv(right, b.output(shard));
    if (round < rounds) co_yield b.send(left, b.output(shard));
  }
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(ring_bidir_ag, request, request.num_ranks, request.num_ranks <= 2 ? 1 : 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? to_the_right(b) : to_the_left(b); };
  return schedule;
}

}  // namespace

const Algorithm ring_bidir_ag = {
    .name = "ring_bidir_ag",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "shards are reduced on their way around the ring to the right, then handed out both ways at once",
    .citation =
        "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "JPDC 69(2), 2009 (the ring; here with an all-gather in both directions)",
    .make = make,
};

}  // namespace tutti::all_reduce
