// SPDX-License-Identifier: Apache-2.0
// Routes against a plain search, on random graphs.
#include "fabric/routes.hpp"

#include <random>

#include <gtest/gtest.h>

#include "fabric/generators/generate.hpp"

namespace tutti::fabric {
namespace {

Fabric random_graph(std::mt19937_64& random) {
  std::uniform_int_distribution<std::uint32_t> size(2, 9);
  Fabric fabric;
  fabric.nodes.resize(size(random));
  for (std::uint32_t node = 0; node < fabric.nodes.size(); ++node) fabric.ranks.push_back({.node = node});
  std::uniform_int_distribution<std::uint32_t> end(0, static_cast<std::uint32_t>(fabric.nodes.size() - 1));
  std::uniform_int_distribution<int> latency(0, 3);
  const std::size_t num_links = std::uniform_int_distribution<std::size_t>(0, 3 * fabric.nodes.size())(random);
  for (std::size_t i = 0; i < num_links; ++i)
    fabric.links.push_back({.from = end(random), .to = end(random), .latency = static_cast<double>(latency(random))});
  return fabric;
}

// Latency, hops, then the numbers of links: the best of all ways without a node twice, by trying them all.
struct Way {
  double latency = 0;
  std::vector<std::uint32_t> links;

  [[nodiscard]] auto key() const { return std::tuple(latency, links.size(), links); }
};

void try_all(const Fabric& fabric, std::uint32_t at, std::uint32_t to, std::vector<bool>& seen, Way& way,
             std::optional<Way>& best) {
  if (at == to) {
    if (!best || way.key() < best->key()) best = way;
    return;
  }
  seen[at] = true;
  for (std::uint32_t link = 0; link < fabric.links.size(); ++link) {
    const Link& each = fabric.links[link];
    if (each.from != at || seen[each.to]) continue;
    way.links.push_back(link);
    way.latency += each.latency;
    try_all(fabric, each.to, to, seen, way, best);
    way.latency -= each.latency;
    way.links.pop_back();
  }
  seen[at] = false;
}

TEST(Routes, AreTheBestOfAllWaysOnRandomGraphs) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const Fabric fabric = random_graph(random);
    Routes routes(fabric);
    bool all_reach = true;
    for (std::uint32_t from = 0; from < fabric.nodes.size(); ++from)
      for (std::uint32_t to = 0; to < fabric.nodes.size(); ++to) {
        if (from == to) continue;
        std::optional<Way> best;
        Way way;
        std::vector<bool> seen(fabric.nodes.size());
        try_all(fabric, from, to, seen, way, best);
        all_reach = all_reach && best;
        ASSERT_EQ(routes.between(from, to), best ? best->links : std::vector<std::uint32_t>())
            << "graph " << i << ", " << from << " to " << to;
        ASSERT_EQ(routes.next(from, to), best ? best->links.front() : kNoLink);
      }
    const std::optional<Apart> apart = find_apart(fabric);
    ASSERT_EQ(!apart, all_reach);
    if (apart) {
      EXPECT_TRUE(routes.between(apart->from, apart->to).empty());
    }
  }
}

TEST(Routes, FromANodeToItselfIsNothing) {
  const Fabric fabric = *generate("ring:3");
  Routes routes(fabric);
  EXPECT_TRUE(routes.between(1, 1).empty());
  EXPECT_EQ(routes.next(1, 1), kNoLink);
}

TEST(Routes, AreForgottenAndFoundAgain) {
  Fabric fabric = *generate("switch:200");
  fabric.next_link = nullptr;
  Routes routes(fabric, 3 * fabric.nodes.size());
  for (const std::uint32_t to : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 0U})
    EXPECT_EQ(routes.between(100, to), (std::vector<std::uint32_t>{200, 2 * to + 1}));
}

TEST(Routes, OneWayIsNotEnough) {
  Fabric fabric;
  fabric.nodes.resize(3);
  fabric.ranks = {{.node = 0}, {.node = 2}};
  fabric.links = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  const std::optional<Apart> apart = find_apart(fabric);
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->from, 1U);
  EXPECT_EQ(apart->to, 0U);
}

}  // namespace
}  // namespace tutti::fabric
