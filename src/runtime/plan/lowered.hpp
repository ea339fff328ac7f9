// SPDX-License-Identifier: Apache-2.0
// A call flattened: where every byte of a round lies is worked out once, and what is left to do is a list. For programs
// of direct steps that can be done in one order without waiting in vain: all posts of a round, then the rest; or, of a
// single lane and round on symmetric memory, its own. Of several rounds each carries the next window of every block.
//
// Addresses are offsets from this call's buffers, so a list serves every call of the same plan, count and type. Values.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/call.hpp"

namespace tutti {

struct Lowered {
  enum class Kind : std::uint8_t {
    expose,   // copies `length` elements at `offset` of the input, and posts, or the last does (Call::gathered)
    name,     // posts where the buffer lies
    signal,   // posts
    await,    // waits for the post `post` of `rank`
    combine,  // `length` elements of the ends from `first`, sources first
    move,     // the same of one source to one destination, as they are, few and of a single round
    finish,   // says that this rank reads and writes nothing of others any more
    close,    // waits until all have said so
  };
  // Where an end lies: `offset` bytes from its base.
  struct End {
    enum class Base : std::uint8_t { input, output, scratch, remote };
    Base base = Base::input;
    Space space = Space::input;  // remote and by name: the other rank's buffer
    std::uint32_t rank = 0;      // remote
    std::uint32_t post = 0;
    std::uint64_t offset = 0;
    std::uint32_t expose = 0;  // remote and of a move: the number of that exposure,
    bool in_line = false;      // or that it travels with its flag
  };
  struct Step {
    Kind kind = Kind::signal;
    bool completes = false;
    Space space = Space::input;  // expose and name
    std::uint32_t rank = 0;
    std::uint32_t post = 0;
    std::uint32_t expose = 0;
    std::uint32_t first = 0;
    std::uint32_t num_sources = 0;
    std::uint32_t num_destinations = 0;
    std::uint32_t raw_source = kNoSource;
    std::uint64_t offset = 0;  // bytes
    std::uint64_t length = 0;  // elements, of the first round
  };
  std::vector<Step> steps;
  std::size_t num_posts = 0;  // that stand first
  std::vector<End> ends;
  std::vector<bool> met;  // by rank: something of it is waited for
  // Every other rank's post is waited for: then all have finished the operations before.
  bool meets_all = false;

  // Whether that end of a combine, counted through sources and destinations, is another rank's.
  [[nodiscard]] bool is_remote(const Step& step, std::uint32_t end) const {
    return ends[step.first + end].base == End::Base::remote;
  }
};

// Into `lowered`, whose memory is used again. False where the call's program is none for this.
[[nodiscard]] bool lower(const Call& call, Lowered& lowered);

}  // namespace tutti
