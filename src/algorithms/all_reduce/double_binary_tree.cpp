// Double binary tree all-reduce: each half of the buffer is folded up its own binary tree and handed down again; nobody
// has children in both trees.
//
// Meant for medium and large messages among many ranks: about 2·log2 N steps deep, and pipelined over rounds a rank
// sends at most 2n and a bit, so it has nearly the ring's bandwidth and a tree's latency. Any number of ranks, any
// count; two pieces, no scratch.
//
// Lanes: up and down, for each tree, so that all four are in different rounds of a large message. That wants trees with
// no common neighbours, because a connection is in the care of one lane; below five ranks there are none, and
// everything is in one lane.
#include <array>
#include <span>

#include "algorithms/patterns/double_tree.hpp"
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

constexpr std::uint32_t kTrees = 2;

// What a lane does, in this order; the number of a tree is that of its piece, too.
struct Part {
  std::uint32_t tree = 0;
  bool up = true;
};

constexpr std::array kParts = {Part{0, true}, Part{1, true}, Part{0, false}, Part{1, false}};

// Lane number `lane` of `num_lanes`: one of the parts, or all.
Lane steps(Builder& b, std::uint32_t lane, std::uint32_t num_lanes) {
  if (b.num_ranks() == 1) {
    b.completing();
    co_yield b.copy(b.input(0, kTrees), b.output(0, kTrees));
    co_return;
  }
  const bool is_only = num_lanes == 1;
  const patterns::DoubleTree trees(b.num_ranks());
  for (std::uint32_t number = is_only ? 0 : lane; number < (is_only ? kParts.size() : lane + 1); ++number) {
    const Part part = kParts[number];
    const Slice input = b.input(part.tree);
    const Slice output = b.output(part.tree);
    const std::optional<std::uint32_t> parent = trees.parent(part.tree, b.rank());
    const std::optional<std::uint32_t> lower = trees.lower_child(part.tree, b.rank());
    const std::optional<std::uint32_t> upper = trees.upper_child(part.tree, b.rank());
    const bool has_children = lower || upper;

    if (part.up && has_children) {
      std::vector<Endpoint> parts;
      if (lower) parts.push_back({Place::message, *lower, 0, input});
      parts.push_back({Place::local, 0, 0, input});
      if (upper) parts.push_back({Place::message, *upper, 0, input});
      if (!parent) b.completing();
      const Endpoint into{Place::local, 0, 0, output};
      co_yield b.combine(parts, std::span(&into, 1));
    }
    if (part.up && parent) co_yield has_children ? b.send_away(*parent, output) : b.send(*parent, input);
    if (!part.up && parent) co_yield b.recv(*parent, output);
    // The root turns around at once, which spares it a lane and a pass; but not in one lane with the other tree, where
    // messages have to be in the order in which its neighbours take them.
    const bool hands_down = part.up ? !parent && !is_only : parent || is_only;
    if (hands_down && lower) co_yield b.send(*lower, output);
    if (hands_down && upper) co_yield b.send(*upper, output);
  }
}

Schedule make(const Request& request) {
  const std::uint32_t lanes = request.num_ranks < patterns::kDisjointTrees ? 1 : kParts.size();
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
