// SPDX-License-Identifier: Apache-2.0
// One-shot and two-shot all-reduce written out: what the generic walker does with the schedules of those names, step by
// step and with the same flags, for sums of kRanks ranks. So ranks of one call may differ in which of them they run,
// and results are equal to the bit (tests). For host and device.
#pragma once

#include "device/walk/flags.hpp"
#include "device/walk/fold.hpp"
#include "device/walk/walk.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

// The sum of kRanks sources, all of whose loads of a step are under way at once.
template <class Element, unsigned kRanks>
class RanksPass : public AnyPass<RanksPass<Element, kRanks>, 16> {
 public:
  static constexpr unsigned kDeep = kRanks >= 8 ? 2 : 4;

  TUTTI_ON_DEVICE RanksPass(const FoldCall& call, const Operator&) : AnyPass<RanksPass, 16>(call) {}

  template <unsigned kSome, bool kGuarded>
  TUTTI_ON_DEVICE void some(std::uint64_t offset, std::uint64_t stride, unsigned number) const {
    using Row = Lanes<Element, 16>;
    using Wide = typename Element::Wide;
    const FoldCall& call = this->call_;
    Chunk<16> chunks[kSome][kRanks];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned source = 0; source < kRanks; ++source) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i)
        chunks[i][source] =
            is_there<kGuarded>(i, number) ? load<16>(call.sources[source] + offset + i * stride) : Chunk<16>{};
    }
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i) {
      if (!is_there<kGuarded>(i, number)) continue;
      Row total = Row::widened(chunks[i][0]);
      TUTTI_UNROLL
      for (unsigned source = 1; source < kRanks; ++source)
        total.with(Row::widened(chunks[i][source]), [](Wide a, Wide b) { return fold_sum(a, b); });
      const Chunk<16> result = total.narrowed();
      for (std::uint32_t each = 0; each < call.num_destinations; ++each)
        store<16>(call.destinations[each] + offset + i * stride, result);
    }
  }
};

template <class Element, unsigned kRanks, class Platform>
class DirectAllReduce {
 public:
  TUTTI_ON_DEVICE DirectAllReduce(Platform& platform, const WalkCall& call)
      : platform_(platform), call_(call), flags_(platform, call) {}

  // By name out of place; else by way of slots. (In place one_shot is not name-safe.)
  TUTTI_ON_DEVICE bool one_shot() {
    return all_rounds([this](std::uint64_t round) { return one_shot_round(round); });
  }
  // Each rank folds its piece of all inputs, and stores the result into all outputs.
  TUTTI_ON_DEVICE bool two_shot() {
    return all_rounds([this](std::uint64_t round) { return two_shot_round(round); });
  }

 private:
  using Stored = typename Element::Stored;

  template <class Round>
  TUTTI_ON_DEVICE bool all_rounds(const Round& perform) {
    if (flags_.is_broken()) return false;
    for (std::uint64_t round = platform_.channel(); round < call_.num_rounds; round += platform_.num_channels()) {
      if (!perform(round)) {
        flags_.give_up();
        return false;
      }
      flags_.end_round();
    }
    flags_.end();
    return true;
  }

  TUTTI_ON_DEVICE bool one_shot_round(std::uint64_t round) {
    const bool by_name = call_.by_name;
    const PieceRun run = piece_run(call_, 0, round);
    const std::uint64_t offset = run.offset * sizeof(Stored);
    if (!by_name && !copy_to_slot(round, run, offset)) return false;
    flags_.post(0, by_name);
    if (!flags_.await_posts(0)) return false;
    for (unsigned rank = platform_.thread(); rank < kRanks; rank += platform_.num_threads()) {
      if (rank == call_.rank) source(rank) = const_cast<std::byte*>(call_.input) + offset;  // NOLINT: not written
      if (rank != call_.rank) source(rank) = by_name ? flags_.buffer(rank, WordBase::input) + offset : slot(rank);
    }
    if (platform_.thread() == 0) destination(0) = call_.output + offset;
    platform_.sync();
    fold_ranks(run, 1);
    flags_.finish();
    return !by_name || flags_.await_done(flags_.rounds() + 1);
  }

  TUTTI_ON_DEVICE bool two_shot_round(std::uint64_t round) {
    constexpr std::uint32_t kExposed = 1;  // post 0 opens the output
    constexpr std::uint32_t kDone = 2;
    const PieceRun run = piece_run(call_, call_.rank, round);
    const std::uint64_t offset = run.offset * sizeof(Stored);
    flags_.post(kExposed, true);
    if (!flags_.await_posts(kExposed)) return false;
    for (unsigned rank = platform_.thread(); rank < kRanks; rank += platform_.num_threads()) {
      source(rank) = flags_.buffer(rank, WordBase::input) + offset;
      // Each rank stores to itself first and then to the next ranks, so no two begin with the same one.
      const unsigned into = (call_.rank + rank) % kRanks;
      destination(rank) = flags_.buffer(into, WordBase::output) + offset;
    }
    platform_.sync();
    fold_ranks(run, kRanks);
    flags_.post(kDone, false);
    flags_.say_done();
    return flags_.await_posts(kDone);
  }

  TUTTI_ON_DEVICE std::byte*& source(unsigned rank) { return platform_.ends()[rank]; }
  TUTTI_ON_DEVICE std::byte*& destination(unsigned number) { return platform_.ends()[kRanks + number]; }

  TUTTI_ON_DEVICE std::byte* slot(unsigned rank) const {
    return call_.peers[rank].slots + platform_.channel() * call_.slots_bytes + flags_.rounds() % 2 * call_.slot_bytes;
  }

  // The window begins at a multiple of 16 bytes, so data begin at the slot's first byte (Walker::address).
  TUTTI_ON_DEVICE bool copy_to_slot(std::uint64_t round, const PieceRun& run, std::uint64_t offset) {
    const bool is_first = round == platform_.channel();
    if (!flags_.await_done(is_first ? flags_.rounds() : flags_.rounds() - 1)) return false;
    if (platform_.thread() == 0) {
      source(0) = const_cast<std::byte*>(call_.input) + offset;  // NOLINT: not written
      destination(0) = slot(call_.rank);
    }
    platform_.sync();
    fold<Element>(fold_call(run, 1, 1), call_.op);
    return true;
  }

  TUTTI_ON_DEVICE void fold_ranks(const PieceRun& run, std::uint32_t num_destinations) {
    fold<Element, RanksPass<Element, kRanks>>(fold_call(run, kRanks, num_destinations), call_.op);
  }

  TUTTI_ON_DEVICE FoldCall fold_call(const PieceRun& run, std::uint32_t num_sources, std::uint32_t num_destinations) {
    return {.sources = platform_.ends(),
            .destinations = platform_.ends() + kRanks,
            .num_sources = num_sources,
            .num_destinations = num_destinations,
            .raw_source = num_sources,
            .completes = true,
            .count = run.length,
            .tile_shift = call_.tile_shift,
            .first = run.offset,
            .channel = platform_.channel(),
            .num_channels = platform_.num_channels(),
            .thread = platform_.thread(),
            .num_threads = platform_.num_threads()};
  }

  Platform& platform_;
  const WalkCall& call_;
  Flags<Platform> flags_;
};

}  // namespace tutti::device
