// SPDX-License-Identifier: Apache-2.0
// A schedule: for each rank a program, for each program its lanes of steps. Independent of types and bytes.
//
// A schedule does not hold steps: it knows how to start a lane of any rank, and the lane makes its steps one at a time
// (lane.hpp). Whoever needs them all at once, as a plan does, collects them (collect()). Immutable and shareable
// between threads; the programs that it starts are not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schedule/builder.hpp"
#include "schedule/collective.hpp"
#include "schedule/lane.hpp"

namespace tutti {

// The coroutine of one lane: lane number `lane` of the rank that the builder is for.
using LaneFunction = std::function<Lane(Builder& builder, std::uint32_t lane)>;

// A lane that is being walked: the coroutine together with the builder it writes with.
class Walk {
 public:
  Walk(const LaneFunction& function, std::uint32_t rank, std::uint32_t num_ranks, std::uint32_t root,
       std::uint32_t lane)
      : builder_(std::make_unique<Builder>(rank, num_ranks, root)), lane_(function(*builder_, lane)) {}

  // The next step, borrowed until the next call; null after the last.
  [[nodiscard]] const Step* next() { return lane_.next(); }

 private:
  std::unique_ptr<Builder> builder_;  // at a fixed address: the coroutine refers to it
  Lane lane_;
};

struct Schedule {
  std::string name;  // the algorithm's, with its parameters where it has any: "recursive_multiplying(3)"
  Collective collective = Collective::all_reduce;
  std::uint32_t num_ranks = 1;
  std::uint32_t root = 0;
  std::uint32_t num_lanes = 1;
  Spaces spaces;                           // by Space
  OrderClass order = OrderClass::uniform;  // what the algorithm promises and prove holds it to
  // Whether the input may be the same memory as the output (definition.hpp says where), and whether it must be.
  bool allows_in_place = true;
  bool allows_out_of_place = true;
  LaneFunction lane = {};

  [[nodiscard]] const Division& division(Space space) const { return spaces[static_cast<std::size_t>(space)]; }
  [[nodiscard]] Walk walk(std::uint32_t rank, std::uint32_t lane_number) const {
    return {lane, rank, num_ranks, root, lane_number};
  }
};

// All steps of one rank, lane by lane.
struct Program {
  std::vector<std::vector<Step>> lanes;
  [[nodiscard]] std::size_t num_steps() const {
    std::size_t count = 0;
    for (const auto& lane : lanes) count += lane.size();
    return count;
  }
};

enum class Fusion : std::uint8_t { none, neighbours };

// The program of `rank`, its neighbouring steps fused (fuse.hpp) where asked.
[[nodiscard]] Program collect(const Schedule& schedule, std::uint32_t rank, Fusion fusion);

}  // namespace tutti
