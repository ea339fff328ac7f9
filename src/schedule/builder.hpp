// SPDX-License-Identifier: Apache-2.0
// What an algorithm writes its steps with: each function makes one step of the calling lane and numbers it.
//
//   Lane ring(Builder& b) {
//     co_yield b.send(right, b.input(piece));
//     co_yield b.recv_reduce(left, b.input(next), b.output(next));
//
// A builder belongs to one lane of one rank and outlives it. The step returned is the builder's own buffer, borrowed
// until the next call; `co_yield` hands it to whoever walks the lane. One thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "schedule/step.hpp"

namespace tutti {

class Builder {
 public:
  Builder(std::uint32_t rank, std::uint32_t num_ranks, std::uint32_t root) noexcept
      : rank_(rank), num_ranks_(num_ranks), root_(root) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return num_ranks_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  // The rank `distance` places to the right (left where negative) on the ring of all ranks.
  [[nodiscard]] std::uint32_t neighbour(std::int64_t distance) const;

  // Pieces [first, first + count) of block 0: what collectives with one block (all-reduce) speak of.
  [[nodiscard]] static Slice input(std::uint32_t first = 0, std::uint32_t count = 1) {
    return {Space::input, 0, first, count};
  }
  [[nodiscard]] static Slice output(std::uint32_t first = 0, std::uint32_t count = 1) {
    return {Space::output, 0, first, count};
  }

  // The same of any block, for collectives with a block for each rank.
  [[nodiscard]] static Slice input_block(std::uint32_t block, std::uint32_t first = 0, std::uint32_t count = 1) {
    return {Space::input, block, first, count};
  }
  [[nodiscard]] static Slice output_block(std::uint32_t block, std::uint32_t first = 0, std::uint32_t count = 1) {
    return {Space::output, block, first, count};
  }
  [[nodiscard]] static Slice scratch(std::uint32_t block, std::uint32_t first = 0, std::uint32_t count = 1) {
    return {Space::scratch, block, first, count};
  }

  // `count` whole neighbouring blocks from `first` on, block 0 behind the last one; or, of a longer run, `run` of every
  // `stride` blocks.
  struct Pattern {
    std::uint32_t run = 1;
    std::uint32_t stride = 1;
  };
  [[nodiscard]] static Slice blocks(Space space, std::uint32_t first, std::uint32_t count, Pattern pattern);
  [[nodiscard]] static Slice blocks(Space space, std::uint32_t first, std::uint32_t count) {
    return blocks(space, first, count, Pattern{});
  }

  // Message channel.
  const Step& send(std::uint32_t to, Slice from);
  // Sends a slice that nothing reads again: when this is fused with the step that made it, it is never stored.
  const Step& send_away(std::uint32_t to, Slice from);
  const Step& recv(std::uint32_t from, Slice into);
  // into = the message from `from` folded before `with`.
  const Step& recv_reduce(std::uint32_t from, Slice with, Slice into);
  // The same with the message folded behind `with`.
  const Step& reduce_recv(Slice with, std::uint32_t from, Slice into);

  // Local.
  const Step& copy(Slice from, Slice into);
  const Step& reduce(std::span<const Slice> from, Slice into);

  // Direct channel. `slice` is of the same shape on every rank unless said otherwise.
  const Step& expose(Slice slice);
  const Step& open(Slice slice);
  const Step& signal();
  const Step& wait(std::span<const std::uint32_t> peers, std::uint32_t post);
  const Step& wait_for_all_others(std::uint32_t post);
  const Step& close();
  const Step& pull(std::uint32_t from, std::uint32_t post, Slice slice, Slice into);
  // into = the fold over all ranks, in rank order, of what each has exposed as `slice` with its post `post`; this
  // rank's own contribution is read from its own memory.
  const Step& pull_reduce_all(std::uint32_t post, Slice slice, Slice into);
  // into = the fold, in the order given, of what each of `ranks` has exposed as `slice` with its post `post`; where
  // this rank is among them, its own slice.
  const Step& pull_reduce(std::span<const std::uint32_t> ranks, std::uint32_t post, Slice slice, Slice into);
  // Stores `from` into `slice` of `to`, which it has opened with its post `post`.
  const Step& push(std::uint32_t to, std::uint32_t post, Slice from, Slice slice);
  // Stores `from` into `slice` of every other rank, which each has opened with its post `post`.
  const Step& push_to_all_others(std::uint32_t post, Slice from, Slice slice);

  // Multicast channel: what all ranks have exposed as `slice` with their post `post`, folded by the switch; and a store
  // to the slice that all have opened.
  const Step& multicast_reduce(std::uint32_t post, Slice slice, Slice into);
  const Step& multicast(std::uint32_t post, Slice from, Slice slice);

  // Any step that moves data, for shapes that the functions above have no name for.
  const Step& combine(std::span<const Endpoint> sources, std::span<const Endpoint> destinations);
  // A step that moves data and that another builder made, as the next of this lane: its ends and marks are kept, its
  // number and what it comes after are this lane's.
  const Step& again(const Step& step);

  // The next step's result is complete: see Step::completes. pull_reduce_all() says so by itself.
  void completing() { completing_ = true; }

  // The next step of this lane runs only after step number `step` of `lane` in the same round.
  void after(std::uint32_t lane, std::uint32_t step);

 private:
  Step& start(StepKind kind);

  std::uint32_t rank_;
  std::uint32_t num_ranks_;
  std::uint32_t root_;
  std::uint32_t next_number_ = 0;
  std::uint32_t next_post_ = 0;
  bool completing_ = false;
  std::vector<After> pending_;
  Step step_;
};

}  // namespace tutti
