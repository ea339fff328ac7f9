// SPDX-License-Identifier: Apache-2.0
// Exclusive scan by recursive doubling: before step k a rank has the fold of the 2^k - 1 ranks in front of it; it sends
// that with its own part folded behind it 2^k ranks up, and folds what comes from 2^k ranks below in front of it.
//
// Meant for small buffers: ceil(log2 N) steps, in each of which the whole buffer is sent by all ranks that have another
// so far above. MPI libraries keep the fold with the own part as well, for which what comes is stored and folded twice;
// here it is made when it is sent, in the same pass. So there are as many folds and a copy less in each step, but a
// result is rounded up to 2(ceil(log2 N) - 1) times. A rank whose fold begins with rank 0 has its result, and sends to
// all that still want it at once. Any number of ranks. One block of scratch: in place, the result would overwrite the
// part that is still to be folded into what is sent.
#include <array>
#include <span>
#include <vector>

#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::exclusive_scan {

namespace {

// Sends the fold of the ranks in front, as far as there is one yet, with the own part behind it.
const Step& send_folded(Builder& b, bool has_fold, std::span<const Endpoint> to) {
  const std::array sources = {local_end(b.scratch(0)), local_end(b.input())};
  return b.combine(std::span(sources).subspan(has_fold ? 0 : 1), to);
}

// All ranks that are this distance, or twice, or four times as far, above.
std::vector<Endpoint> all_above(Builder& b, std::uint64_t distance) {
  std::vector<Endpoint> ranks;
  for (; b.rank() + distance < b.num_ranks(); distance *= 2)
    ranks.push_back(message_end(static_cast<std::uint32_t>(b.rank() + distance), b.input()));
  return ranks;
}

Lane steps(Builder& b) {
  const std::uint32_t rank = b.rank();
  std::uint64_t distance = 1;
  for (; distance <= rank; distance *= 2) {
    const std::vector<Endpoint> above = all_above(b, distance);
    if (!above.empty()) co_yield send_folded(b, distance > 1, std::span(above).first(1));
    const auto from = static_cast<std::uint32_t>(rank - distance);
    if (distance == 1) {
      co_yield b.recv(from, b.scratch(0));
    } else {
      co_yield b.recv_reduce(from, b.scratch(0), b.scratch(0));
    }
  }
  const std::vector<Endpoint> above = all_above(b, distance);
  if (!above.empty()) co_yield send_folded(b, rank > 0, above);
  if (rank > 0) co_yield b.copy(b.scratch(0), b.output());
}

Schedule make(const Request& request) { return one_lane(recursive_doubling, request, steps, 1, 1); }

}  // namespace

const Algorithm recursive_doubling = {
    .name = "recursive_doubling",
    .collective = Collective::exclusive_scan,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "folds of 1, 2, 4, ... ranks go as many ranks up and are folded in front",
    .citation = "W. Hillis, G. Steele, Data parallel algorithms, CACM 29(12), 1986 (here without the own part)",
    .make = make,
};

}  // namespace tutti::exclusive_scan
