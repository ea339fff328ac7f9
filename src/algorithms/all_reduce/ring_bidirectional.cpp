// Bidirectional ring all-reduce: two rings in opposite directions, each for half of every block, all the way.
//
// Meant for large messages where links carry as much in each direction at the same time: 2(N-1) steps as in the ring,
// each with half as much, and each direction of a link carries n·(N-1)/N. Any number of ranks, and any count; no
// scratch. 2N pieces; one lane a direction. Two ranks are each other's neighbours on both sides, so they have one lane,
// in which both halves travel together: the plain ring.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

// One direction: which way pieces go, and which pieces of each block.
struct Direction {
  std::int64_t onwards = 1;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
};

constexpr std::uint32_t kHalves = 2;

Lane steps(Builder& b, Direction direction) {
  const std::uint32_t n = b.num_ranks();
  const auto piece_of = [direction](std::uint32_t block) { return kHalves * block + direction.first; };
  const auto input = [=](std::uint32_t block) { return Builder::input(piece_of(block), direction.count); };
  const auto output = [=](std::uint32_t block) { return Builder::output(piece_of(block), direction.count); };
  if (n == 1) {
    b.completing();
    co_yield b.copy(input(0), output(0));
    co_return;
  }
  const std::uint32_t next = b.neighbour(direction.onwards);
  const std::uint32_t previous = b.neighbour(-direction.onwards);

  co_yield b.send(next, input(b.rank()));
  for (std::uint32_t step = 1; step < n; ++step) {
    const std::uint32_t block = b.neighbour(-direction.onwards * step);
    const bool is_whole = step + 1 == n;
    if (is_whole) b.completing();
    co_yield b.recv_reduce(previous, input(block), output(block));
    co_yield is_whole ? b.send(next, output(block)) : b.send_away(next, output(block));
  }
  for (std::uint32_t step = 0; step + 1 < n; ++step) {
    const std::uint32_t block = b.neighbour(-direction.onwards * step);
    co_yield b.recv(previous, output(block));
    if (step + 2 < n) co_yield b.send(next, output(block));
  }
}

Schedule make(const Request& request) {
  const bool one_lane = request.num_ranks <= 2;
  Schedule schedule = header_of(ring_bidirectional, request, kHalves * request.num_ranks, one_lane ? 1 : 2);
  schedule.lane = [one_lane](Builder& b, std::uint32_t lane) {
    if (one_lane) return steps(b, {.onwards = 1, .first = 0, .count = kHalves});
    return steps(b, {.onwards = lane == 0 ? 1 : -1, .first = lane, .count = 1});
  };
  return schedule;
}

}  // namespace

const Algorithm ring_bidirectional = {
    .name = "ring_bidirectional",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "half of each block travels around the ring to the right, the other half to the left",
    .citation =
        "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, Collective communication: theory, practice, and "
        "experience, Concurrency and Computation 19(13), 2007 (the bucket algorithm, here one each way on half of "
        "every block)",
    .make = make,
};

}  // namespace tutti::all_reduce
