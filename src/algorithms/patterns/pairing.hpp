// SPDX-License-Identifier: Apache-2.0
// Who exchanges with whom, and when, where everybody exchanges with everybody: the circle method of round-robin
// tournaments. In each step every rank has one partner, whose partner it is, so that what goes both ways between two
// ranks goes in one step. Each rank meets each rank once, itself as well: N steps.
//
// With an even number of ranks one step is everybody's meeting with itself, the last, and in no other is anybody idle.
// With an odd number one rank meets itself in each step.
//
// A value and pure functions; thread-safe.
#pragma once

#include <cstdint>

namespace tutti::patterns {

class Pairing {
 public:
  explicit Pairing(std::uint32_t num_ranks);

  [[nodiscard]] std::uint32_t num_steps() const { return num_ranks_; }
  // Whom `rank` meets in this step; perhaps itself.
  [[nodiscard]] std::uint32_t partner(std::uint32_t rank, std::uint32_t step) const;
  // The step in which the two meet; either may be named first.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t rank, std::uint32_t other) const;
  // How many others `rank` has met before it meets this one.
  [[nodiscard]] std::uint32_t turn_of(std::uint32_t rank, std::uint32_t other) const;

 private:
  std::uint32_t num_ranks_;
  // The ranks on the circle: an odd number. With an even number of ranks the last stands in the middle of it and meets
  // whoever would meet itself.
  std::uint32_t circle_;
};

}  // namespace tutti::patterns
