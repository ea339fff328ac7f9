// SPDX-License-Identifier: Apache-2.0
// Messages that go back and forth between two ranks, and swaps, as schedules: what calibration runs on the machine, and
// what the simulator must be as fast in afterwards. Pure; thread-safe.
//
// A rank sends its own bytes and takes what comes, so that one message is under way in each direction: `hops` times it
// does so in a way of its own (`Hop`), and at last it takes the last message.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "schedule/schedule.hpp"

namespace tutti::calibrate {

enum class Hop : std::uint8_t {
  copy,          // takes the message into its output, and sends its input
  fold,          // folds the message with its input into its output, and sends its input
  forward,       // takes the message into its output, and sends it back
  fold_forward,  // folds it with its input into its output, and sends that back
};
inline constexpr std::array kHops = {Hop::copy, Hop::fold, Hop::forward, Hop::fold_forward};
[[nodiscard]] std::string_view name_of(Hop hop);

[[nodiscard]] Schedule ping_pong(Hop hop, std::uint32_t hops);

// Each rank exposes its input, and folds the other's with its own into its output: a swap by direct channels. `Again`:
// it exposes what it has folded, and folds that, or takes a copy of it, `further` times.
enum class Again : std::uint8_t { fold, copy };
[[nodiscard]] Schedule swap(Again again, std::uint32_t further);

// In symmetric memory: each rank folds its half of both inputs and stores it in both outputs, or stores its input in
// the other's output. Then it tells the other.
enum class Shot : std::uint8_t { fold, store };
[[nodiscard]] Schedule shot(Shot shot);

// `steps` steps of one rank that copy its input to its output.
[[nodiscard]] Schedule own_steps(std::uint32_t steps);

}  // namespace tutti::calibrate
