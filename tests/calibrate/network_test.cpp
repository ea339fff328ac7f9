// SPDX-License-Identifier: Apache-2.0
// Fabrics of networks from made-up measurements.
#include "calibrate/network/network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "calibrate/network/fit_network.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/routes.hpp"

namespace tutti::calibrate {
namespace {

// All pairs 50 us apart at 1 GB/s each way at once; a rate of 1 is a byte a nanosecond.
NetworkMeasurements even_network(std::size_t hosts) {
  NetworkMeasurements measured;
  measured.date = "2026-01-02";
  for (std::size_t host = 0; host < hosts; ++host) {
    measured.names.push_back("h" + std::to_string(host));
    measured.hosts.push_back({.out = 1, .in = 1, .send = 2'000, .receive = 3'000, .fold = 10});
  }
  const PairTimes pair{.half_round_trip = 50'000, .one_way = 1, .both_ways = 1};
  measured.pairs.assign(hosts * hosts, pair);
  for (std::size_t host = 0; host < hosts; ++host) measured.pair(host, host) = {};
  measured.steps = {{8, 50'000}, {131'072, 50'000 + 131'064}};
  measured.all = 1;
  measured.slots = 8;
  measured.slot_bytes = 131'072;
  return measured;
}

const fabric::Link& link_between(const fabric::Fabric& made, const std::string& from, const std::string& to) {
  const auto found = std::find_if(made.links.begin(), made.links.end(), [&](const fabric::Link& link) {
    return made.nodes[link.from].name == from && made.nodes[link.to].name == to;
  });
  if (found != made.links.end()) return *found;
  ADD_FAILURE() << "no link from " << from << " to " << to;
  return made.links.front();
}

TEST(NetworkFit, AlikeHostsHaveALinkUpAndALinkDown) {
  for (const std::size_t hosts : {2, 3, 5}) {
    const NetworkMeasurements measured = even_network(hosts);
    const NetworkShape shape = shape_of(measured);
    EXPECT_FALSE(shape.has_pairs);
    EXPECT_FALSE(shape.has_core);
    EXPECT_EQ(shape.load, 1);
    std::vector<std::uint32_t> host_of(hosts);
    for (std::size_t host = 0; host < hosts; ++host) host_of[host] = static_cast<std::uint32_t>(host);
    const fabric::Fabric made = fabric_of({.interfaces = {measured}}, host_of);
    EXPECT_EQ(made.num_ranks(), hosts);
    EXPECT_EQ(made.links.size(), 2 * hosts);
    EXPECT_DOUBLE_EQ(made.links.front().bandwidth, 1);
    // Two links and both overheads are half a round trip.
    const fabric::Costs& costs = made.costs.front();
    EXPECT_NEAR(2 * made.links.front().latency + costs.send_overhead + costs.receive_overhead, 50'000, 100);
    EXPECT_EQ(made.queue.slots, 8U);
    EXPECT_EQ(made.queue.slot_bytes, 131'072U);
  }
}

TEST(NetworkFit, SlowHostHasSlowLinks) {
  NetworkMeasurements measured = even_network(3);
  measured.hosts[1].out = 0.25;
  for (const std::size_t other : {0, 2}) {
    measured.pair(1, other).one_way = 0.25;
    measured.pair(1, other).half_round_trip = measured.pair(other, 1).half_round_trip = 90'000;
  }
  measured.steps.front().time = 90'000;
  measured.steps.back().time = 90'000 + 4 * 131'064.0;
  measured.all = 0.25;
  const NetworkShape shape = shape_of(measured);
  EXPECT_FALSE(shape.has_pairs);
  EXPECT_FALSE(shape.has_core);  // all wait for the slow one
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1, 2});
  EXPECT_DOUBLE_EQ(link_between(made, "h1", "network").bandwidth, 0.25);
  EXPECT_DOUBLE_EQ(link_between(made, "network", "h1").bandwidth, 1);
  EXPECT_DOUBLE_EQ(link_between(made, "h0", "network").bandwidth, 1);
  EXPECT_GT(link_between(made, "h1", "network").latency, 2 * link_between(made, "h0", "network").latency);
}

TEST(NetworkFit, BothWaysOfAnInterfaceMayShareItsRate) {
  NetworkMeasurements measured = even_network(2);
  measured.pair(0, 1).both_ways = measured.pair(1, 0).both_ways = 0.5;
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1});
  EXPECT_DOUBLE_EQ(link_between(made, "h0 in", "h0 out").bandwidth, 1);
  EXPECT_DOUBLE_EQ(link_between(made, "h1 in", "h1 out").bandwidth, 1);
}

// Both ways at once take as long as the slower one.
TEST(NetworkFit, WaysThatDifferShareNoRate) {
  NetworkMeasurements measured = even_network(3);
  for (std::size_t from = 0; from < 3; ++from) {
    measured.hosts[from].out = 0.5;
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to) measured.pair(from, to).one_way = measured.pair(from, to).both_ways = 0.5;
  }
  measured.all = 0.5;
  measured.steps.back().time = 50'000 + 2 * 131'064.0;
  const NetworkShape shape = shape_of(measured);
  EXPECT_EQ(shape.both, (std::vector<double>{0, 0, 0}));
  EXPECT_FALSE(shape.has_pairs);
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1, 2});
  EXPECT_DOUBLE_EQ(link_between(made, "h0", "network").bandwidth, 0.5);
  EXPECT_DOUBLE_EQ(link_between(made, "network", "h0").bandwidth, 1);
}

TEST(NetworkFit, AllHostsMayShareWhatPairsHaveAlone) {
  NetworkMeasurements measured = even_network(4);
  measured.all = 0.5;
  measured.steps = {{8, 100'000}, {131'072, 100'000 + 2 * 131'064.0}};
  const NetworkShape shape = shape_of(measured);
  EXPECT_TRUE(shape.has_core);
  EXPECT_DOUBLE_EQ(shape.core, 2);
  EXPECT_DOUBLE_EQ(shape.load, 2);
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(link_between(made, "network in", "network out").bandwidth, 2);
  EXPECT_NE(in_words({.interfaces = {measured}}).find("2.0 times"), std::string::npos);
}

TEST(NetworkFit, PairsThatDifferHaveLinksOfTheirOwn) {
  NetworkMeasurements measured = even_network(3);
  measured.pair(0, 1).half_round_trip = measured.pair(1, 0).half_round_trip = 95'000;
  measured.pair(0, 2).one_way = 0.3;
  const NetworkShape shape = shape_of(measured);
  EXPECT_TRUE(shape.has_pairs);
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1, 2});
  EXPECT_DOUBLE_EQ(link_between(made, "h0 out", "h2 in").bandwidth, 0.3);
  EXPECT_DOUBLE_EQ(link_between(made, "h2 out", "h0 in").bandwidth, 1);
  EXPECT_DOUBLE_EQ(link_between(made, "h0", "h0 out").bandwidth, 1);
  EXPECT_NEAR(link_between(made, "h0 out", "h1 in").latency, 90'000, 100);
}

TEST(NetworkFit, RanksOfAHostAreAroundItsMemory) {
  NetworkMeasurements measured = even_network(2);
  measured.hosts[1].near_hop = 20'000;
  measured.hosts[1].near_rate = 5;
  const fabric::Fabric made = fabric_of({.interfaces = {measured}}, {0, 1, 1, 1});
  EXPECT_EQ(made.num_ranks(), 4U);
  EXPECT_DOUBLE_EQ(link_between(made, "h1 2", "h1").bandwidth, 5);
  EXPECT_NEAR(link_between(made, "h1 2", "h1").latency, 7'500, 10);
  EXPECT_EQ(made.nodes[made.ranks[0].node].name, "h0");
  EXPECT_EQ(made.nodes[made.ranks[3].node].name, "h1 2");
}

// Two interfaces, of which the second has a quarter of the rate and a longer way.
HostsMeasurements two_interfaces(std::size_t hosts) {
  HostsMeasurements measured;
  measured.interfaces = {even_network(hosts), even_network(hosts)};
  measured.interfaces[0].interface = "eth0";
  NetworkMeasurements& slow = measured.interfaces[1];
  slow.interface = "eth1";
  slow.all = 0.25;
  slow.steps = {{8, 70'000}, {131'072, 70'000 + 4 * 131'064.0}};
  for (HostTimes& host : slow.hosts) host.out = host.in = 0.25;
  for (PairTimes& pair : slow.pairs)
    if (pair.one_way > 0) pair = {.half_round_trip = 70'000, .one_way = 0.25, .both_ways = 0.25};
  for (NetworkMeasurements& one : measured.interfaces)
    for (HostTimes& host : one.hosts) {
      host.near_hop = 1'000;
      host.near_rate = 8;
    }
  measured.together = {1, 0.25};
  return measured;
}

// The least rate on the way, and its latency.
std::pair<double, double> way_of(const fabric::Fabric& made, std::uint32_t from, std::uint32_t to) {
  fabric::Routes routes(made);
  double rate = 1e9;
  double latency = 0;
  for (const std::uint32_t link : routes.between(made.ranks[from].node, made.ranks[to].node)) {
    if (made.links[link].bandwidth > 0) rate = std::min(rate, made.links[link].bandwidth);
    latency += made.links[link].latency;
  }
  return {rate, latency};
}

// Two ranks use the interface whose turn it is for the lower one.
TEST(NetworkFit, RanksOfAHostTakeItsInterfacesInTurn) {
  const std::vector<std::vector<std::uint32_t>> layouts = {
      {0, 0, 0, 1, 1, 1}, {0, 1, 0, 1, 0, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 1, 2}, {0, 1, 1, 1, 1, 2, 0}};
  for (const std::vector<std::uint32_t>& host_of : layouts) {
    const std::uint32_t hosts = *std::max_element(host_of.begin(), host_of.end()) + 1;
    const fabric::Fabric made = fabric_of(two_interfaces(hosts), host_of);
    EXPECT_FALSE(fabric::find_apart(made));
    for (std::uint32_t from = 0; from < host_of.size(); ++from) {
      for (std::uint32_t to = 0; to < host_of.size(); ++to) {
        if (from == to) continue;
        const auto [rate, latency] = way_of(made, from, to);
        const std::uint32_t lower = std::min(from, to);
        const auto place = std::count(host_of.begin(), host_of.begin() + lower, host_of[lower]);
        const bool is_near = host_of[from] == host_of[to];
        EXPECT_EQ(rate, is_near ? 8 : place % 2 == 1 ? 0.25 : 1) << from << " " << to;
        // A way does not lead over another rank, nor, where ranks are near, over an interface.
        EXPECT_NEAR(latency, is_near ? 100 : 65'000, 10) << from << " " << to;
      }
    }
  }
  // Of hosts with one rank each the second interface is not used.
  EXPECT_EQ(fabric_of(two_interfaces(3), {0, 1, 2}).links.size(), 15U);
}

TEST(NetworkFit, InterfacesOfAHostMayShareWhatTheyHaveAlone) {
  HostsMeasurements measured = two_interfaces(2);
  EXPECT_EQ(shape_of(measured).together, 0);
  // Only one host has a rank for the second one, so nothing is known of both.
  measured.together = {0.5, 0};
  EXPECT_EQ(shape_of(measured).together, 0);
  measured.together = {0.6, 0.2};
  const fabric::Fabric made = fabric_of(measured, {0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(link_between(made, "h0 ranks", "h0 interfaces").bandwidth, 0.8);
  EXPECT_EQ(way_of(made, 0, 2).first, 0.8);
  EXPECT_EQ(way_of(made, 0, 2).second, way_of(made, 2, 0).second);
  EXPECT_EQ(way_of(made, 0, 1).first, 8);
  EXPECT_NE(in_words(measured).find("all interfaces of a host share 800MB/s"), std::string::npos) << in_words(measured);
}

TEST(NetworkFit, WhereOneInterfaceHasPairsThatDifferAllHaveLinksForPairs) {
  HostsMeasurements measured = two_interfaces(3);
  measured.interfaces[1].pair(0, 2).one_way = 0.05;
  const fabric::Fabric made = fabric_of(measured, {0, 0, 1, 1, 2, 2});
  EXPECT_FALSE(fabric::find_apart(made));
  EXPECT_EQ(way_of(made, 0, 4).first, 1);
  EXPECT_EQ(way_of(made, 1, 5).first, 0.05);
  EXPECT_EQ(way_of(made, 5, 1).first, 0.25);
  EXPECT_EQ(way_of(made, 0, 5).first, 1);
}

// Numbers that no rounding leaves as they are, and hosts whose ranks are about as far apart as the hosts.
TEST(NetworkFit, WhoseTurnItIsDoesNotDependOnTheRest) {
  for (const double near : {1'234.5, 5'678.9, 50'000.0, 0.0}) {
    for (const bool has_pairs : {false, true}) {
      // A way over a third host may be shorter then (docs/design/hosts.md#limits).
      if (has_pairs && near > 10'000) continue;
      HostsMeasurements measured = two_interfaces(3);
      NetworkMeasurements& first = measured.interfaces[0];
      // So near that a host's part of it is next to nothing; with links for pairs, not so near that a third host is.
      const double base = has_pairs ? 25'000 : 20'000;
      first.pair(0, 1).both_ways = first.pair(1, 0).both_ways = 0.5;
      first.pair(0, 2).both_ways = first.pair(2, 0).both_ways = 0.5;
      first.pair(0, 1).half_round_trip = first.pair(1, 0).half_round_trip = base + 123.4;
      first.pair(0, 2).half_round_trip = first.pair(2, 0).half_round_trip = base + 321.9;
      first.pair(1, 2).half_round_trip = first.pair(2, 1).half_round_trip = 38'765.4;
      measured.interfaces[1] = first;
      measured.interfaces[1].interface = "eth1";
      measured.together = {};
      for (PairTimes& pair : measured.interfaces[1].pairs)
        pair = {pair.half_round_trip, pair.one_way / 4, pair.one_way / 4};
      for (HostTimes& host : measured.interfaces[1].hosts) host.out = host.in = 0.25;
      if (has_pairs) measured.interfaces[1].pair(1, 2).one_way = 0.1;
      for (NetworkMeasurements& one : measured.interfaces)
        for (HostTimes& host : one.hosts) host.near_hop = near;
      EXPECT_EQ(shape_of(measured).interfaces[0].has_pairs, has_pairs);
      const fabric::Fabric made = fabric_of(measured, {0, 0, 1, 1, 2, 2});
      for (std::uint32_t from = 0; from < 6; ++from) {
        for (std::uint32_t to = 0; to < 6; ++to) {
          if (from == to) continue;
          const double rate = way_of(made, from, to).first;
          if (from / 2 == to / 2) {
            EXPECT_EQ(rate, 8) << near << " " << from << " " << to;
          } else if (std::min(from, to) % 2 == 1) {
            EXPECT_LE(rate, 0.25) << near << " " << from << " " << to;
          } else {
            EXPECT_GE(rate, 0.5) << near << " " << from << " " << to;
          }
        }
      }
    }
  }
}

// With one interface, what both ways share takes no time.
TEST(NetworkFit, SharedWaysOfOneInterfaceKeepTheirLatency) {
  NetworkMeasurements measured = even_network(2);
  for (HostTimes& host : measured.hosts) host.near_hop = 50'000;
  const fabric::Fabric apart = fabric_of({.interfaces = {measured}}, {0, 0, 1, 1});
  measured.pair(0, 1).both_ways = measured.pair(1, 0).both_ways = 0.5;
  const fabric::Fabric shared = fabric_of({.interfaces = {measured}}, {0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(way_of(shared, 0, 2).second, way_of(apart, 0, 2).second);
}

TEST(NetworkFit, BothWaysOfOneOfTwoInterfacesMayShareItsRate) {
  HostsMeasurements measured = two_interfaces(2);
  measured.interfaces[0].pair(0, 1).both_ways = measured.interfaces[0].pair(1, 0).both_ways = 0.5;
  const fabric::Fabric made = fabric_of(measured, {0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(link_between(made, "h0 eth0 in", "h0 eth0 out").bandwidth, 1);
  EXPECT_FALSE(fabric::find_apart(made));
  EXPECT_EQ(way_of(made, 0, 1).first, 8);
  EXPECT_EQ(way_of(made, 1, 3).first, 0.25);
}

TEST(NetworkFit, FilesOfSeveralInterfacesReadBack) {
  HostsMeasurements measured = two_interfaces(2);
  measured.together = {0.6, 0.2};
  const std::string text = file_of(measured, {0, 0, 1, 1});
  for (const char* words :
       {"# eth1:\n#   h0 -> h1: 70us; 250MB/s; 250MB/s\n", "At once at eth0 and eth1, a host sends 800MB/s"})
    EXPECT_NE(text.find(words), std::string::npos) << text;
  const Result<fabric::Fabric> read = fabric::read_fabric(text, "network.toml", {});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(way_of(*read, 1, 3).first, 0.25);
  EXPECT_EQ(way_of(*read, 3, 2).first, 8);
}

TEST(NetworkFit, FilesReadBack) {
  NetworkMeasurements measured = even_network(4);
  measured.all = 0.5;
  measured.steps = {{8, 100'000}, {131'072, 100'000 + 2 * 131'064.0}};
  const std::string text = file_of({.interfaces = {measured}}, {0, 1, 2, 3});
  EXPECT_NE(text.find("h0 -> h3: 50us; 1GB/s; 1GB/s"), std::string::npos) << text;
  const Result<fabric::Fabric> read = fabric::read_fabric(text, "network.toml", {});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->num_ranks(), 4U);
  EXPECT_EQ(read->links.size(), 9U);
  EXPECT_EQ(read->queue.slots, 8U);
}

TEST(NetworkLines, ReadBack) {
  NetworkMeasurements measured = even_network(3);
  measured.hosts[2].near_hop = 123.456789;
  const Result<NetworkMeasurements> read = from_lines(to_lines(measured));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(to_lines(*read), to_lines(measured));
}

TEST(NetworkLines, WhatInterfacesHaveTogetherReadsBack) {
  EXPECT_EQ(*together_from_line(to_line({1.25, 0})), (std::vector<double>{1.25, 0}));
  for (const char* wrong : {"", "together", "together -1\n", "together x", "all 1"})
    EXPECT_FALSE(together_from_line(wrong).ok()) << wrong;
}

TEST(NetworkLines, OthersAreRefused) {
  const std::string right = to_lines(even_network(2));
  EXPECT_TRUE(from_lines(right).ok());
  for (std::string wrong :
       {std::string(), std::string("end\n"), "hello\n" + right, right + "pair 0 9 1 1 1\n", right + "all -1\n",
        right + "all nan\n", right + "all 1x\n", right + "queue 0 0\n", right + "host 1 2\n",
        right.substr(0, right.size() / 2), right + "pair 0 1 0 0 0\n", right + "step 65536 0\n"})
    EXPECT_FALSE(from_lines(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace tutti::calibrate
