// SPDX-License-Identifier: Apache-2.0
// What a probe of a network has measured, and its text form, in which rank 0 hands it to the launcher. Plain values;
// times are nanoseconds and rates bytes a nanosecond. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::calibrate {

// Between two hosts while all others are idle.
struct PairTimes {
  double half_round_trip = 0;  // of 8 bytes
  double one_way = 0;          // the rate of a stream
  double both_ways = 0;        // each way's while both send
};

struct HostTimes {
  std::uint32_t ranks = 1;  // that were measured there
  double out = 0;           // a rate: to all other hosts at once; 0 where there is one other host
  double in = 0;            // from all of them
  double send = 0;          // of a core, for a message of 8 bytes
  double receive = 0;
  double fold = 0;      // a rate of its memory: two sources to one destination, all of them counted
  double near_hop = 0;  // between two of its ranks, 8 bytes; 0 where it has one
  double near_rate = 0;
};

// Every host sends to one and receives from another, over and over: what a step takes.
struct StepTime {
  std::uint64_t bytes = 0;
  double time = 0;
};

struct NetworkMeasurements {
  std::vector<std::string> names;  // of hosts; not in the text form
  std::string date;                // nor is this
  std::string interface;           // nor this: what the hosts call it; empty where ranks take none in turn
  std::vector<HostTimes> hosts;
  std::vector<PairTimes> pairs;  // from host i to host j at i · hosts + j; nothing where they are one
  std::vector<StepTime> steps;   // by rising size
  double all = 0;                // the rate of a stream from each host while all send
  std::uint32_t slots = 0;       // of a queue between hosts
  std::uint64_t slot_bytes = 0;

  [[nodiscard]] std::size_t num_hosts() const { return hosts.size(); }
  [[nodiscard]] const PairTimes& pair(std::size_t from, std::size_t to) const {
    return pairs[from * hosts.size() + to];
  }
  [[nodiscard]] PairTimes& pair(std::size_t from, std::size_t to) { return pairs[from * hosts.size() + to]; }
};

// Interfaces that ranks of a host take in turn, each measured alone: those that all hosts have, and at which all reach
// each other. One at least.
struct HostsMeasurements {
  std::vector<NetworkMeasurements> interfaces;
  // For each the rate of a stream from each host while all hosts send at all of them; 0, or none, where that was not
  // measured.
  std::vector<double> together;
};

// Lines of words and numbers, the last of which is "end".
[[nodiscard]] std::string to_lines(const NetworkMeasurements& measured);
// An error where something is missing, or a number is none that can have been measured.
[[nodiscard]] Result<NetworkMeasurements> from_lines(std::string_view text);
// The same for HostsMeasurements::together.
[[nodiscard]] std::string to_line(const std::vector<double>& together);
[[nodiscard]] Result<std::vector<double>> together_from_line(std::string_view text);

}  // namespace tutti::calibrate
