// SPDX-License-Identifier: Apache-2.0
#include "calibrate/ping_pong.hpp"

namespace tutti::calibrate {

namespace {

Lane back_and_forth(Builder& b, Hop hop, std::uint32_t hops) {
  const std::uint32_t peer = 1 - b.rank();
  co_yield b.send(peer, b.input());
  for (std::uint32_t i = 0; i < hops; ++i) {
    const bool folds = hop == Hop::fold || hop == Hop::fold_forward;
    const bool forwards = hop == Hop::forward || hop == Hop::fold_forward;
    if (folds) {
      co_yield b.recv_reduce(peer, b.input(), b.output());
    } else {
      co_yield b.recv(peer, b.output());
    }
    co_yield b.send(peer, forwards ? b.output() : b.input());
  }
  co_yield b.recv(peer, b.output());
}

Lane swaps(Builder& b, Again again, std::uint32_t further) {
  const std::uint32_t peer = 1 - b.rank();
  co_yield b.expose(b.input());
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  for (std::uint32_t post = 1; post <= further; ++post) {
    co_yield b.expose(b.output());
    if (again == Again::fold) co_yield b.pull_reduce_all(post, b.output(), b.output());
    if (again == Again::copy) co_yield b.pull(peer, post, b.output(), b.output());
  }
  co_yield b.close();
}

Lane shots(Builder& b, Shot shot) {
  const Slice half = b.input(b.rank());
  co_yield b.open(b.output(0, 2));
  if (shot == Shot::fold) {
    co_yield b.expose(b.input(0, 2));
    co_yield b.pull_reduce_all(1, half, b.output(b.rank()));
    co_yield b.push_to_all_others(0, b.output(b.rank()), b.output(b.rank()));
  } else {
    co_yield b.push_to_all_others(0, b.input(0, 2), b.output(0, 2));
  }
  co_yield b.signal();
  co_yield b.wait_for_all_others(shot == Shot::fold ? 2 : 1);
}

Lane copies(Builder& b, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps; ++i) co_yield b.copy(b.input(), b.output());
}

Schedule schedule_of(std::string name) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.num_ranks = 2;
  // Buffers as those of an all-reduce: a block in, and one out.
  schedule.collective = Collective::all_reduce;
  schedule.spaces = spaces_of(Collective::all_reduce, 2);
  return schedule;
}

}  // namespace

std::string_view name_of(Hop hop) {
  switch (hop) {
    case Hop::copy: return "copy";
    case Hop::fold: return "fold";
    case Hop::forward: return "forward";
    case Hop::fold_forward: return "fold_forward";
  }
  return "";
}

Schedule ping_pong(Hop hop, std::uint32_t hops) {
  Schedule schedule = schedule_of("ping_pong_" + std::string(name_of(hop)));
  schedule.lane = [hop, hops](Builder& b, std::uint32_t) { return back_and_forth(b, hop, hops); };
  return schedule;
}

Schedule swap(Again again, std::uint32_t further) {
  Schedule schedule = schedule_of(again == Again::fold ? "swap_fold" : "swap_copy");
  schedule.lane = [again, further](Builder& b, std::uint32_t) { return swaps(b, again, further); };
  return schedule;
}

Schedule shot(Shot shot) {
  Schedule schedule = schedule_of(shot == Shot::fold ? "shot_fold" : "shot_store");
  schedule.spaces = spaces_of(Collective::all_reduce, 2, 2);
  schedule.lane = [shot](Builder& b, std::uint32_t) { return shots(b, shot); };
  return schedule;
}

Schedule own_steps(std::uint32_t steps) {
  Schedule schedule = schedule_of("own_steps");
  schedule.lane = [steps](Builder& b, std::uint32_t) { return copies(b, steps); };
  return schedule;
}

}  // namespace tutti::calibrate
