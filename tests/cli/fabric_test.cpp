// SPDX-License-Identifier: Apache-2.0
// `tutti fabric` as a user calls it.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../report/svg_check.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"
#include "cli/machine/fabric_tables.hpp"
#include "cli/program.hpp"
#include "fabric/generators/generate.hpp"
#include "report/fabric/fabric_svg.hpp"
#include "report/fabric/rail_svg.hpp"

namespace tutti::cli {
namespace {

Outcome show_fabric(std::vector<std::string> arguments) { return call(fabric_command(), std::move(arguments)); }

TEST(FabricCommand, SaysHowManyAndHowFar) {
  const Outcome outcome = show_fabric({"torus_2d:4x4,latency=1us", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out), nlohmann::json::parse(R"([{"fabric": "torus_2d:4x4,latency=1us",
      "ranks": 16, "cores": 16, "nodes": 16, "switches": 0, "links": 64, "link_costs": "64 of 50GB/s, 1us",
      "most_hops": 4, "most_latency_us": 4.0, "halves_GBps": 400.0}])"));
}

TEST(FabricCommand, ItsFileReadsBack) {
  const std::string path = ::testing::TempDir() + "tutti_fabric_test.toml";
  const Outcome written = show_fabric({"rail:2x2,network_latency=3us,launch=1us", "--toml", "-o", path});
  ASSERT_EQ(written.exit, Exit::done) << written.error;
  const Outcome shown = show_fabric({path, "--toml"});
  EXPECT_EQ(shown.out,
            "version = 1\ngenerator = \"rail:2x2,network_latency=3us\"\n\n[[costs]]\nname = \"costs\"\n"
            "launch = \"1us\"\n");
  std::ofstream(path) << "generator = \"ring:0\"\n";
  const Outcome wrong = show_fabric({path});
  EXPECT_EQ(wrong.exit, Exit::misused);
  EXPECT_NE(wrong.error.find(path + ":1: generator: 'ring:0': a size is 0"), std::string::npos) << wrong.error;
  std::remove(path.c_str());
}

TEST(FabricCommand, ThePictureHasEveryRankSwitchAndCable) {
  const std::string torus = show_fabric({"torus_2d:4x4", "--svg"}).out;
  EXPECT_TRUE(torus.starts_with("<svg ") && torus.ends_with("</svg>\n"));
  EXPECT_EQ(count_of(torus, "<circle "), 16U);
  EXPECT_EQ(count_of(torus, "<path "), 32U);
  EXPECT_EQ(count_of(torus, " C"), 8U) << "the cables that close it are arcs";
  const std::string rail = show_fabric({"rail:2x2", "--svg"}).out;
  EXPECT_EQ(count_of(rail, "<circle "), 4U);
  EXPECT_EQ(count_of(rail, "<path "), 8U);
  EXPECT_EQ(count_of(rail, ">gpu 1.0: rank 2<"), 1U);
  EXPECT_EQ(count_of(rail, ">rail 1<"), 2U) << "a tooltip and a name";
  EXPECT_EQ(count_of(rail, ">450GB/s, 250ns<"), 1U);
}

TEST(FabricCommand, PicturesOfRailsAreGridsAndBounded) {
  const std::string cluster = show_fabric({"h100_cluster:16x8", "--svg"}).out;
  test::expect_readable(cluster, 1000, 1000);
  test::expect_keys_occur(cluster);
  // Eight nodes of eight, each with a line to its rail and one to its node's switch.
  EXPECT_EQ(count_of(cluster, "<circle "), 64U);
  EXPECT_EQ(count_of(cluster, "<path "), 128U);
  EXPECT_TRUE(contains(cluster, ">... 8 more nodes alike</text>"));
  // A line along a row runs below its ranks, and one down a column beside them.
  EXPECT_EQ(count_of(cluster, " L"), 0U);
  test::expect_readable(show_fabric({"rail:8x8", "--svg"}).out, 1000, 1000);
  const std::string wide = show_fabric({"rail:3x12", "--svg"}).out;
  test::expect_readable(wide, 1000, 1000);
  EXPECT_TRUE(contains(wide, ">... 4 more rails alike</text>"));
  EXPECT_EQ(count_of(wide, "<circle "), 24U);
  const std::string single = show_fabric({"rail:20x1", "--svg"}).out;
  test::expect_readable(single, 1000, 1000);
  EXPECT_TRUE(contains(single, ">... 12 more nodes alike</text>"));
  EXPECT_TRUE(contains(single, ">20 ranks, 1 switch, 40 links;"));
  EXPECT_FALSE(contains(show_fabric({"rail:8x1", "--svg"}).out, " more "));

  fabric::Fabric unlike = *fabric::generate("rail:12x2");
  for (const std::uint32_t link : {44U, 45U}) unlike.links[link].bandwidth /= 2;  // of node 11
  EXPECT_TRUE(contains(report::fabric_to_svg(unlike), ">... 4 more nodes</text>"));
  // With costs that are not the same both ways it is drawn as any fabric, with arrows.
  unlike.links[0].bandwidth = 7;
  EXPECT_FALSE(report::rail_grid_of(unlike).has_value());
  EXPECT_EQ(count_of(report::fabric_to_svg(unlike), "<polygon "), 2U);
}

TEST(FabricCommand, OnlyRailsAreGrids) {
  for (const char* name : {"switch:8", "torus_2d:4x4", "fat_tree:4x8", "dragonfly:9x4x2", "packages:2x2x4", "host:4x2"})
    EXPECT_FALSE(report::rail_grid_of(*fabric::generate(name)).has_value()) << name;
  for (const char* name : {"rail:2x2", "rail:1x4", "rail:4x1", "rail:5x3"})
    EXPECT_TRUE(report::rail_grid_of(*fabric::generate(name)).has_value()) << name;
}

TEST(FabricCommand, PicturesOfManyNodesAreBounded) {
  for (const char* name : {"torus_2d:32x32", "ring_1d:1000", "fat_tree:16x16", "dragonfly:9x4x8", "mesh_2d:64x2"}) {
    const std::string svg = show_fabric({name, "--svg"}).out;
    EXPECT_LE(test::number_of(svg.substr(0, svg.find('>')), "width"), 2400) << name;
    EXPECT_LE(test::number_of(svg.substr(0, svg.find('>')), "height"), 2400) << name;
  }
}

// The curves of a picture, as points on them, without what is near their ends.
std::vector<std::vector<test::SvgCorner>> curves_of(const std::string& svg, double from_ends) {
  std::vector<std::vector<test::SvgCorner>> curves;
  for (std::size_t at = svg.find("<path d=\"M"); at != svg.npos; at = svg.find("<path d=\"M", at + 1)) {
    double x[4] = {};
    double y[4] = {};
    if (std::sscanf(svg.c_str() + at, "<path d=\"M%lf %lf C%lf %lf %lf %lf %lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2],
                    &y[2], &x[3], &y[3]) != 8)
      continue;
    std::vector<test::SvgCorner>& points = curves.emplace_back();
    for (double t = 0.005; t < 1; t += 0.005) {
      const double parts[4] = {(1 - t) * (1 - t) * (1 - t), 3 * t * (1 - t) * (1 - t), 3 * t * t * (1 - t), t * t * t};
      test::SvgCorner point;
      for (int each = 0; each < 4; ++each) {
        point.x += parts[each] * x[each];
        point.y += parts[each] * y[each];
      }
      if (std::hypot(point.x - x[0], point.y - y[0]) > from_ends &&
          std::hypot(point.x - x[3], point.y - y[3]) > from_ends)
        points.push_back(point);
    }
  }
  return curves;
}

TEST(FabricCommand, CablesRunBesideTheRanksThatTheyPass) {
  for (const char* name : {"packages:4x4x8", "torus_2d:3x5", "accelerator_torus,inner=packages:4x4x1"}) {
    const std::string svg = show_fabric({name, "--svg"}).out;
    const auto curves = curves_of(svg, 20);
    EXPECT_FALSE(curves.empty()) << name;
    for (std::size_t at = svg.find("<circle"); at != svg.npos; at = svg.find("<circle", at + 1)) {
      const std::string circle = svg.substr(at, svg.find('>', at) - at);
      for (const auto& curve : curves)
        for (const test::SvgCorner& point : curve)
          EXPECT_GT(std::hypot(point.x - test::number_of(circle, "cx"), point.y - test::number_of(circle, "cy")),
                    test::number_of(circle, "r"))
              << name;
    }
  }
}

TEST(FabricCommand, CablesThatCloseATorusAreApartFromTheOthers) {
  const std::string svg = show_fabric({"accelerator_torus,inner=packages:4x4x1", "--svg"}).out;
  std::size_t near = 0;
  const auto curves = curves_of(svg, 60);
  for (std::size_t one = 0; one < curves.size(); ++one)
    for (std::size_t other = 0; other < one; ++other)
      for (const test::SvgCorner& a : curves[one])
        for (const test::SvgCorner& b : curves[other]) near += std::hypot(a.x - b.x, a.y - b.y) < 4 ? 1 : 0;
  // Where they cross.
  EXPECT_LT(near, 40U);
}

TEST(FabricCommand, OneIsNotSeveral) {
  EXPECT_TRUE(contains(show_fabric({"switch:2", "--svg"}).out, "2 ranks, 1 switch, 4 links"));
  EXPECT_TRUE(contains(show_fabric({"ring:4", "--svg"}).out, "4 ranks, 0 switches, "));
}

TEST(FabricCommand, DirectionsThatDifferAreArrows) {
  fabric::Fabric fabric = *fabric::generate("switch:2");
  fabric.name = "<a&b>";
  fabric.links[0].bandwidth = 7;
  const std::string picture = report::fabric_to_svg(fabric);
  EXPECT_EQ(count_of(picture, "<polygon "), 2U);
  EXPECT_EQ(count_of(picture, "<path "), 3U);
  EXPECT_EQ(count_of(picture, "&lt;a&amp;b&gt;"), 1U);
}

TEST(FabricCommand, MisuseSaysWhatWouldBeRight) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "FABRIC must be given: "},
      {{"torus_2d:6"}, "6 is no square"},
      {{"tours_2d:2x3"}, "the nearest is 'torus_2d'"},
      {{"ring:4", "--svg", "--toml"}, "exclude each other"},
      {{"ring:4", "--svg", "--json"}, "exclude each other"},
      {{"ring:4", "--toml", "--format", "csv"}, "exclude each other"},
      {{"ring:2000", "--svg"}, "1024 can be drawn"},
  };
  for (const auto& [arguments, words] : wrong) {
    const Outcome outcome = show_fabric(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused) << words;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.error.find(words), std::string::npos) << words << ": " << outcome.error;
  }
  EXPECT_EQ(show_fabric({"./nowhere.toml"}).exit, Exit::not_done);
  const Outcome unwritable = show_fabric({"ring:4", "-o", "/nowhere/x"});
  EXPECT_EQ(unwritable.exit, Exit::not_done);
  EXPECT_NE(unwritable.error.find("cannot write '/nowhere/x'"), std::string::npos) << unwritable.error;
}

TEST(FabricCommand, ListHasAllGeneratorsAndWhatIsShipped) {
  const std::string list = to_csv(fabrics_table());
  for (const char* words : {"torus_2d,WxH,torus_2d:2x3", "h100_node,,h100_node", "network_latency", "queue_slots"})
    EXPECT_NE(list.find(words), std::string::npos) << words;
  for (const fabric::Generator& generator : fabric::generators()) {
    const Result<fabric::Fabric> fabric = fabric::generate(generator.example);
    EXPECT_TRUE(fabric.ok()) << fabric.status().to_string();
  }
}

}  // namespace
}  // namespace tutti::cli
