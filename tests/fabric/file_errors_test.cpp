// SPDX-License-Identifier: Apache-2.0
// What is said of files that are wrong: file, line and key, what is there, and what would be right.
#include <gtest/gtest.h>

#include "fabric/files/fabric_file.hpp"

namespace tutti::fabric {
namespace {

std::string message_of(std::string_view text, std::string_view words = "my.toml") {
  const Result<Fabric> fabric = read_fabric(text, "my.toml", *parse_request(words));
  return fabric.ok() ? "" : fabric.status().to_string();
}

constexpr std::string_view kTwo = "[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n";

std::string with_two(std::string_view more) { return std::string(kTwo) + std::string(more); }

TEST(FileErrors, OfTheDocument) {
  EXPECT_EQ(message_of(""),
            "my.toml:1: there is neither a generator (generator = \"torus_2d:2x3\") nor a node (under "
            "[[nodes]])");
  EXPECT_EQ(message_of("a = [1,\n").substr(0, 13), "my.toml:1:9: ");
  EXPECT_EQ(message_of("version = 2\ngenerator = \"ring:3\""),
            "my.toml:1: version: this is a file of version 2; 1 can be read");
  EXPECT_EQ(
      message_of("\nnode = 3"),
      "my.toml:2: node: there is no such key; the nearest that is known is 'nodes'; there are version, about, "
      "profile, generator, parameters, link, nodes, links, grid, memory, switch_cost, ranks, costs, memories, kernels, "
      "implementations, queue, cores");
  EXPECT_EQ(message_of("generator = \"ring:3\"\n[[nodes]]\nname = \"a\""),
            "my.toml:2: nodes: the nodes come from the generator; delete one of the two");
  EXPECT_EQ(message_of("generator = \"ring:3\"\ngrid = \"3x1\""),
            "my.toml:2: grid: the grid comes from the generator; delete one of the two");
  EXPECT_EQ(message_of(with_two("[parameters]\nlatency = \"1us\"")),
            "my.toml:5: parameters: there is no generator that could take them");
  EXPECT_EQ(message_of("a" + std::string(5000, '.')), "my.toml:1: the line has 5001 characters; 4096 are the most");
}

TEST(FileErrors, OfTheGenerator) {
  EXPECT_EQ(message_of("generator = 3"), "my.toml:1: generator: this is a whole number; write a text in quotes");
  EXPECT_EQ(message_of("\ngenerator = \"torus_2d:6\""),
            "my.toml:2: generator: torus_2d:6: 6 is no square, so each size must be there; write torus_2d:WxH, such as "
            "torus_2d:2x3");
  EXPECT_EQ(
      message_of("generator = \"switch:1000000\""),
      "my.toml:1: generator: switch:1000000: 1000000 ports on one node are more than the 65536 that there may be");
  EXPECT_EQ(
      message_of("generator = \"ring:3,latency=5\""),
      "my.toml:1: generator: latency: '5' is not a time: it has no unit; write a number and ns, us, ms or s, such "
      "as 1.5us");
  EXPECT_EQ(message_of("generator = \"ring:3\"\n[parameters]\nlatency = \"-5us\""),
            "my.toml:3: parameters.latency: '-5us' is not a time: it is negative; write a number and ns, us, ms or s, "
            "such as 1.5us");
  EXPECT_EQ(message_of("generator = \"ring:3\"\n[parameters]\nlatency = 1.5"),
            "my.toml:3: parameters.latency: this is a number; write a text such as \"25GB/s\", a whole number, or true "
            "or false");
  EXPECT_EQ(message_of("generator = \"ring:3\"\n[parameters]\nlatncy = \"1us\""),
            "my.toml:3: parameters.latncy: ring_1d has no such parameter; the nearest is 'latency'");
  EXPECT_EQ(message_of("generator = \"ring:3\"\nlinks = [{from = \"node 0\", to = \"node 7\"}]"),
            "my.toml:2: links[0].to: there is no node 'node 7'; the nearest is 'node 0'");
  EXPECT_EQ(message_of("generator = \"ring:4\"\n[[links]]\nfrom = \"node 0\"\nto = \"node 2\""),
            "my.toml:2: links[0]: the generator makes no link from 'node 0' to 'node 2'");
  EXPECT_EQ(message_of("generator = \"ring:4\"\nmemory = \"hbm\""),
            "my.toml:2: memory: there is no memory 'hbm' here; there is memory");
}

TEST(FileErrors, OfWhoAsks) {
  EXPECT_EQ(message_of(kTwo, "my.toml:3"), "my.toml:3: it has no generator, so it has one size only");
  EXPECT_EQ(message_of(kTwo, "my.toml,latency=1us"),
            "latency: my.toml has no generator that could take this parameter");
  EXPECT_EQ(message_of("generator = \"torus_2d:2x3\"", "my.toml:6"),
            "my.toml:1: generator: my.toml:6: 6 is no square, so each size must be there; write torus_2d:WxH, such as "
            "torus_2d:2x3");
}

TEST(FileErrors, OfNodes) {
  EXPECT_EQ(message_of("nodes = 3"), "my.toml:1: nodes: this is a whole number; write tables, each under [[nodes]]");
  EXPECT_EQ(message_of("nodes = []"), "my.toml:1: nodes: there is no node");
  EXPECT_EQ(message_of("nodes = [\n3]"),
            "my.toml:2: nodes[0]: this is a whole number; write tables, each under "
            "[[nodes]]");
  EXPECT_EQ(message_of("[[nodes]]\n"), "my.toml:1: nodes[0].name: a node needs a name, such as name = \"gpu 0\"");
  EXPECT_EQ(message_of("[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"a\""),
            "my.toml:4: nodes[1].name: 'a' is there already (my.toml:2: nodes[0].name); each node has a name of its "
            "own");
  EXPECT_EQ(message_of("[[nodes]]\nname = \"a\"\nswitch = 1"),
            "my.toml:3: nodes[0].switch: this is a whole number; write true or false");
  EXPECT_EQ(message_of("[[nodes]]\nname = \"a\"\nx = nan"), "my.toml:3: nodes[0].x: nan is not from -1e9 to 1e9");
  EXPECT_EQ(message_of("[[nodes]]\nname = \"a\"\nmulticast = true"),
            "my.toml:3: nodes[0].multicast: only a switch copies to many; write switch = true, too");
  EXPECT_EQ(message_of("[[nodes]]\nname = \"a\"\nswitch = true"),
            "my.toml:1: nodes: all nodes are switches, so there is no rank; add a node that is none");
}

TEST(FileErrors, OfLinks) {
  const std::string ends = "write between = [\"a\", \"b\"] for both ways, or from = \"a\" and to = \"b\" for one";
  EXPECT_EQ(message_of(with_two("[[links]]")), "my.toml:5: links[0]: " + ends);
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\"]")), "my.toml:5: links[0]: " + ends);
  EXPECT_EQ(message_of(with_two("[[links]]\nfrom = \"a\"\nbetween = [\"a\", \"b\"]")), "my.toml:5: links[0]: " + ends);
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\", \"b\"]\nlatency = \"1us\"")),
            "my.toml:5: links[0]: it has no bandwidth; write a rate such as \"25GB/s\", here or under [link]");
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\", \"c\"]")),
            "my.toml:6: links[0].between: there is no node 'c'");
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\", \"a\"]")),
            "my.toml:6: links[0].between: a link from 'a' to itself leads nowhere");
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\", \"b\"]\nlatency = 5")),
            "my.toml:7: links[0].latency: this is a whole number without a unit; write a time such as \"1.5us\"");
  EXPECT_EQ(message_of(with_two("[[links]]\nbetween = [\"a\", \"b\"]\nbandwidth = \"0GB/s\"")),
            "my.toml:7: links[0].bandwidth: '0GB/s' is not a rate: it is too small; write a number and a unit, such as "
            "25GB/s or 400Gb/s, or unlimited");
  EXPECT_EQ(message_of(with_two("[link]\nlatency = [1]")),
            "my.toml:6: link.latency: this is an array; write a time such as \"1.5us\"");
  EXPECT_EQ(message_of(with_two("link = 3")),
            "my.toml:5: nodes[1].link: there is no such key; there are name, switch, multicast, x, y");
}

TEST(FileErrors, OfTheGrid) {
  const auto with_grid = [](const std::string& grid) { return message_of("grid = \"" + grid + "\"\n" + with_two("")); };
  for (const char* grid : {"", "x", "2x", "2x0", "2,1", "-2x1", "1x1x1x2", "9999999x1"})
    EXPECT_EQ(with_grid(grid), "my.toml:1: grid: '" + std::string(grid) + "' is no grid, like \"4x2\" or \"4x2x2\"");
  EXPECT_EQ(with_grid("2x2"), "my.toml:1: grid: 2 ranks are not a whole number of grids of 2x2");
}

TEST(FileErrors, OfRanksThatAreApart) {
  EXPECT_EQ(message_of(kTwo),
            "my.toml:1: nodes[0]: no links lead from rank 0 ('a') to rank 1 ('b'); each rank must "
            "reach each other");
  EXPECT_EQ(message_of(with_two("[[links]]\nfrom = \"a\"\nto = \"b\"\nlatency = \"1us\"\nbandwidth = \"1GB/s\"")),
            "my.toml:3: nodes[1]: no links lead from rank 1 ('b') to rank 0 ('a'); each rank must reach each other");
}

TEST(FileErrors, OfRanksAndTheirCosts) {
  EXPECT_EQ(message_of(with_two("[[ranks]]\n")),
            "my.toml:5: ranks[0]: it has no node; write node = \"the name of "
            "one\"");
  EXPECT_EQ(message_of(with_two("[[ranks]]\nnode = \"c\"")), "my.toml:6: ranks[0].node: there is no node 'c'");
  EXPECT_EQ(message_of(with_two("[[nodes]]\nname = \"s\"\nswitch = true\n[[ranks]]\nnode = \"s\"")),
            "my.toml:9: ranks[0].node: 's' is a switch, where no rank can be");
  EXPECT_EQ(message_of(with_two("[[ranks]]\nnode = \"a\"\ncore = -1")),
            "my.toml:7: ranks[0].core: -1 is not 0 to 1048575");
  EXPECT_EQ(message_of(with_two("[[ranks]]\nnode = \"a\"\ncount = 1048576\n[[ranks]]\nnode = \"b\"")),
            "my.toml:8: ranks[1]: with this there are 1048577 ranks; 1048576 are the most");
  EXPECT_EQ(message_of(with_two("[[ranks]]\nnode = \"a\"\ncosts = \"x\"")),
            "my.toml:7: ranks[0].costs: there is no 'x' here; there is 'costs'");
  EXPECT_EQ(message_of(with_two("[[memories]]\nname = \"m\"\n[[memories]]\nname = \"M\"")),
            "my.toml:8: memories[1].name: 'M' is there already; each has a name of its own");
  EXPECT_EQ(message_of(with_two("[[cores]]\n")),
            "my.toml:5: cores: there are 1 here, and ranks are on 2; write one for each, or switch_cost for all");
  EXPECT_EQ(message_of(with_two("[queue]\nslots = \"4\"")),
            "my.toml:6: queue.slots: this is a text; write a whole number such as 4");
  EXPECT_EQ(message_of(with_two("[queue]\nslots = -4")), "my.toml:6: queue.slots: '-4' is no whole number from 0 on");
  EXPECT_EQ(message_of(with_two("[queue]\nback_pressure = \"wait\"")),
            "my.toml:6: queue.back_pressure: 'wait' is neither poll nor sleep");
  EXPECT_EQ(message_of(with_two("[[queue]]\n")), "my.toml:5: queue: this is an array; write a table under [queue]");
}

TEST(FileErrors, OfKernelsAndImplementations) {
  EXPECT_EQ(message_of(with_two("[[kernels]]\nranks = [2]")),
            "my.toml:5: kernels[0].algorithm: it has none; write algorithm = \"…\"");
  EXPECT_EQ(message_of(with_two("[[kernels]]\nalgorithm = \"ring\"\nranks = [2]\n[[kernels]]\nalgorithm = \"Ring\"")),
            "my.toml:9: kernels[1].algorithm: 'Ring' is there already");
  for (const char* none : {"", "ranks = []", "ranks = 2"})
    EXPECT_NE(
        message_of(with_two(std::string("[[kernels]]\nalgorithm = \"ring\"\n") + none))
            .find("kernels[0].ranks: write the numbers of ranks that the kernel is compiled for, such as [2, 4, 8]"),
        std::string::npos);
  for (const char* wrong : {"[0]", "[1048577]", "[\"2\"]", "[2, -1]"})
    EXPECT_EQ(message_of(with_two(std::string("[[kernels]]\nalgorithm = \"ring\"\nranks = ") + wrong)),
              "my.toml:7: kernels[0].ranks: each is a whole number from 1 to 1048576");
  const auto of_way = [](const std::string& way) {
    return message_of(with_two("[[implementations]]\nname = \"a\"\nways = [{ " + way + " }]"));
  };
  EXPECT_EQ(of_way(""), "my.toml:7: implementations[0].ways[0].algorithm: it has none; write algorithm = \"ring\"");
  EXPECT_EQ(of_way("algorithm = \"ring\", costs = \"x\""),
            "my.toml:7: implementations[0].ways[0].costs: there are no costs 'x' here; there are: costs");
  EXPECT_EQ(of_way("algorithm = \"ring\", parts = 0"),
            "my.toml:7: implementations[0].ways[0].parts: 0 is too few; 1 is the least");
  EXPECT_EQ(of_way("algorithm = \"ring\", parts = 65"),
            "my.toml:7: implementations[0].ways[0].parts: 65 is not 0 to 64");
  EXPECT_NE(of_way("algorithm = \"ring\", above = \"many\"").find("implementations[0].ways[0].above: 'many'"),
            std::string::npos);
  const auto of_name = [](std::string_view name) {
    return message_of("generator = \"ring:3\"\n[[implementations]]\nname = \"" + std::string(name) +
                      "\"\nways = [{ algorithm = \"a\" }]");
  };
  EXPECT_EQ(of_name("a"), "");
  EXPECT_EQ(of_name("All"), "my.toml:3: implementations[0].name: 'all' stands for all of them; take another name");
  EXPECT_EQ(of_name("a\\u001b"), "my.toml:3: implementations[0].name: it has a control character");
  EXPECT_EQ(message_of(with_two("[[implementations]]\nname = \"a\"")),
            "my.toml:5: implementations[0].ways: it has none; write ways = [{ algorithm = \"ring\" }]");
}

}  // namespace
}  // namespace tutti::fabric
