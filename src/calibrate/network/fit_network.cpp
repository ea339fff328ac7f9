// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network/fit_network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "calibrate/measure.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/generators/draft.hpp"

namespace tutti::calibrate {

namespace {

constexpr double kShortOf = 0.85;      // below this share of what the parts allow, something that they share limits
constexpr double kPairRate = 0.6;      // below this share of what its two hosts allow, a pair is slower by itself
constexpr double kPairLatency = 0.15;  // a pair may differ from its hosts by this share
constexpr double kPairNanos = 2'000;   // or by this time, whichever is more
constexpr double kLeastLatency = 0.1;  // the least share of a hop that counts as latency, not as overhead

// Four digits, which are more than a network keeps to, in a unit that files have.
double rounded_rate(double value) {
  if (value <= 0) return 0;
  const std::string text = value < 1 ? fmt::format("{:.4g}MB/s", value * 1e3) : fmt::format("{:.4g}GB/s", value);
  return fabric::parse_rate(text).ok() ? *fabric::parse_rate(text) : value;
}
double rounded_time(double value) {
  if (value <= 0) return 0;
  const std::string text = value < 1e3   ? fmt::format("{:.4g}ns", value)
                           : value < 1e6 ? fmt::format("{:.4g}us", value / 1e3)
                                         : fmt::format("{:.4g}ms", value / 1e6);
  return fabric::parse_time(text).ok() ? *fabric::parse_time(text) : value;
}

// A stream hides the copying of its messages; what limits rates may let short messages pass.
double all_ways(const NetworkMeasurements& measured) {
  const StepTime& shortest = measured.steps.front();
  const StepTime& longest = measured.steps.back();
  const double taken = std::max(longest.time - shortest.time, longest.time / 10);
  return std::max(measured.all, static_cast<double>(longest.bytes - shortest.bytes) / taken);
}

double half_round_trip(const NetworkMeasurements& measured, std::size_t one, std::size_t other) {
  return (measured.pair(one, other).half_round_trip + measured.pair(other, one).half_round_trip) / 2;
}

// Of each host, so that the sum of two is nearest to what their pair takes.
std::vector<double> latencies_of(const NetworkMeasurements& measured) {
  const std::size_t hosts = measured.num_hosts();
  if (hosts == 2) return std::vector<double>(2, half_round_trip(measured, 0, 1) / 2);
  std::vector<double> sums(hosts);
  for (std::size_t one = 0; one < hosts; ++one)
    for (std::size_t other = 0; other < hosts; ++other)
      if (one != other) sums[one] += half_round_trip(measured, one, other);
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0) / 2;
  const auto count = static_cast<double>(hosts);
  for (double& sum : sums) sum = std::max(0.0, (sum - all / (count - 1)) / (count - 2));
  return sums;
}

bool pairs_differ(const NetworkMeasurements& measured, const NetworkShape& shape) {
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      if (from == to) continue;
      const double taken = half_round_trip(measured, from, to);
      const double off = std::abs(shape.latencies[from] + shape.latencies[to] - taken);
      if (off > std::max(kPairLatency * taken, kPairNanos)) return true;
      const double allowed = std::min(shape.up[from], shape.down[to]);
      if (measured.pair(from, to).one_way < kPairRate * allowed) return true;
    }
  }
  return false;
}

double overhead_of(const NetworkMeasurements& measured, double HostTimes::*which) {
  std::vector<double> all;
  for (const HostTimes& host : measured.hosts) all.push_back(host.*which);
  return rounded_time(median_of(std::move(all)));
}

// What is left of a hop for its way.
double way_of(const NetworkMeasurements& measured, double hop) {
  const double overheads = overhead_of(measured, &HostTimes::send) + overhead_of(measured, &HostTimes::receive);
  return std::max(hop - overheads, kLeastLatency * hop);
}

fabric::Link link_of(double bandwidth, double latency) {
  fabric::Link link;
  link.bandwidth = rounded_rate(bandwidth);
  link.latency = rounded_time(latency);
  return link;
}

// Makes nodes and links; a host's messages leave by one node and come by another, or by the same.
class NetworkDraft {
 public:
  NetworkDraft(const NetworkMeasurements& measured, const std::vector<std::uint32_t>& host_of)
      : measured_(measured), host_of_(host_of), shape_(shape_of(measured)) {}

  [[nodiscard]] fabric::Fabric make() && {
    add_hosts();
    if (shape_.has_pairs) {
      add_pairs();
    } else {
      add_star();
    }
    return std::move(draft_).finish({});
  }

 private:
  struct Ends {
    std::uint32_t out = 0;
    std::uint32_t in = 0;
  };

  [[nodiscard]] fabric::Position place_of(std::size_t host, double share) const {
    const auto hosts = static_cast<std::uint32_t>(measured_.num_hosts());
    return fabric::on_circle(static_cast<std::uint32_t>(host), hosts, share * 3 * fabric::room_for(hosts));
  }

  void add_hosts() {
    std::vector<std::uint32_t> counts(measured_.num_hosts());
    for (const std::uint32_t host : host_of_) ++counts[host];
    std::vector<std::uint32_t> nodes(measured_.num_hosts());
    // Ranks are in the order of their nodes.
    std::vector<std::uint32_t> seen(measured_.num_hosts());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> inner;
    for (const std::uint32_t host : host_of_) {
      const std::string& name = measured_.names[host];
      fabric::Position at = place_of(host, 1);
      at.x += 0.7 * seen[host];
      const std::uint32_t node = draft_.add_node(counts[host] == 1 ? name : fmt::format("{} {}", name, seen[host]), at);
      if (counts[host] == 1) nodes[host] = node;
      if (counts[host] > 1) inner.emplace_back(host, node);
      ++seen[host];
    }
    for (std::size_t host = 0; host < nodes.size(); ++host)
      if (counts[host] > 1) nodes[host] = draft_.add_switch(measured_.names[host], place_of(host, 0.75));
    for (const auto& [host, node] : inner) draft_.add_both(node, nodes[host], near_link(measured_.hosts[host]));
    for (std::size_t host = 0; host < nodes.size(); ++host) ends_.push_back(add_interface(host, nodes[host]));
  }
  // Two of them are between two ranks.
  [[nodiscard]] fabric::Link near_link(const HostTimes& host) const {
    return link_of(host.near_rate, way_of(measured_, host.near_hop) / 2);
  }

  Ends add_interface(std::size_t host, std::uint32_t node) {
    const std::string& name = measured_.names[host];
    const bool shares = shape_.both[host] > 0;
    if (!shares && !shape_.has_pairs) return {node, node};
    const std::uint32_t out = draft_.add_switch(name + " out", place_of(host, 0.5));
    const std::uint32_t in = draft_.add_switch(name + " in", place_of(host, 0.6));
    const fabric::Link up = link_of(shape_.up[host], 0);
    const fabric::Link down = link_of(shape_.down[host], 0);
    if (!shares) {
      draft_.add_link(node, out, up);
      draft_.add_link(in, node, down);
      return {out, in};
    }
    draft_.add_link(node, in, up);
    draft_.add_link(in, out, link_of(shape_.both[host], 0));
    draft_.add_link(out, node, down);
    return {out, in};
  }

  void add_star() {
    const std::uint32_t before = draft_.add_switch(shape_.has_core ? "network in" : "network", {});
    std::uint32_t behind = before;
    if (shape_.has_core) {
      behind = draft_.add_switch("network out", {.x = 0.7, .y = 0});
      draft_.add_link(before, behind, link_of(shape_.core, 0));
    }
    for (std::size_t host = 0; host < ends_.size(); ++host) {
      const bool is_itself = ends_[host].out == ends_[host].in;
      const double latency = way_of(measured_, shape_.load * 2 * shape_.latencies[host]) / 2;
      draft_.add_link(ends_[host].out, before, link_of(is_itself ? shape_.up[host] : 0, latency));
      draft_.add_link(behind, ends_[host].in, link_of(is_itself ? shape_.down[host] : 0, latency));
    }
  }

  void add_pairs() {
    for (std::size_t from = 0; from < ends_.size(); ++from) {
      for (std::size_t to = 0; to < ends_.size(); ++to) {
        if (from == to) continue;
        const double hop = shape_.load * measured_.pair(from, to).half_round_trip;
        draft_.add_link(ends_[from].out, ends_[to].in,
                        link_of(measured_.pair(from, to).one_way, way_of(measured_, hop)));
      }
    }
  }

  const NetworkMeasurements& measured_;
  const std::vector<std::uint32_t>& host_of_;
  NetworkShape shape_;
  fabric::Draft draft_;
  std::vector<Ends> ends_;
};

}  // namespace

NetworkShape shape_of(const NetworkMeasurements& measured) {
  const std::size_t hosts = measured.num_hosts();
  NetworkShape shape;
  double slowest = 0;
  double allowed = 0;  // of the slowest host, whose pace all keep
  for (std::size_t host = 0; host < hosts; ++host) {
    double up = measured.hosts[host].out;
    double down = measured.hosts[host].in;
    double both = 0;
    for (std::size_t other = 0; other < hosts; ++other) {
      if (other == host) continue;
      up = std::max(up, measured.pair(host, other).one_way);
      down = std::max(down, measured.pair(other, host).one_way);
      both = std::max(both, 2 * measured.pair(host, other).both_ways);
      slowest = std::max(slowest, half_round_trip(measured, host, other));
    }
    shape.up.push_back(up);
    shape.down.push_back(down);
    // A pair that is slow each way is no sign of a slow host.
    shape.both.push_back(both < kShortOf * (up + down) ? both : 0);
    const double own = std::min({up, down, both / 2});
    allowed = host == 0 ? own : std::min(allowed, own);
  }
  shape.latencies = latencies_of(measured);
  shape.load = hosts > 2 && slowest > 0 ? std::max(1.0, measured.steps.front().time / slowest) : 1;
  shape.has_pairs = pairs_differ(measured, shape);
  const double all = all_ways(measured);
  shape.has_core = hosts > 2 && !shape.has_pairs && all < kShortOf * allowed;
  shape.core = shape.has_core ? all * static_cast<double>(hosts) : 0;
  return shape;
}

fabric::Fabric fabric_of(const NetworkMeasurements& measured, const std::vector<std::uint32_t>& host_of) {
  fabric::Fabric made = NetworkDraft(measured, host_of).make();
  fabric::Costs costs;
  costs.name = "host";
  costs.send_overhead = overhead_of(measured, &HostTimes::send);
  costs.receive_overhead = overhead_of(measured, &HostTimes::receive);
  made.costs = {costs};
  double fold = 0;
  for (const HostTimes& host : measured.hosts)
    if (host.fold > 0) fold = fold == 0 ? host.fold : std::min(fold, host.fold);
  made.memories.front().bandwidth = rounded_rate(fold);
  made.queue.slots = measured.slots;
  made.queue.slot_bytes = measured.slot_bytes;
  return made;
}

std::string in_words(const NetworkShape& shape) {
  std::string words =
      shape.has_pairs ? "a link for each pair of hosts, since pairs differ" : "a link up and a link down for each host";
  const auto sharing = std::count_if(shape.both.begin(), shape.both.end(), [](double both) { return both > 0; });
  if (sharing > 0)
    words += fmt::format("; both ways of {} share a rate", counted(static_cast<std::size_t>(sharing), "host"));
  if (shape.has_core)
    words += fmt::format("; all hosts at once share {}", fabric::rate_to_text(rounded_rate(shape.core)));
  if (shape.load > 1.1)
    words += fmt::format("; while all send, latencies are {:.1f} times as long as alone", shape.load);
  return words;
}

std::string file_of(const NetworkMeasurements& measured, const std::vector<std::uint32_t>& host_of) {
  const auto time = [](double nanos) { return fabric::time_to_text(rounded_time(nanos)); };
  const auto rate = [](double value) { return fabric::rate_to_text(rounded_rate(value)); };
  std::string text = fmt::format(
      "# {} hosts, measured by `tutti probe --hosts --calibrate` on {} with Tutti's own messages.\n"
      "# The fabric is {}.\n#\n"
      "# from -> to: half a round trip of 8 bytes; rate one way; rate of each way while both send\n",
      measured.num_hosts(), measured.date, in_words(shape_of(measured)));
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      if (from == to) continue;
      const PairTimes& pair = measured.pair(from, to);
      text += fmt::format("#   {} -> {}: {}; {}; {}\n", measured.names[from], measured.names[to],
                          time(pair.half_round_trip), rate(pair.one_way), rate(pair.both_ways));
    }
  }
  text += fmt::format("# All hosts at once, each to another: a step of 8 bytes takes {}; a host sends {}.\n",
                      time(measured.steps.front().time), rate(measured.all));
  return text + fabric::write_fabric(fabric_of(measured, host_of));
}

}  // namespace tutti::calibrate
