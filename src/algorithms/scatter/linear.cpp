// Linear scatter: the root sends every rank its block.
//
// Meant for large blocks and few ranks: the root sends N-1 messages, which is the least there can be, all others
// receive one. Any number of ranks, any root; no scratch. With blocks of different sizes it is the same.
#include "algorithms/registry.hpp"

namespace tutti::scatter {

namespace {

constexpr std::string_view kMethod = "the root sends every rank its block";
constexpr std::string_view kCitation =
    "MPI Forum, MPI: a message-passing interface standard, 1994 (the definition of MPI_Scatter)";

Lane steps(Builder& b) {
  if (b.rank() != b.root()) {
    co_yield b.recv(b.root(), b.output());
    co_return;
  }
  for (std::uint32_t distance = 1; distance < b.num_ranks(); ++distance)
    co_yield b.send(b.neighbour(distance), b.input_block(b.neighbour(distance)));
  co_yield b.copy(b.input_block(b.rank()), b.output());
}

Schedule with_steps(Schedule schedule) {
  schedule.lane = [](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

Schedule make(const Request& request) { return with_steps(header_of(linear, request, 1)); }

}  // namespace

const Algorithm linear = {
    .name = "linear",
    .collective = Collective::scatter,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = kMethod,
    .citation = kCitation,
    .make = make,
};

}  // namespace tutti::scatter

namespace tutti::scatter_v {

namespace {

Schedule make(const Request& request) { return scatter::with_steps(header_of(linear, request, 1)); }

}  // namespace

const Algorithm linear = {
    .name = "linear",
    .collective = Collective::scatter_v,
    .channel = Channel::message,
    .order = OrderClass::ordered,
    .method = scatter::kMethod,
    .citation = scatter::kCitation,
    .make = make,
};

}  // namespace tutti::scatter_v
