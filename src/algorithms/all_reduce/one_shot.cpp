// SPDX-License-Identifier: Apache-2.0
// One-shot all-reduce: every rank exposes its input, then folds all inputs, in rank order, into its own output.
//
// Meant for small messages (one latency, N·n bytes read per rank), and, pipelined over rounds, for two ranks at large
// sizes. Any number of ranks; no scratch. Two lanes: exposing runs ahead of folding, so that while one round is being
// folded the next is already on its way.
#include "algorithms/registry.hpp"

namespace tutti::all_reduce {

namespace {

Lane exposing(Builder& b) { co_yield b.expose(b.input()); }

Lane folding(Builder& b) {
  // In place the fold overwrites the input, so this rank's own copy must have been taken.
  b.after(0, 0);
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  co_yield b.close();
}

Schedule make(const Request& request) {
  Schedule schedule = header_of(one_shot, request, 1, 2);
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? exposing(b) : folding(b); };
  return schedule;
}

}  // namespace

const Algorithm one_shot = {
    .name = "one_shot",
    .collective = Collective::all_reduce,
    .channel = Channel::staged,
    .order = OrderClass::ordered,
    .name_safe = true,
    .method = "every rank exposes its whole input, and every rank folds all of them for itself",
    .citation =
        "A. Shah, A. Jangda, B. Li, C. Rocha, C. Hwang, J. Jose, M. Musuvathi, O. Saarikivi, P. Cheng, Q. Zhou, "
        "R. Dathathri, S. Maleki, Z. Yang, MSCCL++: rethinking GPU communication abstractions for cutting-edge AI "
        "applications, arXiv 2504.09014, 2025 (one-phase all-pairs)",
    .make = make,
};

}  // namespace tutti::all_reduce
