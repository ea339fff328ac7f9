// Two-shot all-reduce on symmetric memory: rank r folds piece r of every rank's input, in rank order, and stores the
// result into every rank's output in the same pass.
//
// Meant for large messages in symmetric memory: each byte is read once and written once per rank that needs it, with
// no staging. Any number of ranks; no scratch. In place it is right by name, because piece r of every input is read
// by rank r alone.
#include "algorithms/all_reduce/all_reduce.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kExposed = 0;
constexpr std::uint32_t kOpened = 1;
constexpr std::uint32_t kDone = 2;

Lane two_shot(Builder& b) {
  const std::uint32_t all = b.num_ranks();
  const std::uint32_t own = b.rank();
  co_yield b.expose(b.input(0, all));
  co_yield b.open(b.output(0, all));
  co_yield b.pull_reduce_all(kExposed, b.input(own), b.output(own));
  if (all > 1) co_yield b.push_to_all_others(kOpened, b.output(own), b.output(own));
  co_yield b.signal();
  co_yield b.wait_for_all_others(kDone);
}

}  // namespace

Schedule make_two_shot(const Request& request) {
  const Division pieces = {1, request.num_ranks};
  return {
      .name = std::string(kTwoShot.name),
      .collective = request.collective,
      .num_ranks = request.num_ranks,
      .root = request.root,
      .num_lanes = 1,
      .spaces = {{pieces, pieces, {}}},
      .order = kTwoShot.order,
      .lane = [](Builder& b, std::uint32_t) { return two_shot(b); },
  };
}

}  // namespace tutti::all_reduce
