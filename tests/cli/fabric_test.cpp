// `tutti fabric` as a user calls it.
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calling.hpp"
#include "cli/commands.hpp"
#include "cli/fabric_views.hpp"
#include "cli/program.hpp"
#include "fabric/generate.hpp"

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

TEST(FabricCommand, DirectionsThatDifferAreArrows) {
  fabric::Fabric fabric = *fabric::generate("switch:2");
  fabric.name = "<a&b>";
  fabric.links[0].bandwidth = 7;
  const std::string picture = fabric_to_svg(fabric);
  EXPECT_EQ(count_of(picture, "<polygon "), 2U);
  EXPECT_EQ(count_of(picture, "<path "), 3U);
  EXPECT_EQ(count_of(picture, "&lt;a&amp;b&gt;"), 1U);
}

TEST(FabricCommand, MisuseSaysWhatWouldBeRight) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{}, "fabric is required"},
      {{"torus_2d:6"}, "6 is no square"},
      {{"tours_2d:2x3"}, "the nearest is 'torus_2d'"},
      {{"ring:4", "--svg", "--toml"}, "excludes"},
      {{"ring:4", "--svg", "--json"}, "excludes"},
      {{"ring:4", "--toml", "--format", "csv"}, "excludes"},
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
