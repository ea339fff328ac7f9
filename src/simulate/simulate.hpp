// SPDX-License-Identifier: Apache-2.0
// A schedule in virtual time: the same programs as everywhere, walked by all ranks of a fabric at once, each step when
// what it waits for has come and as long as the fabric says that it takes. Deterministic. docs/design/simulate.md has
// the model.
//
// Data goes along as fingerprints, so that an answer is also a check: a result that does not hold what the collective
// defines is an error, and so is a schedule that gets stuck.
//
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "schedule/schedule.hpp"
#include "simulate/engine/additions.hpp"
#include "simulate/engine/recorder.hpp"
#include "simulate/network/network.hpp"
#include "simulate/shares.hpp"

namespace tutti::simulate {

// Ranks that are alike are simulated once where that is worth looking for: from this many ranks on. Pieces that are
// short because a block has few elements less than they could have are then taken to be whole.
enum class Alike : std::uint8_t { never, from_many, always };
inline constexpr std::uint32_t kManyRanks = 8192;

struct Options {
  std::uint64_t count = 0;  // elements of a block
  // Where blocks differ in size, instead: elements of each size class (schedule/definition.hpp). None: all are alike.
  std::vector<std::uint64_t> counts = {};
  std::uint64_t element_size = 1;
  Fusion fusion = Fusion::neighbours;
  bool staged = true;        // exposing copies; else it names the memory itself
  std::uint64_t window = 0;  // elements of a piece that a round carries; 0: as many as the fabric's queues take
  Alike alike = Alike::from_many;
  Recorder* recorder = nullptr;  // borrowed; is told all that happens
  // Of a schedule that stands for a trace (trace/lay_out.hpp); borrowed.
  const Additions* additions = nullptr;
  bool check = true;       // carry fingerprints; left out where they would not fit in kMostFingerprints
  bool own_costs = false;  // those of the ranks count, whatever the schedule's channel
  bool in_place = false;   // a copy within a rank whose ends are the same then takes no time
  // Looked at often, whatever the schedule; true ends it.
  std::function<bool()> is_interrupted = [] { return false; };
};
// 1 GiB of them.
inline constexpr std::uint64_t kMostFingerprints = std::uint64_t{1} << 27U;
// As much memory for what is under way at once, and for the links of ways between ranks; beyond them it is not done.
inline constexpr std::uint64_t kMostAccesses = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t kMostLinksKept = std::uint64_t{1} << 28U;

struct Answer {
  double time = 0;                 // until the last rank is done: nanoseconds
  std::vector<double> rank_times;  // of each
  std::uint32_t slowest = 0;       // the rank that the time is of; the first one of those alike
  Shares shares;                   // what its time went for, along the chain of who waited for whom
  std::vector<LinkUse> links;      // by number
  std::uint64_t rounds = 1;
  std::uint64_t messages = 0;
  std::uint32_t ranks_walked = 0;  // less than all where these have stood for others like them
  std::uint64_t events = 0;
  bool checked = false;
  std::string costs;  // the kind of costs, where it was chosen because of the schedule's channel
};

// Where the ranks' costs are not of schedules of its channel, those that are count: the fastest of them, as a library
// chooses its protocol.
//
// Code::unsupported where the fabric cannot do it: it has no switch that multicasts, or too few or too small slots;
// and where it would take too much memory.
// Code::aborted after an interrupt. Any other error is the schedule's.
[[nodiscard]] Result<Answer> simulate(const Schedule& schedule, const fabric::Fabric& fabric, const Options& options);

}  // namespace tutti::simulate
