// SPDX-License-Identifier: Apache-2.0
// When each step of a schedule happens in a world where every step that moves data takes one unit of time and nothing
// else takes any: what a space-time diagram shows, and how long the longest chain is. One round. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/programs.hpp"

namespace tutti {

// A step's time in units; steps that only order take none.
struct TimedStep {
  std::uint32_t lane = 0;
  std::uint32_t index = 0;  // in the lane
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Data or word that goes from one rank's step to another's.
struct TimedTransfer {
  enum class Kind : std::uint8_t {
    message,  // sent
    read,     // loaded from the other rank's exposure
    write,    // stored into what the other rank opened
    wait,     // nothing but the knowledge of a post
  };
  Kind kind = Kind::message;
  std::uint32_t from_rank = 0;
  std::uint32_t to_rank = 0;
  std::uint32_t begin = 0;  // when it leaves
  std::uint32_t end = 0;    // when whoever needs it begins
};

struct Timeline {
  std::vector<std::vector<TimedStep>> ranks;  // by rank, in the order of time
  std::vector<TimedTransfer> transfers;
  std::uint32_t length = 0;
};

// The programs are of a schedule that prove() has passed.
[[nodiscard]] Timeline timeline_of(const Programs& programs);

}  // namespace tutti
