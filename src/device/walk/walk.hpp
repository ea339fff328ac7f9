// SPDX-License-Identifier: Apache-2.0
// The generic walker: every program of direct steps, of any type and operator, by all threads of a channel.
// A Platform (flags.hpp) also has ends(): room for the addresses of kMostEnds ends that its threads share.
#pragma once

#include "device/walk/flags.hpp"
#include "device/walk/fold.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

// Where the elements of piece `piece` that `round` carries stand in their block: see schedule/layout.hpp.
struct PieceRun {
  std::uint64_t offset;
  std::uint64_t length;
};
TUTTI_ON_DEVICE PieceRun piece_run(const WalkCall& call, std::uint32_t piece, std::uint64_t round) {
  const std::uint64_t begin = piece * call.piece;
  if (begin >= call.count) return {call.count, 0};
  const std::uint64_t whole = call.count - begin < call.piece ? call.count - begin : call.piece;
  // A round of tiles takes them from the whole piece.
  if (call.tile_shift != kNoTiles) return {begin, whole};
  const std::uint64_t skipped = round * call.window;
  if (skipped >= whole) return {begin + whole, 0};
  return {begin + skipped, whole - skipped < call.window ? whole - skipped : call.window};
}

template <class Element, class Platform>
class Walker {
 public:
  TUTTI_ON_DEVICE Walker(Platform& platform, const WalkCall& call)
      : platform_(platform), call_(call), flags_(platform, call) {}

  // False after a failure, which is written down; then the flags of all ranks are of no use any more.
  TUTTI_ON_DEVICE bool walk() {
    if (flags_.is_broken()) return false;
    for (round_ = platform_.channel(); round_ < call_.num_rounds; round_ += platform_.num_channels()) {
      if (!walk_round()) {
        flags_.give_up();
        return false;
      }
      flags_.end_round();
    }
    flags_.end();
    return true;
  }

 private:
  TUTTI_ON_DEVICE bool walk_round() {
    for (std::uint32_t at = 0; at < call_.num_steps; ++at)
      if (!perform(call_.steps[at])) return false;
    return true;
  }

  TUTTI_ON_DEVICE bool perform(const WordStep& step) {
    switch (step.kind) {
      case WordKind::expose:
        if (!await_slot() || !combine(step)) return false;
        flags_.post(step.post, false);
        return true;
      case WordKind::name: flags_.post(step.post, true); return true;
      case WordKind::signal: flags_.post(step.post, false); return true;
      case WordKind::wait: return await_ends(step);
      case WordKind::combine: return combine(step);
      case WordKind::finish: flags_.finish(); return true;
      case WordKind::close: return flags_.await_done(flags_.rounds() + 1);
    }
    return true;
  }

  // Rounds use the two halves of the slots in turn. A call's first round waits for all earlier rounds, since slots of
  // earlier calls may have lain elsewhere.
  TUTTI_ON_DEVICE bool await_slot() {
    const bool is_first = round_ == platform_.channel();
    return flags_.await_done(is_first ? flags_.rounds() : flags_.rounds() - 1);
  }

  TUTTI_ON_DEVICE bool await_ends(const WordStep& step) {
    bool is_there = true;
    for (std::uint32_t end = platform_.thread(); end < num_ends(step); end += platform_.num_threads())
      is_there = is_there && flags_.await_post(call_.ends[step.first_end + end].rank, step.post);
    return platform_.all(is_there);
  }

  TUTTI_ON_DEVICE bool combine(const WordStep& step) {
    for (std::uint32_t piece = step.first_piece; piece < step.first_piece + step.num_pieces; ++piece) {
      const PieceRun run = piece_run(call_, piece, round_);
      bool is_there = true;
      for (std::uint32_t each = platform_.thread(); each < num_ends(step); each += platform_.num_threads()) {
        const WordEnd& end = call_.ends[step.first_end + each];
        if (end.is_remote && piece == step.first_piece) is_there = is_there && flags_.await_post(end.rank, end.post);
        if (is_there) platform_.ends()[each] = address(end, piece, run);
      }
      if (!platform_.all(is_there)) return false;
      const FoldCall fold_call = {.sources = platform_.ends(),
                                  .destinations = platform_.ends() + step.num_sources,
                                  .num_sources = step.num_sources,
                                  .num_destinations = step.num_destinations,
                                  .raw_source = step.raw_source,
                                  .completes = step.completes,
                                  .count = run.length,
                                  .tile_shift = call_.tile_shift,
                                  .first = run.offset,
                                  .channel = platform_.channel(),
                                  .num_channels = platform_.num_channels(),
                                  .thread = platform_.thread(),
                                  .num_threads = platform_.num_threads()};
      if (run.length > 0) fold<Element>(fold_call, call_.op);
      // The next step reads what other threads stored, and overwrites the shared addresses.
      platform_.sync();
    }
    return true;
  }

  TUTTI_ON_DEVICE static std::uint32_t num_ends(const WordStep& step) {
    return std::uint32_t{step.num_sources} + step.num_destinations;
  }

  TUTTI_ON_DEVICE std::byte* address(const WordEnd& end, std::uint32_t piece, const PieceRun& run) const {
    const std::uint64_t in_buffer = (end.block * call_.count + run.offset) * call_.element;
    const std::uint32_t owner = end.is_remote ? end.rank : call_.rank;
    const Peer& peer = call_.peers[owner];
    switch (end.base) {
      case WordBase::slot: {
        // As far behind a multiple of 16 bytes as the data are behind the buffer's beginning, so that all ends are
        // aligned equally if buffers begin at such multiples.
        const std::uint64_t slot = flags_.rounds() % 2 * call_.exposes_per_round + end.expose;
        return peer.slots + platform_.channel() * call_.slots_bytes + slot * call_.slot_bytes +
               (piece - end.exposed_piece) * call_.slot_stride + in_buffer % 16;
      }
      case WordBase::scratch: {
        const std::uint64_t place = std::uint64_t{end.block} * call_.pieces + piece;
        return peer.scratch + platform_.channel() * call_.scratch_bytes + place * call_.slot_stride +
               run.offset * call_.element % 16;
      }
      default: break;
    }
    if (end.is_remote) return flags_.buffer(end.rank, end.base) + in_buffer;
    if (end.base == WordBase::output) return call_.output + in_buffer;
    return const_cast<std::byte*>(call_.input) + in_buffer;  // NOLINT: a source; ends have one type
  }

  Platform& platform_;
  const WalkCall& call_;
  Flags<Platform> flags_;
  std::uint64_t round_ = 0;
};

}  // namespace tutti::device
