// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder.hpp"

#include <utility>

#include "base/assert.hpp"
#include "schedule/ends.hpp"

namespace tutti {

std::uint32_t Builder::neighbour(std::int64_t distance) const {
  const auto ranks = static_cast<std::int64_t>(num_ranks_);
  const std::int64_t place = (static_cast<std::int64_t>(rank_) + distance) % ranks;
  return static_cast<std::uint32_t>(place < 0 ? place + ranks : place);
}

Step& Builder::start(StepKind kind) {
  step_.kind = kind;
  step_.number = next_number_++;
  step_.post = 0;
  step_.gives_up_source = false;
  step_.completes = std::exchange(completing_, false);
  step_.sources.clear();
  step_.destinations.clear();
  step_.peers.clear();
  step_.after.swap(pending_);
  pending_.clear();
  return step_;
}

Slice Builder::blocks(Space space, std::uint32_t first, std::uint32_t count, Pattern pattern) {
  Slice slice{space, first, 0, 1, count};
  // What is one run has only one way of writing it.
  if (count > pattern.run && pattern.stride > pattern.run) {
    slice.run = pattern.run;
    slice.stride = pattern.stride;
  }
  return slice;
}

void Builder::after(std::uint32_t lane, std::uint32_t step) { pending_.push_back({lane, step}); }

const Step& Builder::send(std::uint32_t to, Slice from) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(from));
  step.destinations.push_back(message_end(to, from));
  return step;
}

const Step& Builder::send_away(std::uint32_t to, Slice from) {
  send(to, from);
  step_.gives_up_source = true;
  return step_;
}

const Step& Builder::recv(std::uint32_t from, Slice into) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(message_end(from, into));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::recv_reduce(std::uint32_t from, Slice with, Slice into) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(message_end(from, with));
  step.sources.push_back(local_end(with));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::reduce_recv(Slice with, std::uint32_t from, Slice into) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(with));
  step.sources.push_back(message_end(from, with));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::copy(Slice from, Slice into) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(from));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::reduce(std::span<const Slice> from, Slice into) {
  Step& step = start(StepKind::combine);
  for (const Slice& slice : from) step.sources.push_back(local_end(slice));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::expose(Slice slice) {
  Step& step = start(StepKind::expose);
  step.post = next_post_++;
  step.sources.push_back(local_end(slice));
  return step;
}

const Step& Builder::open(Slice slice) {
  Step& step = start(StepKind::open);
  step.post = next_post_++;
  step.sources.push_back(local_end(slice));
  return step;
}

const Step& Builder::signal() {
  Step& step = start(StepKind::signal);
  step.post = next_post_++;
  return step;
}

const Step& Builder::wait(std::span<const std::uint32_t> peers, std::uint32_t post) {
  Step& step = start(StepKind::wait);
  step.post = post;
  step.peers.assign(peers.begin(), peers.end());
  return step;
}

const Step& Builder::wait_for_all_others(std::uint32_t post) {
  Step& step = start(StepKind::wait);
  step.post = post;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
    if (rank != rank_) step.peers.push_back(rank);
  return step;
}

const Step& Builder::close() { return start(StepKind::close); }

const Step& Builder::pull(std::uint32_t from, std::uint32_t post, Slice slice, Slice into) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(remote_end(from, post, slice));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::pull_reduce_all(std::uint32_t post, Slice slice, Slice into) {
  Step& step = start(StepKind::combine);
  step.completes = true;
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
    step.sources.push_back(rank == rank_ ? local_end(slice) : remote_end(rank, post, slice));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::pull_reduce(std::span<const std::uint32_t> ranks, std::uint32_t post, Slice slice, Slice into) {
  Step& step = start(StepKind::combine);
  for (const std::uint32_t rank : ranks)
    step.sources.push_back(rank == rank_ ? local_end(slice) : remote_end(rank, post, slice));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::push(std::uint32_t to, std::uint32_t post, Slice from, Slice slice) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(from));
  step.destinations.push_back(remote_end(to, post, slice));
  return step;
}

const Step& Builder::multicast_reduce(std::uint32_t post, Slice slice, Slice into) {
  Step& step = start(StepKind::combine);
  step.completes = true;
  step.sources.push_back(multicast_end(post, slice));
  step.destinations.push_back(local_end(into));
  return step;
}

const Step& Builder::multicast(std::uint32_t post, Slice from, Slice slice) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(from));
  step.destinations.push_back(multicast_end(post, slice));
  return step;
}

const Step& Builder::push_to_all_others(std::uint32_t post, Slice from, Slice slice) {
  Step& step = start(StepKind::combine);
  step.sources.push_back(local_end(from));
  for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
    if (rank != rank_) step.destinations.push_back(remote_end(rank, post, slice));
  return step;
}

const Step& Builder::combine(std::span<const Endpoint> sources, std::span<const Endpoint> destinations) {
  Step& step = start(StepKind::combine);
  step.sources.assign(sources.begin(), sources.end());
  step.destinations.assign(destinations.begin(), destinations.end());
  return step;
}

const Step& Builder::again(const Step& step) {
  TUTTI_ASSERT(step.kind == StepKind::combine, "steps that order nothing but data can be written again");
  combine(step.sources, step.destinations);
  step_.gives_up_source = step.gives_up_source;
  step_.completes = step_.completes || step.completes;
  return step_;
}

}  // namespace tutti
