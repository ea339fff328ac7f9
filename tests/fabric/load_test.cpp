// SPDX-License-Identifier: Apache-2.0
// The file form: what a file says is in the fabric, what is written reads back to the same, and what comes with Tutti
// is found by its name.
#include "fabric/files/load.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <tuple>

#include <gtest/gtest.h>

#include "fabric/files/fabric_file.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/routes.hpp"

namespace tutti::fabric {
namespace {

using Sizes = std::vector<std::uint32_t>;

Result<Fabric> read(std::string_view text, std::string_view words = "my.toml") {
  return read_fabric(text, "my.toml", *parse_request(words));
}

// All that a fabric has, but for its name and its routes, must be the same.
void expect_same(const Fabric& a, const Fabric& b) {
  const auto node = [](const Node& n) { return std::tuple(n.name, n.is_switch, n.multicast, n.x, n.y); };
  const auto link = [](const Link& l) { return std::tuple(l.from, l.to, l.bandwidth, l.latency, l.gap); };
  const auto place = [](const RankPlacement& p) { return std::tuple(p.node, p.core, p.costs, p.memory); };
  const auto core = [](const Core& c) { return c.switch_cost; };
  const auto memory = [](const Memory& m) { return std::tuple(m.name, m.bandwidth, m.latency, m.fold); };
  const auto costs = [](const Costs& c) {
    return std::tuple(c.name, c.send_overhead, c.receive_overhead, c.send_per_byte, c.receive_per_byte, c.post_overhead,
                      c.wait_overhead, c.launch, c.finish);
  };
  const auto queue = [](const Queue& q) {
    return std::tuple(q.slots, q.slot_bytes, q.credit_bytes, q.back_pressure, q.poll_interval, q.wake);
  };
  const auto all = [](const auto& values, auto key) {
    std::vector<decltype(key(values[0]))> keys;
    for (const auto& value : values) keys.push_back(key(value));
    return keys;
  };
  EXPECT_TRUE(all(a.nodes, node) == all(b.nodes, node));
  EXPECT_TRUE(all(a.links, link) == all(b.links, link));
  EXPECT_TRUE(all(a.ranks, place) == all(b.ranks, place));
  EXPECT_TRUE(all(a.cores, core) == all(b.cores, core));
  EXPECT_TRUE(all(a.memories, memory) == all(b.memories, memory));
  EXPECT_TRUE(all(a.costs, costs) == all(b.costs, costs));
  EXPECT_TRUE(queue(a.queue) == queue(b.queue));
  EXPECT_TRUE(a.kernels == b.kernels);
  EXPECT_TRUE(a.implementations == b.implementations);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.next_link == nullptr, b.next_link == nullptr);
}

// Of two figures each, so that a wrong one is noticed.
constexpr std::string_view kByHand = R"(
version = 1
switch_cost = "2us"

[link]
latency = "1us"

[[nodes]]
name = "left"

[[nodes]]
name = "right"

[[nodes]]
name = "hub"
switch = true
multicast = true

[[links]]
between = ["left", "hub"]
bandwidth = "10GB/s"

[[links]]
from = "right"
to = "hub"
bandwidth = "400Gb/s"
gap = "5ns"

[[links]]
from = "hub"
to = "right"
bandwidth = "unlimited"
latency = "2us"

[[memories]]
name = "slow"
bandwidth = "1GB/s"

[[memories]]
name = "fast"
bandwidth = "2TB/s"
fold = "1GB/s"

[[costs]]
name = "usual"

[[costs]]
name = "lazy"
send_overhead = "3us"

[[ranks]]
node = "right"
count = 2
core = 1
costs = "lazy"

[[ranks]]
node = "left"
memory = "fast"

[queue]
slots = 4
slot_bytes = "4K"
back_pressure = "sleep"
wake = "9us"
)";

TEST(FabricFile, SaysNodesLinksRanksAndCosts) {
  const Result<Fabric> fabric = read(kByHand);
  ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
  ASSERT_EQ(fabric->nodes.size(), 3U);
  EXPECT_TRUE(fabric->nodes[2].multicast);
  ASSERT_EQ(fabric->links.size(), 4U);
  EXPECT_EQ(fabric->links[1].from, 2U);
  EXPECT_EQ(fabric->links[1].latency, 1000);
  EXPECT_EQ(std::tuple(fabric->links[2].bandwidth, fabric->links[2].gap), std::tuple(50, 5));
  EXPECT_EQ(std::tuple(fabric->links[3].bandwidth, fabric->links[3].latency), std::tuple(0, 2000));
  ASSERT_EQ(fabric->num_ranks(), 3U);
  EXPECT_EQ(std::tuple(fabric->ranks[1].node, fabric->ranks[1].core, fabric->ranks[1].costs), std::tuple(1U, 1U, 1U));
  EXPECT_EQ(std::tuple(fabric->ranks[2].node, fabric->ranks[2].core, fabric->ranks[2].memory), std::tuple(0U, 2U, 1U));
  EXPECT_EQ(fabric->costs[1].send_overhead, 3000);
  EXPECT_EQ(std::tuple(fabric->memories[1].bandwidth, fabric->memories[1].fold), std::tuple(2000, 1));
  EXPECT_EQ(std::tuple(fabric->queue.slots, fabric->queue.slot_bytes, fabric->queue.wake), std::tuple(4U, 4096U, 9000));
  EXPECT_EQ(fabric->queue.back_pressure, BackPressure::sleep);
  ASSERT_EQ(fabric->cores.size(), 3U);
  EXPECT_EQ(fabric->cores[2].switch_cost, 2000);
  EXPECT_EQ(Routes(*fabric).between(0, 1), (std::vector<std::uint32_t>{0, 3}));
}

TEST(FabricFile, TakesAGeneratorAndChangesWhatItMakes) {
  const Result<Fabric> fabric = read(R"(
generator = "ring_1d:3,latency=1us"
[parameters]
bandwidth = "7GB/s"
send_overhead = "2us"
[[links]]
between = ["node 0", "node 1"]
bandwidth = "1GB/s"
[[links]]
from = "node 1"
to = "node 2"
latency = "5us"
)");
  ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
  EXPECT_EQ(fabric->generator, "ring_1d:3,bandwidth=7GB/s,latency=1us");
  std::vector<std::tuple<double, double>> links;
  for (const Link& link : fabric->links) links.emplace_back(link.bandwidth, link.latency);
  // Of each node, that to the next and that to the one before.
  EXPECT_EQ(links, (std::vector<std::tuple<double, double>>{
                       {1, 1000}, {7, 1000}, {7, 5000}, {1, 1000}, {7, 1000}, {7, 1000}}));
  EXPECT_EQ(fabric->costs[0].send_overhead, 2000);
  EXPECT_TRUE(fabric->next_link);
}

TEST(FabricFile, SaysWhatSoftwareRunsThere) {
  const Result<Fabric> fabric = read(R"(
generator = "switch:8"
[[costs]]
name = "fast"
[[kernels]]
algorithm = "two_shot"
ranks = [2, 4, 8]
[[implementations]]
name = "theirs"
ways = [{ algorithm = "ring", parts = 8, above = "64M", costs = "Fast" }, { algorithm = "one_shot", by_name = true }]
[[implementations]]
name = "ours"
collective = "all_gather"
ways = [{ algorithm = "direct", copies = 2, part_copies = 1 }]
)");
  ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
  EXPECT_EQ(fabric->kernels, (std::vector<Kernel>{{.algorithm = "two_shot", .ranks = {2, 4, 8}}}));
  const std::vector<Implementation> implementations = {
      {.name = "theirs",
       .ways = {{.algorithm = "ring", .costs = "Fast", .parts = 8, .above = 64U << 20U},
                {.algorithm = "one_shot", .by_name = true}}},
      {.name = "ours", .collective = "all_gather", .ways = {{.algorithm = "direct", .copies = 2, .part_copies = 1}}}};
  EXPECT_EQ(fabric->implementations, implementations);
}

TEST(FabricFile, TakesSizesAndParametersFromWhoAsks) {
  constexpr std::string_view kParameters = R"(
generator = "switch:8"
[parameters]
bandwidth = "7GB/s"
launch = "1us"
[[memories]]
name = "a"
[[memories]]
name = "b"
)";
  const Result<Fabric> fabric = read(kParameters, "my.toml:3,bandwidth=9GB/s,multicast,memory=b,launch=2us");
  ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
  EXPECT_EQ(fabric->name, "my.toml:3,bandwidth=9GB/s,multicast,memory=b,launch=2us");
  EXPECT_EQ(fabric->generator, "switch:3,multicast,bandwidth=9GB/s");
  EXPECT_EQ(fabric->ranks[2].memory, 1U);
  EXPECT_EQ(fabric->costs[0].launch, 2000);
}

TEST(FabricFile, WhatIsWrittenReadsBack) {
  std::vector<std::string> texts = {std::string(kByHand),
                                    "generator = \"torus_2d:3x3\"\n[[links]]\nbetween = [\"node 0.0\", \"node 1.0\"]\n"
                                    "latency = \"0.1234567890123ns\"\n[[ranks]]\nnode = \"node 2.2\"\ncount = 2\n",
                                    "generator = \"host:4x2\"\n[[cores]]\nswitch_cost = \"1us\"\n[[cores]]\n",
                                    "[[nodes]]\nname = \"a \\\"b\\\" \\\\ \\u001b\"\n"};
  for (const char* words :
       {"packages:2x2x2,memory=hbm",
        "rail:2x2,network_gap=1ns,queue_slots=4,queue_wake=1us,queue_credit_bytes=16,switch_cost=3us,finish=1ns",
        "ring:2,inner=ring:3", "fat_tree:2x3,uplinks=2,memory_fold=3GB/s", "switch:3,multicast,send_per_byte=0.3ns"})
    texts.push_back(write_fabric(*generate(words)));
  for (const Shipped& shipped : shipped_fabrics()) texts.emplace_back(shipped.text);
  for (const std::string& text : texts) {
    const Result<Fabric> fabric = read(text);
    ASSERT_TRUE(fabric.ok()) << fabric.status().to_string() << "\n" << text;
    const std::string written = write_fabric(*fabric);
    const Result<Fabric> again = read(written);
    ASSERT_TRUE(again.ok()) << again.status().to_string() << "\n" << written;
    SCOPED_TRACE(written);
    expect_same(*fabric, *again);
    // Node by node as well, where it is all said.
    Fabric plain = *fabric;
    plain.generator = "";
    plain.next_link = nullptr;
    expect_same(plain, *read(write_fabric(plain)));
  }
}

TEST(FabricFile, SaysTheGridOfItsRanks) {
  std::string four = "version = 1\ngrid = \"2x2\"\n[link]\nlatency = \"1us\"\nbandwidth = \"1GB/s\"\n";
  for (const char* name : {"a", "b", "c", "d"}) four += std::string("[[nodes]]\nname = \"") + name + "\"\n";
  for (const char* ends : {"\"a\", \"b\"", "\"c\", \"d\"", "\"a\", \"c\""})
    four += std::string("[[links]]\nbetween = [") + ends + "]\n";
  const Result<Fabric> fabric = read(four);
  ASSERT_TRUE(fabric.ok()) << fabric.status().to_string();
  EXPECT_EQ(fabric->grid, Sizes({2, 2}));
  EXPECT_EQ(fabric->grid_of(4), Sizes({2, 2}));
  EXPECT_EQ(fabric->grid_of(2), Sizes()) << "of some of its ranks";
  const Result<Fabric> again = read(write_fabric(*fabric));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  expect_same(*fabric, *again);

  EXPECT_EQ(read("generator = \"torus_2d:4x2\"", "my.toml:8x2")->grid, Sizes({8, 2})) << "the generator's";
  const std::string ranks = "generator = \"ring_1d:2\"\n[[ranks]]\nnode = \"node ";
  EXPECT_EQ(read(ranks + "0\"\n[[ranks]]\nnode = \"node 1\"\ncore = 0\n")->grid, Sizes({2}));
  EXPECT_EQ(read(ranks + "1\"\n[[ranks]]\nnode = \"node 0\"\n")->grid, Sizes()) << "on other nodes";
}

TEST(FabricFile, IsShort) {
  EXPECT_EQ(write_fabric(*generate("torus_2d:64x64,latency=1us")),
            "version = 1\ngenerator = \"torus_2d:64x64,latency=1us\"\n");
  EXPECT_EQ(write_fabric(*generate("packages:2x2x2,memory=hbm,switch_cost=1us")),
            "version = 1\ngenerator = \"packages:2x2x2\"\nmemory = \"hbm\"\nswitch_cost = \"1us\"\n");
}

TEST(LoadFabric, FindsGeneratorsFilesAndWhatIsShipped) {
  EXPECT_EQ(load_fabric("ring:4")->num_ranks(), 4U);
  EXPECT_EQ(load_fabric("H100-node")->num_ranks(), 8U);
  EXPECT_EQ(load_fabric("h100_node:4")->num_ranks(), 4U);
  EXPECT_EQ(load_fabric("h100_cluster:64x1")->num_ranks(), 64U);
  EXPECT_EQ(load_fabric("h100_node:2,costs=ll")->ranks[1].costs, 1U);
  EXPECT_EQ(load_fabric("accelerator_torus:3x2,memory=sram")->ranks[767].memory, 1U);
  const std::string path = testing::TempDir() + "tutti_load_test.toml";
  std::ofstream(path) << "generator = \"ring:5\"\n";
  EXPECT_EQ(load_fabric(path)->num_ranks(), 5U);
  EXPECT_EQ(load_fabric(path + ":6,latency=1ns")->links[11].latency, 1);
  std::remove(path.c_str());
  EXPECT_FALSE(load_fabric(path).ok());
  EXPECT_EQ(load_fabric("h100_noed").status().to_string(),
            "there is no fabric 'h100_noed'; the nearest is 'h100_node'; 'tutti list fabrics' has all, and a file is "
            "named with its path or .toml");
}

TEST(FabricFile, TheExamplesOfItsSpecificationAreRight) {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/docs/formats/fabric.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr std::string_view kBegin = "```toml\n";
  int examples = 0;
  for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at + 1), ++examples) {
    const std::size_t begin = at + kBegin.size();
    const Result<Fabric> fabric = read(text.substr(begin, text.find("```", begin) - begin));
    EXPECT_TRUE(fabric.ok()) << fabric.status().to_string();
  }
  EXPECT_EQ(examples, 3);
}

TEST(LoadFabric, ShippedOnesSayWhatTheyAre) {
  std::vector<Shipped> all(shipped_fabrics().begin(), shipped_fabrics().end());
  all.insert(all.end(), shipped_processing_elements().begin(), shipped_processing_elements().end());
  for (const Shipped& shipped : all) {
    EXPECT_FALSE(about_of(shipped.text).empty()) << shipped.name;
    // Each number has its source beside it.
    std::size_t begin = 0;
    while (begin < shipped.text.size()) {
      const std::size_t end = std::min(shipped.text.find('\n', begin), shipped.text.size());
      const std::string_view line = shipped.text.substr(begin, end - begin);
      const std::size_t value = line.find(" = ");
      const bool has_number = value != std::string_view::npos && !line.starts_with("#") &&
                              line.find_first_of("0123456789", value) != std::string_view::npos;
      const bool is_what_it_is =
          line.starts_with("version") || line.starts_with("about") || line.starts_with("generator");
      if (has_number && !is_what_it_is) {
        EXPECT_NE(line.find("  # "), std::string_view::npos) << shipped.name << ": " << line;
      }
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace tutti::fabric
