// SPDX-License-Identifier: Apache-2.0
#include "loss/turn.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tutti::test {

namespace {

// An element depends on who gives it, when, and on its place in its block; so what came from elsewhere shows.
std::int32_t given(int rank, int turn, std::size_t place) {
  return 1000 * turn + rank + 16 * static_cast<std::int32_t>(place % 61);
}

// What an element of an output block is, on a rank that has it.
std::optional<std::int32_t> expected(const Turn& turn, const Caller& caller, int block, std::size_t place) {
  const auto sum = [&](int ranks) {
    std::int32_t total = 0;
    for (int each = 0; each < ranks; ++each) total += given(each, caller.turn, place);
    return total;
  };
  const bool is_root = caller.rank == turn.root;
  switch (turn.called) {
    case Called::all_reduce:
    case Called::reduce_scatter: return sum(caller.num_ranks);
    case Called::reduce: return is_root ? std::optional(sum(caller.num_ranks)) : std::nullopt;
    case Called::all_gather:
    case Called::all_to_all: return given(block, caller.turn, place);
    case Called::gather: return is_root ? std::optional(given(block, caller.turn, place)) : std::nullopt;
    case Called::broadcast:
    case Called::scatter: return given(turn.root, caller.turn, place);
    case Called::scan: return sum(caller.rank + 1);
    case Called::exclusive_scan: return caller.rank > 0 ? std::optional(sum(caller.rank)) : std::nullopt;
    case Called::barrier: return std::nullopt;
  }
  return std::nullopt;
}

bool gives_blocks(Called called) {
  return called == Called::reduce_scatter || called == Called::all_to_all || called == Called::scatter;
}
bool gets_blocks(Called called) {
  return called == Called::all_gather || called == Called::all_to_all || called == Called::gather;
}

}  // namespace

Turn make_turn(std::minstd_rand& random, int num_ranks, std::size_t most) {
  const auto counts = std::to_array<std::size_t>({0, 2, 2, 12, 100, 1000, 7000, 50'000, most / 4, most});
  Turn turn;
  turn.called = static_cast<Called>(random() % kNumCalled);
  turn.count = std::min(counts[random() % counts.size()], most);
  turn.root = static_cast<int>(random() % static_cast<unsigned>(num_ranks));
  turn.symmetric = random() % 3 == 0;
  turn.in_place = random() % 3 == 0;
  if (gives_blocks(turn.called) || gets_blocks(turn.called))
    turn.count = std::min(turn.count, most / static_cast<std::size_t>(num_ranks));
  return turn;
}

void fill(const Turn& turn, const Caller& caller, std::int32_t* in) {
  const int blocks = gives_blocks(turn.called) ? caller.num_ranks : 1;
  for (int block = 0; block < blocks; ++block)
    for (std::size_t place = 0; place < turn.count; ++place) *in++ = given(caller.rank, caller.turn, place);
}

tuttiResult_t call(const Turn& turn, const std::int32_t* in, std::int32_t* out, tuttiComm_t comm) {
  const std::size_t count = turn.count;
  switch (turn.called) {
    case Called::all_reduce: return tuttiAllReduce(in, out, count, tuttiInt32, tuttiSum, comm);
    case Called::all_gather: return tuttiAllGather(in, out, count, tuttiInt32, comm);
    case Called::reduce_scatter: return tuttiReduceScatter(in, out, count, tuttiInt32, tuttiSum, comm);
    case Called::broadcast: return tuttiBroadcast(in, out, count, tuttiInt32, turn.root, comm);
    case Called::reduce: return tuttiReduce(in, out, count, tuttiInt32, tuttiSum, turn.root, comm);
    case Called::all_to_all: return tuttiAlltoAll(in, out, count, tuttiInt32, comm);
    case Called::gather: return tuttiGather(in, out, count, tuttiInt32, turn.root, comm);
    case Called::scatter: return tuttiScatter(in, out, count, tuttiInt32, turn.root, comm);
    case Called::scan: return tuttiScan(in, out, count, tuttiInt32, tuttiSum, comm);
    case Called::exclusive_scan: return tuttiExScan(in, out, count, tuttiInt32, tuttiSum, comm);
    case Called::barrier: return tuttiBarrier(comm);
  }
  return tuttiInternalError;
}

bool is_right(const Turn& turn, const Caller& caller, const std::int32_t* out) {
  for (int block = 0; block < (gets_blocks(turn.called) ? caller.num_ranks : 1); ++block)
    for (std::size_t place = 0; place < turn.count; ++place) {
      const auto value = expected(turn, caller, block, place);
      if (!value) break;
      if (out[static_cast<std::size_t>(block) * turn.count + place] != *value) return false;
    }
  return true;
}

}  // namespace tutti::test
