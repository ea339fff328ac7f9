// SPDX-License-Identifier: Apache-2.0
// Double binary tree all-reduce: each half of the buffer is folded up its own binary tree and handed down again; nobody
// has children in both trees.
//
// Meant for medium and large messages among many ranks: 2·floor(log2 N) steps deep, and no rank sends or receives more
// than 2n, so that pipelined over rounds it has nearly the ring's bandwidth and a tree's latency. Any number of ranks,
// any count; two pieces, no scratch.
//
// Lanes: up and down, for each tree, so that all four are in different rounds of a large message. That wants trees with
// no common neighbours, because a connection is in the care of one lane; below five ranks there are none, and
// everything is in one lane, in an order in which nobody waits for what he could have had before.
#include <array>

#include "algorithms/patterns/double_tree.hpp"
#include "algorithms/registry.hpp"
#include "schedule/ends.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kTrees = 2;
constexpr std::uint32_t kParts = 2 * kTrees;

// What a rank does in one tree, whose number is that of its piece, too.
struct Part {
  std::uint32_t tree = 0;
  bool up = true;
};

// All that a rank does. First what nobody has to wait for, giving away as a leaf; then what others wait for.
std::array<Part, kParts> parts_of(const patterns::DoubleTree& trees, std::uint32_t rank) {
  const std::uint32_t inner = trees.lower_child(1, rank) ? 1 : 0;
  const std::uint32_t leaf = 1 - inner;
  return {Part{leaf, true}, Part{inner, true}, Part{inner, false}, Part{leaf, false}};
}

// Lane number `lane` of `num_lanes`: one of the parts, or all.
Lane steps(Builder& b, std::uint32_t lane, std::uint32_t num_lanes) {
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input(0, kTrees), b.output(0, kTrees));
    co_return;
  }
  const patterns::DoubleTree trees(b.num_ranks());
  const std::array<Part, kParts> all_parts = parts_of(trees, b.rank());
  for (std::uint32_t number = lane; number < kParts; number += num_lanes) {
    const Part part = all_parts[number];
    const Slice input = b.input(part.tree);
    const Slice output = b.output(part.tree);
    const std::optional<std::uint32_t> parent = trees.parent(part.tree, b.rank());
    const std::optional<std::uint32_t> lower = trees.lower_child(part.tree, b.rank());
    const std::optional<std::uint32_t> upper = trees.upper_child(part.tree, b.rank());
    const bool has_children = lower || upper;

    if (part.up && has_children) {
      std::vector<Endpoint> parts;
      if (lower) parts.push_back(message_end(*lower, input));
      parts.push_back(local_end(input));
      if (upper) parts.push_back(message_end(*upper, input));
      if (!parent) b.completing();
      co_yield b.combine(parts, std::array{local_end(output)});
    }
    if (part.up && parent) co_yield has_children ? b.send_away(*parent, output) : b.send(*parent, input);
    if (!part.up && parent) co_yield b.recv(*parent, output);
    // The root turns around at once, which spares it a lane and a pass.
    const bool hands_down = part.up ? !parent : parent.has_value();
    if (hands_down && lower) co_yield b.send(*lower, output);
    if (hands_down && upper) co_yield b.send(*upper, output);
  }
}

Schedule make(const Request& request) {
  const std::uint32_t lanes = request.num_ranks < patterns::kDisjointTrees ? 1 : kParts;
  Schedule schedule = header_of(double_binary_tree, request, kTrees, lanes);
  schedule.lane = [lanes](Builder& b, std::uint32_t lane) { return steps(b, lane, lanes); };
  return schedule;
}

}  // namespace

const Algorithm double_binary_tree = {
    .name = "double_binary_tree",
    .collective = Collective::all_reduce,
    .channel = Channel::message,
    .order = OrderClass::uniform,
    .method = "each half goes up and down a binary tree of its own; nobody has children in both",
    .citation =
        "P. Sanders, J. Speck, J. L. Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, "
        "Parallel Computing 35(12), 2009",
    .make = make,
};

}  // namespace tutti::all_reduce
