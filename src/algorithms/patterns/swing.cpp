// SPDX-License-Identifier: Apache-2.0
#include "algorithms/patterns/swing.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/assert.hpp"

namespace tutti::patterns {

namespace {

// 1, -1, 3, -5, 11 …: the sum of (-2)^i for i from 0 to `step`.
std::int64_t distance(std::uint32_t step) {
  std::int64_t sum = 0;
  std::int64_t power = 1;
  for (std::uint32_t i = 0; i <= step; ++i) {
    sum += power;
    power *= -2;
  }
  return sum;
}

std::uint32_t wrapped(std::int64_t rank, std::uint32_t num_ranks) {
  const auto all = static_cast<std::int64_t>(num_ranks);
  const std::int64_t rest = rank % all;
  return static_cast<std::uint32_t>(rest < 0 ? rest + all : rest);
}

// The even one of the rank and its peer in the last step. From step s on, distances are alike modulo 2^(s+1), so the
// bits 1 to s of this number are the same for all ranks that still meet: they tell the groups of ranks apart that the
// steps before have parted.
std::uint32_t even_partner(std::uint32_t rank, std::uint32_t num_ranks) {
  return rank % 2 == 0 ? rank : swing_peer(rank, swing_steps(num_ranks) - 1, num_ranks);
}

}  // namespace

std::uint32_t swing_steps(std::uint32_t num_ranks) { return static_cast<std::uint32_t>(std::bit_width(num_ranks - 1)); }

std::uint32_t swing_peer(std::uint32_t rank, std::uint32_t step, std::uint32_t num_ranks) {
  const std::int64_t offset = distance(step);
  return wrapped(static_cast<std::int64_t>(rank) + (rank % 2 == 0 ? offset : -offset), num_ranks);
}

bool swing_keeps_upper(std::uint32_t rank, std::uint32_t step, std::uint32_t num_ranks) {
  if (step + 1 == swing_steps(num_ranks)) return rank % 2 == 1;
  return (even_partner(rank, num_ranks) >> (step + 1)) % 2 == 1;
}

SwingBlocks::SwingBlocks(std::uint32_t num_ranks)
    : num_ranks_(num_ranks), num_steps_(swing_steps(num_ranks)), steps_(num_ranks), owners_(num_ranks) {
  TUTTI_ASSERT(num_ranks % 2 == 0 && num_ranks > 0, "swing is for even numbers of ranks");
  const std::uint32_t nobody = num_steps_ + 1;
  std::fill(steps_.begin(), steps_.end(), nobody);
  steps_[0] = num_steps_;
  std::vector<std::uint32_t> holders = {0};
  for (std::uint32_t step = num_steps_; step-- > 0;) {
    const std::size_t before = holders.size();
    for (std::size_t i = 0; i < before; ++i) {
      const std::uint32_t peer = swing_peer(holders[i], step, num_ranks);
      if (steps_[peer] != nobody) continue;
      steps_[peer] = step;
      holders.push_back(peer);
    }
  }

  // swing_keeps_upper(), first step first, is a block's place in binary if their number is a power of two.
  std::iota(owners_.begin(), owners_.end(), 0U);
  const auto key = [&](std::uint32_t rank) {
    std::uint64_t bits = 0;
    for (std::uint32_t step = 0; step < num_steps_; ++step)
      bits = 2 * bits + (swing_keeps_upper(rank, step, num_ranks) ? 1 : 0);
    return bits;
  };
  std::stable_sort(owners_.begin(), owners_.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

std::uint32_t SwingBlocks::step_of(std::uint32_t owner, std::uint32_t rank) const {
  const std::int64_t offset = static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(owner);
  return steps_[wrapped(owner % 2 == 0 ? offset : -offset, num_ranks_)];
}

bool SwingBlocks::has_folded(std::uint32_t owner, std::uint32_t rank, std::uint32_t before_step) const {
  for (std::uint32_t step = 0; step < before_step; ++step)
    if (step_of(owner, swing_peer(rank, step, num_ranks_)) == step) return true;
  return false;
}

std::vector<BlockRun> SwingBlocks::reduced(std::uint32_t rank, std::uint32_t step) const {
  const std::uint32_t peer = swing_peer(rank, step, num_ranks_);
  std::vector<BlockRun> runs;
  for (std::uint32_t place = 0; place < num_ranks_; ++place) {
    const std::uint32_t owner = owners_[place];
    if (step_of(owner, rank) != step) continue;
    const BlockRun next{place, 1, has_folded(owner, rank, step), has_folded(owner, peer, step)};
    const bool goes_on = !runs.empty() && runs.back().first + runs.back().count == place &&
                         runs.back().giver_folded == next.giver_folded && runs.back().taker_folded == next.taker_folded;
    if (goes_on)
      ++runs.back().count;
    else
      runs.push_back(next);
  }
  return runs;
}

std::vector<BlockRun> SwingBlocks::gathered(std::uint32_t rank, std::uint32_t step) const {
  std::vector<BlockRun> runs;
  for (std::uint32_t place = 0; place < num_ranks_; ++place) {
    if (step_of(owners_[place], rank) != step) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == place)
      ++runs.back().count;
    else
      runs.push_back({place, 1});
  }
  return runs;
}

}  // namespace tutti::patterns
