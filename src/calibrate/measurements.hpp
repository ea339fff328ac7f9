// SPDX-License-Identifier: Apache-2.0
// What calibration has measured. Plain values; times are nanoseconds and rates bytes a nanosecond.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/steadiness.hpp"
#include "calibrate/topology.hpp"

namespace tutti::calibrate {

// One hop of a message of so many bytes, by what is done at its end (ping_pong.hpp).
struct HopTimes {
  std::uint64_t bytes = 0;
  double copy = 0;
  double fold = 0;
  double forward = 0;
  double fold_forward = 0;
};

// A call in which two ranks swap so many bytes by direct channels (ping_pong.hpp), one in which they do so twice, and
// what each further swap adds.
struct SwapTimes {
  std::uint64_t bytes = 0;
  double once = 0;
  double twice = 0;
  double fold = 0;
  double copy = 0;
};

// A call in symmetric memory (ping_pong.hpp); `bytes` is the size of its input, and of its output.
struct ShotTimes {
  std::uint64_t bytes = 0;
  double fold = 0;
  double store = 0;
};

// An all-reduce of two ranks in the runtime's own way for small ones.
struct SmallTime {
  std::uint64_t bytes = 0;
  double call = 0;
};

// Of own memory, with a working set of so many bytes on each of both cores at once.
struct OwnRate {
  std::uint64_t working_set = 0;
  double fold_bandwidth = 0;  // two sources to one destination, all of them counted
  double exchange = 0;        // a message of the longest kind each way, from and to buffers that make up the working
                              // set: a slot's time; 0 where it was not measured
};

// A copying hop between cores that are farther from each other than those of all else.
struct FartherHop {
  Apart distance = Apart::caches;
  double shortest = 0;  // 8 bytes
  double longest = 0;   // a slot
  bool is_steady = true;
};

struct Measurements {
  std::string machine;              // in words
  std::string date;                 // "2026-11-22"
  std::vector<CorePlace> places;    // of all cores
  Apart near = Apart::not_at_all;   // how far those are that all is of
  std::vector<FartherHop> farther;  // by rising distance
  // Of which passes all this is, and how still the machine kept: its mark is a call of some hops of 8 bytes.
  std::uint32_t passes = 0;
  Steadiness steadiness;
  std::uint64_t slot_bytes = 0;
  std::uint32_t slots = 0;
  double call = 0;               // from a program's call until its first step, and back
  double step = 0;               // what the runtime takes for a step beside moving bytes
  double core_switch = 0;        // from one process of a core to the next
  std::vector<HopTimes> hops;    // by rising size
  std::vector<SwapTimes> swaps;  // by rising size
  std::vector<ShotTimes> shots;  // by rising size
  std::vector<SmallTime> small;  // by rising size; empty where the runtime has no such way
  std::uint64_t small_end = 0;   // bytes from which on it has none
  std::vector<OwnRate> own;      // by rising working set
};

}  // namespace tutti::calibrate
