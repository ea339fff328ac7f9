// SPDX-License-Identifier: Apache-2.0
// Changes to schedules, one small thing each, that make most of them wrong: what prove is tested with.
//
// A mutation keeps the schedule's form where it can, so that it gets past the checks of form: steps and posts are
// numbered anew, and whoever named them names them still, most of the time. Everything is drawn from a seed. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

enum class Mutation : std::uint8_t {
  drop_step,
  drop_message,  // both ends of one
  double_step,
  double_message,  // both ends
  swap_steps,
  move_step,     // elsewhere in its lane, or into another
  move_post,     // expose, open or signal, elsewhere in its lane
  change_rank,   // another peer, or the other of two channels
  change_piece,  // other pieces of everything that a step names
  change_block,  // of one end
  change_space,  // of one end
  shift_slice,   // of one end: one piece on or back
  widen_slice,   // of everything that a step, or a message, names: a piece more or less
  drop_after,
  change_after,  // another step or lane
  drop_order,    // a close, a wait, or one peer of a wait
  change_post,   // a wait or a direct end names another one
  flip_completes,
  flip_gives_up,
  swap_operands,
};
inline constexpr int kNumMutations = 20;

[[nodiscard]] std::string_view name_of(Mutation mutation);

struct Mutant {
  Mutation mutation = Mutation::drop_step;
  std::string what;  // a line
  Schedule schedule;
};

// One mutant of the schedule; nothing where nothing that was drawn could be changed so. It differs from the schedule in
// at least one step.
[[nodiscard]] std::optional<Mutant> mutate(const Schedule& schedule, std::uint64_t seed);

}  // namespace tutti
