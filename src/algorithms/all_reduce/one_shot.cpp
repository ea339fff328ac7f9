// One-shot all-reduce: every rank exposes its input, then folds all inputs, in rank order, into its own output.
//
// Meant for small messages (one latency, N·n bytes read per rank), and, pipelined over rounds, for two ranks at any
// size. Any number of ranks; no scratch. Two lanes: exposing runs ahead of folding, so that while one round is being
// folded the next is already on its way.
#include "algorithms/all_reduce/all_reduce.hpp"

namespace tutti::all_reduce {

namespace {

Lane exposing(Builder& b) { co_yield b.expose(b.input()); }

Lane folding(Builder& b) {
  // In place the fold overwrites the input, so this rank's own copy must have been taken.
  b.after(0, 0);
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  co_yield b.close();
}

}  // namespace

Schedule make_one_shot(const Request& request) {
  return {
      .name = std::string(kOneShot.name),
      .collective = request.collective,
      .num_ranks = request.num_ranks,
      .root = request.root,
      .num_lanes = 2,
      .spaces = {{{1, 1}, {1, 1}, {}}},
      .order = kOneShot.order,
      .lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : folding(b); },
  };
}

}  // namespace tutti::all_reduce
