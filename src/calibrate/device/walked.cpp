// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/walked.hpp"

#include <fmt/format.h>

#include "schedule/builder.hpp"

namespace tutti::calibrate {

namespace {

Lane steps(Builder& b, std::uint32_t signals) {
  co_yield b.expose(b.input());
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  for (std::uint32_t post = 1; post <= signals; ++post) {
    co_yield b.signal();
    co_yield b.wait_for_all_others(post);
  }
  co_yield b.close();
}

}  // namespace

Schedule exchange_and_signals(std::uint32_t ranks, std::uint32_t signals) {
  Schedule schedule;
  schedule.name = fmt::format("exchange_and_{}_signals", signals);
  schedule.num_ranks = ranks;
  schedule.collective = Collective::all_reduce;
  schedule.spaces = spaces_of(Collective::all_reduce, ranks);
  schedule.lane = [signals](Builder& b, std::uint32_t) { return steps(b, signals); };
  return schedule;
}

}  // namespace tutti::calibrate
