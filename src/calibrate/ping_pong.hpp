// SPDX-License-Identifier: Apache-2.0
// Messages that go back and forth between two ranks, as a schedule: what calibration runs on the machine, and what the
// simulator must be as fast in afterwards. Pure; thread-safe.
//
// A rank sends its own bytes and takes what comes, so that one message is under way in each direction: `hops` times it
// does so in a way of its own (`Hop`), and at last it takes the last message. That is no collective: nothing is left
// but what has gone back and forth.
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

// `steps` steps of one rank that copy its input to its output.
[[nodiscard]] Schedule own_steps(std::uint32_t steps);

}  // namespace tutti::calibrate
