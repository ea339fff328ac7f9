// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network/fit_network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
constexpr double kTurn = 0.001;        // nanoseconds, which no route notices that has another reason
constexpr double kNotNear = 1.01;      // more than the way between ranks of a host
constexpr double kLeastWay = 1;        // nanoseconds, more than all turns
constexpr double kNearest = 0.9;       // of the way to another host, which that way takes at most
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

// All interfaces with the latencies of the slowest one.
HostsMeasurements with_equal_latencies(HostsMeasurements measured) {
  const std::size_t hosts = measured.interfaces.front().num_hosts();
  double step = 0;
  for (const NetworkMeasurements& one : measured.interfaces) step = std::max(step, one.steps.front().time);
  for (std::size_t from = 0; from < hosts; ++from) {
    for (std::size_t to = 0; to < hosts; ++to) {
      double slowest = 0;
      for (const NetworkMeasurements& one : measured.interfaces)
        slowest = std::max(slowest, one.pair(from, to).half_round_trip);
      for (NetworkMeasurements& one : measured.interfaces) one.pair(from, to).half_round_trip = slowest;
    }
  }
  // The same for each size, so that the shortest are equal.
  for (NetworkMeasurements& one : measured.interfaces) {
    const double added = step - one.steps.front().time;
    for (StepTime& each : one.steps) each.time += added;
  }
  return measured;
}

// Makes nodes and links; a host's messages leave an interface by one node and come to it by another, or by the same.
class NetworkDraft {
 public:
  NetworkDraft(const HostsMeasurements& measured, const std::vector<std::uint32_t>& host_of)
      : measured_(with_equal_latencies(measured)), host_of_(host_of), shape_(shape_of(measured_)) {}

  [[nodiscard]] fabric::Fabric make() && {
    add_hosts();
    for (std::size_t interface = 0; interface < measured_.interfaces.size() && interface < most_ranks_; ++interface) {
      ends_.clear();
      for (std::size_t host = 0; host < num_hosts(); ++host) ends_.push_back(add_interface(host, interface));
      if (shape_.interfaces[interface].has_pairs) {
        add_pairs(interface);
      } else {
        add_star(interface);
      }
    }
    return std::move(draft_).finish({});
  }

 private:
  struct Ends {
    std::uint32_t out = 0;
    std::uint32_t in = 0;
    bool has_rates = false;  // those of the host are in links between its nodes
  };

  [[nodiscard]] std::size_t num_hosts() const { return first().num_hosts(); }
  [[nodiscard]] const NetworkMeasurements& first() const { return measured_.interfaces.front(); }
  [[nodiscard]] bool are_several() const { return measured_.interfaces.size() > 1; }
  // Of an interface's node: the host's name, where there are others the interface, and what the node is.
  [[nodiscard]] std::string name_of(std::string_view host, std::size_t interface, std::string_view what) const {
    std::string name(host);
    for (const std::string_view word :
         {are_several() ? std::string_view(measured_.interfaces[interface].interface) : std::string_view(), what})
      if (!word.empty()) name += (name.empty() ? "" : " ") + std::string(word);
    return name;
  }

  [[nodiscard]] fabric::Position place_of(std::size_t host, double share) const {
    const auto hosts = static_cast<std::uint32_t>(num_hosts());
    return fabric::on_circle(static_cast<std::uint32_t>(host), hosts, share * 3 * fabric::room_for(hosts));
  }
  // Interfaces beside one another.
  [[nodiscard]] fabric::Position place_of(std::size_t host, double share, std::size_t interface) const {
    fabric::Position at = place_of(host, share);
    at.x += 0.5 * static_cast<double>(interface);
    return at;
  }

  void add_hosts() {
    ranks_.resize(num_hosts());
    for (const std::uint32_t host : host_of_) ranks_[host].push_back(0);
    for (const std::vector<std::uint32_t>& ranks : ranks_) most_ranks_ = std::max(most_ranks_, ranks.size());
    std::vector<std::size_t> seen(num_hosts());
    // Ranks are in the order of their nodes.
    for (const std::uint32_t host : host_of_) {
      const std::string& name = first().names[host];
      const std::size_t place = seen[host]++;
      fabric::Position at = place_of(host, 1);
      at.x += 0.7 * static_cast<double>(place);
      const bool is_alone = ranks_[host].size() == 1;
      ranks_[host][place] = draft_.add_node(is_alone ? name : fmt::format("{} {}", name, place), at);
    }
    for (std::size_t host = 0; host < num_hosts(); ++host) {
      std::uint32_t node = ranks_[host].front();
      if (ranks_[host].size() > 1) {
        node = draft_.add_switch(first().names[host], place_of(host, 0.75));
        for (const std::uint32_t rank : ranks_[host]) draft_.add_both(rank, node, near_link(host));
      }
      inner_.push_back(node);
      if (shape_.together > 0) add_what_interfaces_share(host);
    }
  }
  // Two of them are between two ranks.
  [[nodiscard]] fabric::Link near_link(std::size_t host) const {
    return link_of(first().hosts[host].near_rate, near_way(host) / 2);
  }
  // Between two ranks of a host; less than to any other host, since a way leads over what has the least latency.
  [[nodiscard]] double near_way(std::size_t host) const {
    if (ranks_[host].size() < 2) return 0;
    double way = std::max(way_of(first(), first().hosts[host].near_hop), kLeastWay);
    for (std::size_t other = 0; other < num_hosts(); ++other)
      if (other != host) way = std::min(way, kNearest * way_of(first(), first().pair(host, other).half_round_trip));
    return way;
  }
  void add_what_interfaces_share(std::size_t host) {
    const std::string& name = first().names[host];
    std::uint32_t all = ranks_[host].front();
    if (ranks_[host].size() > 1) {
      all = draft_.add_switch(name + " ranks", place_of(host, 0.7));
      for (const std::uint32_t rank : ranks_[host]) draft_.add_link(rank, all, link_of(0, 0));
    }
    shared_.push_back(draft_.add_switch(name + " interfaces", place_of(host, 0.65)));
    draft_.add_link(all, shared_.back(), link_of(shape_.together, 0));
  }

  // Of two ranks the lower one's turn counts: to leave it costs more.
  [[nodiscard]] fabric::Link by_turn(std::size_t host, std::size_t place, std::size_t interface) const {
    fabric::Link link;
    if (place % measured_.interfaces.size() != interface)
      link.latency = kTurn * static_cast<double>(host_of_.size() - ranks_[host][place]);
    return link;
  }
  // From where messages of a host's ranks go to an interface, and where those that come by it go to the ranks.
  std::uint32_t add_senders(std::size_t host, std::size_t interface) {
    if (!are_several()) return inner_[host];
    if (!shared_.empty()) return shared_[host];
    const std::uint32_t node =
        draft_.add_switch(name_of(first().names[host], interface, "up"), place_of(host, 0.65, interface));
    for (std::size_t place = 0; place < ranks_[host].size(); ++place)
      draft_.add_link(ranks_[host][place], node, by_turn(host, place, interface));
    return node;
  }
  std::uint32_t add_receivers(std::size_t host, std::size_t interface) {
    if (!are_several()) return inner_[host];
    const std::uint32_t node =
        draft_.add_switch(name_of(first().names[host], interface, "down"), place_of(host, 0.7, interface));
    for (std::size_t place = 0; place < ranks_[host].size(); ++place)
      draft_.add_link(node, ranks_[host][place], by_turn(host, place, interface));
    return node;
  }

  Ends add_interface(std::size_t host, std::size_t interface) {
    const NetworkShape& shape = shape_.interfaces[interface];
    const std::uint32_t senders = add_senders(host, interface);
    const std::uint32_t receivers = add_receivers(host, interface);
    const bool shares = shape.both[host] > 0;
    const bool has_rates = shares || shape.has_pairs;
    if (!has_rates && !are_several()) return {senders, receivers};
    const std::string& name = first().names[host];
    const std::uint32_t in = draft_.add_switch(name_of(name, interface, "in"), place_of(host, 0.6, interface));
    const fabric::Link down = link_of(has_rates ? shape.down[host] : 0, down_latency(host));
    if (!has_rates) {
      draft_.add_link(in, receivers, down);
      return {senders, in};
    }
    const std::uint32_t out = draft_.add_switch(name_of(name, interface, "out"), place_of(host, 0.5, interface));
    draft_.add_link(senders, shares ? in : out, link_of(shape.up[host], 0));
    if (shares) draft_.add_link(in, out, link_of(shape.both[host], 0));
    draft_.add_link(shares ? out : in, receivers, down);
    return {out, in, true};
  }
  // What of a message's way is behind the interface it comes by: enough that ranks of a host are not nearest to each
  // other over an interface.
  [[nodiscard]] double down_latency(std::size_t host) const { return are_several() ? kNotNear * near_way(host) : 0; }

  void add_star(std::size_t interface) {
    const NetworkShape& shape = shape_.interfaces[interface];
    const auto middle = [&](std::string_view what, double x) {
      return draft_.add_switch(name_of("", interface, what), {.x = x + static_cast<double>(interface), .y = 0});
    };
    const std::uint32_t before = middle(shape.has_core ? "network in" : "network", 0);
    std::uint32_t behind = before;
    if (shape.has_core) {
      behind = middle("network out", 0.7);
      draft_.add_link(before, behind, link_of(shape.core, 0));
    }
    for (std::size_t host = 0; host < ends_.size(); ++host) {
      const Ends& ends = ends_[host];
      const double latency = way_of(first(), shape.load * 2 * shape.latencies[host]) / 2;
      draft_.add_link(ends.out, before, link_of(ends.has_rates ? 0 : shape.up[host], latency));
      draft_.add_link(behind, ends.in,
                      link_of(ends.has_rates ? 0 : shape.down[host], std::max(0.0, latency - down_latency(host))));
    }
  }

  void add_pairs(std::size_t interface) {
    const NetworkMeasurements& measured = measured_.interfaces[interface];
    for (std::size_t from = 0; from < ends_.size(); ++from) {
      for (std::size_t to = 0; to < ends_.size(); ++to) {
        if (from == to) continue;
        const double hop = shape_.interfaces[interface].load * measured.pair(from, to).half_round_trip;
        draft_.add_link(
            ends_[from].out, ends_[to].in,
            link_of(measured.pair(from, to).one_way, std::max(0.0, way_of(first(), hop) - down_latency(to))));
      }
    }
  }

  HostsMeasurements measured_;
  const std::vector<std::uint32_t>& host_of_;
  HostsShape shape_;
  fabric::Draft draft_;
  std::vector<std::vector<std::uint32_t>> ranks_;  // nodes, by host
  std::size_t most_ranks_ = 0;                     // of a host: no more interfaces are used
  std::vector<std::uint32_t> inner_;               // of each host: where its ranks meet
  std::vector<std::uint32_t> shared_;              // and from where it sends, if its interfaces share a rate
  std::vector<Ends> ends_;                         // of an interface, by host
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
    double share = 0;  // of what the slower way has alone
    for (std::size_t other = 0; other < hosts; ++other) {
      if (other == host) continue;
      up = std::max(up, measured.pair(host, other).one_way);
      down = std::max(down, measured.pair(other, host).one_way);
      const double each = measured.pair(host, other).both_ways;
      both = std::max(both, 2 * each);
      share = std::max(share, each / std::min(measured.pair(host, other).one_way, measured.pair(other, host).one_way));
      slowest = std::max(slowest, half_round_trip(measured, host, other));
    }
    shape.up.push_back(up);
    shape.down.push_back(down);
    // A pair that is slow each way is no sign of a slow host. Nor are ways of different rates one.
    shape.both.push_back(share < kShortOf ? both : 0);
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

HostsShape shape_of(const HostsMeasurements& measured) {
  HostsShape shape;
  double alone = 0;
  bool has_pairs = false;
  for (const NetworkMeasurements& one : with_equal_latencies(measured).interfaces) {
    shape.interfaces.push_back(shape_of(one));
    has_pairs = has_pairs || shape.interfaces.back().has_pairs;
  }
  // Where at least two were measured together.
  double together = 0;
  std::size_t measured_together = 0;
  for (std::size_t each = 0; each < measured.together.size() && each < measured.interfaces.size(); ++each) {
    if (measured.together[each] <= 0) continue;
    ++measured_together;
    together += measured.together[each];
    alone += measured.interfaces[each].all;
  }
  if (has_pairs) {
    for (NetworkShape& one : shape.interfaces) {
      one.has_pairs = true;
      one.has_core = false;
    }
  }
  if (measured_together > 1 && together < kShortOf * alone) shape.together = together;
  return shape;
}

fabric::Fabric fabric_of(const HostsMeasurements& measured, const std::vector<std::uint32_t>& host_of) {
  fabric::Fabric made = NetworkDraft(measured, host_of).make();
  const NetworkMeasurements& first = measured.interfaces.front();
  fabric::Costs costs;
  costs.name = "host";
  costs.send_overhead = overhead_of(first, &HostTimes::send);
  costs.receive_overhead = overhead_of(first, &HostTimes::receive);
  made.costs = {costs};
  double fold = 0;
  for (const HostTimes& host : first.hosts)
    if (host.fold > 0) fold = fold == 0 ? host.fold : std::min(fold, host.fold);
  made.memories.front().bandwidth = rounded_rate(fold);
  made.queue.slots = first.slots;
  made.queue.slot_bytes = first.slot_bytes;
  return made;
}

namespace {

std::string words_of(const NetworkShape& shape) {
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

std::string lines_of(const NetworkMeasurements& measured) {
  const auto time = [](double nanos) { return fabric::time_to_text(rounded_time(nanos)); };
  const auto rate = [](double value) { return fabric::rate_to_text(rounded_rate(value)); };
  std::string text;
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      if (from == to) continue;
      const PairTimes& pair = measured.pair(from, to);
      text += fmt::format("#   {} -> {}: {}; {}; {}\n", measured.names[from], measured.names[to],
                          time(pair.half_round_trip), rate(pair.one_way), rate(pair.both_ways));
    }
  }
  return text + fmt::format("# All hosts at once, each to another: a step of 8 bytes takes {}; a host sends {}.\n",
                            time(measured.steps.front().time), rate(measured.all));
}

}  // namespace

std::string words_of_together(const HostsMeasurements& measured) {
  double rate = 0;
  std::vector<std::string> names;
  for (std::size_t each = 0; each < measured.together.size() && each < measured.interfaces.size(); ++each) {
    if (measured.together[each] <= 0) continue;
    rate += measured.together[each];
    names.push_back(measured.interfaces[each].interface);
  }
  if (names.size() < 2) return {};
  return fmt::format("At once at {}, a host sends {}", fmt::join(names, " and "),
                     fabric::rate_to_text(rounded_rate(rate)));
}

std::string in_words(const HostsMeasurements& measured) {
  const HostsShape shape = shape_of(measured);
  if (shape.interfaces.size() == 1) return words_of(shape.interfaces.front());
  std::string words;
  for (std::size_t each = 0; each < shape.interfaces.size(); ++each)
    words += fmt::format("{}for {}, {}", each == 0 ? "" : "; ", measured.interfaces[each].interface,
                         words_of(shape.interfaces[each]));
  if (shape.together > 0)
    words += fmt::format("; all interfaces of a host share {}", fabric::rate_to_text(rounded_rate(shape.together)));
  return words;
}

std::string file_of(const HostsMeasurements& measured, const std::vector<std::uint32_t>& host_of) {
  const NetworkMeasurements& first = measured.interfaces.front();
  std::string text = fmt::format(
      "# {} hosts, measured by `tutti probe --hosts --calibrate` on {} with Tutti's own messages.\n"
      "# The fabric is {}.\n#\n"
      "# from -> to: half a round trip of 8 bytes; rate one way; rate of each way while both send\n",
      first.num_hosts(), first.date, in_words(measured));
  for (const NetworkMeasurements& one : measured.interfaces) {
    if (!one.interface.empty()) text += fmt::format("# {}:\n", one.interface);
    text += lines_of(one);
  }
  if (const std::string together = words_of_together(measured); !together.empty())
    text += fmt::format("# {}.\n", together);
  return text + fabric::write_fabric(fabric_of(measured, host_of));
}

}  // namespace tutti::calibrate
