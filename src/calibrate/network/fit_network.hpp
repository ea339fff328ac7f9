// SPDX-License-Identifier: Apache-2.0
// Makes the fabric of several hosts from measurements. Pure; thread-safe.
//
// A host has, for each interface, a link up and a link down to what joins all hosts there. If each way of an interface,
// while both send, is slower than the slower way alone, both share one more link of their joint rate. If all hosts at
// once are slower than the slowest host allows, all messages share one more link in the middle. If pairs differ more
// than their hosts explain, each pair has a link of its own instead. Latencies are those while all hosts send, if these
// are longer.
//
// Of several interfaces, ranks of a host take one after another in turn, and two ranks use that of the lower one. A
// route is the one of least latency. So all interfaces have the latencies of the slowest, and another interface than a
// rank's own costs picoseconds. If a host sends less at all of them together than the sum of each alone, what it sends
// shares one more link; then two ranks use the interface of the one that receives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/network/network.hpp"
#include "fabric/fabric.hpp"

namespace tutti::calibrate {

// What of the measurements shows in the fabric.
struct NetworkShape {
  bool has_pairs = false;         // a link for each pair of hosts
  bool has_core = false;          // all hosts share a link
  std::vector<double> latencies;  // of a host's links, where there are none of pairs
  std::vector<double> up;         // rates
  std::vector<double> down;
  std::vector<double> both;  // of both ways together; 0: no limit beside those
  double core = 0;           // what all messages share
  double load = 1;           // how much longer a message takes while all send
};
[[nodiscard]] NetworkShape shape_of(const NetworkMeasurements& measured);

// Of each interface. Where one of them needs links for pairs, all have these.
struct HostsShape {
  std::vector<NetworkShape> interfaces;
  double together = 0;  // what a host sends at all of them; 0: no limit beside theirs
};
[[nodiscard]] HostsShape shape_of(const HostsMeasurements& measured);

// `host_of`: by rank.
[[nodiscard]] fabric::Fabric fabric_of(const HostsMeasurements& measured, const std::vector<std::uint32_t>& host_of);

// What a host sends at those interfaces that were measured together; empty where fewer than two were.
[[nodiscard]] std::string words_of_together(const HostsMeasurements& measured);
// In words, what the fabric is made of.
[[nodiscard]] std::string in_words(const HostsMeasurements& measured);

// The same as a file, with what was measured in front of it.
[[nodiscard]] std::string file_of(const HostsMeasurements& measured, const std::vector<std::uint32_t>& host_of);

}  // namespace tutti::calibrate
