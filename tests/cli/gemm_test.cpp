// SPDX-License-Identifier: Apache-2.0
// `tutti gemm` as a user calls it.
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "../report/svg_check.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

Outcome gemm(std::vector<std::string> arguments) { return call(gemm_command(), std::move(arguments)); }

const std::string kReferences = std::string(TUTTI_SOURCE_DIR) + "/data/references/accelerator_gemm.toml";

TEST(Gemm, EightShapesAndThreePlacementsIfNothingIsSaid) {
  const Outcome outcome = gemm({"--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 24U);
  std::set<std::string> cells;
  for (const auto& row : rows) {
    cells.insert(row["shape"].get<std::string>() + row["preloaded"].get<std::string>());
    // Windows hold each other, and the parts the whole.
    EXPECT_LE(row["tiled_ns"], row["all_ns"]);
    EXPECT_DOUBLE_EQ(row["stage_dma_in_ns"].get<double>() + row["stage_dma_out_ns"].get<double>() +
                         row["stage_preload_ns"].get<double>(),
                     row["dma_ns"].get<double>());
    EXPECT_EQ(row["stage_gemm_records"], row["tiles"]);
    EXPECT_NEAR(row["model_fill_ns"].get<double>() + row["model_busy_ns"].get<double>() +
                    row["model_drain_ns"].get<double>() + row["model_preload_ns"].get<double>(),
                row["model_all_ns"].get<double>(), 0.2);
  }
  EXPECT_EQ(cells.size(), 24U);
}

TEST(Gemm, TheTableForPeopleLeavesOutWhatIsForThoseWhoKeepTheData) {
  const Outcome outcome = gemm({"32x3072x32", "--preload", "one"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(outcome.out,
            "shape       preloaded  tiles  all_ns  tiled_ns  model_all_ns  model_tiled_ns  slowest   tflops  "
            "dma_percent  fetch_store_percent  gemm_percent\n"
            "32x3072x32  one           48    1770       998          1770             998  dma      6.30406  "
            "       97.4                 38.7            77\n");
}

TEST(Gemm, BytesAreWholeNumbers) {
  const auto parsed = [](std::vector<std::string> arguments) {
    const Outcome outcome = gemm(std::move(arguments));
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return nlohmann::json::parse(outcome.out);
  };
  const auto all = parsed({"1001x64x1001", "--preload", "none", "--json"});
  EXPECT_EQ(all[0]["stage_dma_out_bytes"], 2 * 1001 * 1001);
  bool is_there = false;
  for (const auto& row : parsed({"1001x64x1001", "--preload", "none", "--stages", "--json"}))
    is_there = is_there || (row["name"] == "dma_out" && row["bytes"] == 2 * 1001 * 1001);
  EXPECT_TRUE(is_there);
}

// Of one tile whose way is the same whoever is said to be slowest.
TEST(Gemm, OfATieTheBusierUnitIsSlowest) {
  const Outcome outcome = gemm({"32x64x32", "--preload", "both", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json row = nlohmann::json::parse(outcome.out)[0];
  EXPECT_EQ(row["slowest"], "gemm");
  EXPECT_GE(row["model_busy_ns"], row["dma_ns"].get<double>() - row["stage_preload_ns"].get<double>());
}

// People read a few digits, machines all.
TEST(Gemm, CsvAndJsonKeepAllDigits) {
  const auto parsed = [](std::vector<std::string> arguments) {
    arguments.push_back("--json");
    return nlohmann::json::parse(gemm(std::move(arguments)).out);
  };
  const nlohmann::json row = parsed({"1001x64x1001", "--preload", "none"})[0];
  for (const char* unit : {"dma", "gemm", "fetch_store"})
    EXPECT_DOUBLE_EQ(row[std::string(unit) + "_percent_of_all"].get<double>(),
                     row[std::string(unit) + "_ns"].get<double>() / row["all_ns"].get<double>() * 100);
  const double flops = 2.0 * 1001 * 64 * 1001;
  EXPECT_DOUBLE_EQ(row["tflops"].get<double>(), flops / row["tiled_ns"].get<double>() / 1e3);
  bool is_there = false;
  for (const auto& part : parsed({"1001x64x1001", "--preload", "none", "--stages"})) {
    if (part["what"] != "port" || part["name"] != "hbm") continue;
    is_there = true;
    EXPECT_DOUBLE_EQ(part["percent_of_all"].get<double>(),
                     part["busy_ns"].get<double>() / row["all_ns"].get<double>() * 100);
  }
  EXPECT_TRUE(is_there);
  for (const auto& window : parsed({"--against", kReferences}))
    EXPECT_DOUBLE_EQ(window["error_percent"].get<double>(),
                     (window["simulated_ns"].get<double>() - window["published_ns"].get<double>()) /
                         window["published_ns"].get<double>() * 100);
}

TEST(Gemm, StagesUnitsAndPortsHaveARowEach) {
  const Outcome outcome = gemm({"32x3072x32", "--preload", "one", "--stages"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(outcome.out,
            "shape       preloaded  what   name         records   bytes  busy_ns  first_ns  last_ns  percent_of_all  "
            "percent_of_tiled\n"
            "32x3072x32  one        stage  preload            1  196608      772         0      772            43.6    "
            "             -\n"
            "32x3072x32  one        stage  dma_in            48  196608      960       772     1732            54.2    "
            "          96.2\n"
            "32x3072x32  one        stage  fetch             48  393216      384       792     1740            21.7    "
            "          38.5\n"
            "32x3072x32  one        stage  gemm              48       0      768       800     1756            43.4    "
            "            77\n"
            "32x3072x32  one        stage  store              1    2048        2      1756     1758           0.113    "
            "           0.2\n"
            "32x3072x32  one        stage  dma_out            1    2048       12      1758     1770           0.678    "
            "           1.2\n"
            "32x3072x32  one        unit   dma               50  395264     1744         0     1770            98.5    "
            "          97.4\n"
            "32x3072x32  one        unit   fetch_store       49  395264      386       792     1758            21.8    "
            "          38.7\n"
            "32x3072x32  one        unit   gemm              48       0      768       800     1756            43.4    "
            "            77\n"
            "32x3072x32  one        port   hbm                -  395264     1544         -        -            87.2    "
            "             -\n"
            "32x3072x32  one        port   tcm_write          -  395264      386         -        -            21.8    "
            "             -\n"
            "32x3072x32  one        port   tcm_read           -  395264      386         -        -            21.8    "
            "             -\n");
}

TEST(Gemm, PublishedWindowsStandBesideTheSimulatedOnes) {
  const Outcome outcome = gemm({"--against", kReferences, "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_FALSE(row["source"].get<std::string>().empty());
    EXPECT_LE(std::abs(row["error_percent"].get<double>()), 2);
  }
  // Another element, or one with another figure, answers for them as well.
  const Outcome other = gemm({"--against", kReferences, "--pe", "accelerator,hbm_bandwidth=128GB/s", "--json"});
  EXPECT_GE(nlohmann::json::parse(other.out)[0]["error_percent"].get<double>(), 50);
}

TEST(Gemm, ThreeFiguresInAFolder) {
  const test::TemporaryFolder folder;
  const std::string deep = folder.file("a/b");
  const Outcome outcome = gemm({"32x3072x32", "--preload", "none,one", "--figure", deep});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(folder.read("a/b/windows.svg"), "<title>one preloaded, tiled: 998</title>"));
  EXPECT_TRUE(contains(folder.read("a/b/stages.svg"), "<title>one preloaded, preload: "));
  EXPECT_TRUE(contains(folder.read("a/b/occupancy.svg"), "<title>one preloaded, dma: 97."));
  EXPECT_TRUE(contains(gemm({"32x64x32", "--figure", "/proc/none"}).error, "--figure: cannot make the folder"));
  EXPECT_TRUE(contains(gemm({"--figure", ""}).error, "--figure: '' is not a folder"));
  const Outcome over = gemm({"32x64x32", "--figure", deep, "-o", folder.file("a/./b/stages.svg")});
  EXPECT_EQ(over.exit, Exit::misused);
  EXPECT_TRUE(contains(over.error, "which --figure writes; give another file")) << over.error;
}

TEST(Gemm, PublishedWindowsAreDrawnAndAllPicturesAreReadable) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(gemm({"--against", kReferences, "--figure", folder.file("all")}).exit, Exit::done);
  const std::string windows = folder.read("all/windows.svg");
  EXPECT_TRUE(contains(windows, "<title>one preloaded, all work, published: 1765; 32x3072x32, "));
  EXPECT_TRUE(contains(windows, "<title>one preloaded, tiled, published: 992; "));
  // The usual shapes are there as well, up to the greatest one.
  EXPECT_TRUE(contains(windows, ">512x512x512</text>"));
  for (const char* name : {"all/windows.svg", "all/stages.svg", "all/occupancy.svg"}) {
    test::expect_readable(folder.read(name), 2400, 2400);
    test::expect_keys_occur(folder.read(name));
  }
  ASSERT_EQ(gemm({"32x3072x32", "--figure", folder.file("one")}).exit, Exit::done);
  EXPECT_FALSE(contains(folder.read("one/windows.svg"), "published"));
}

TEST(Gemm, MistakesAreToldAndWhatWouldBeRight) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = gemm(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_EQ(outcome.out, "");
    return outcome.error.substr(0, outcome.error.find('\n'));
  };
  EXPECT_EQ(error({"32x64"}),
            "tutti gemm: '32x64' is no shape; write MxKxN, such as 32x3072x32, each from 1 to 1048576");
  EXPECT_EQ(error({"--preload", "none,two"}), "tutti gemm: --preload: 'two' is not none, one or both");
  EXPECT_EQ(error({"--preload", "none,one,None"}), "tutti gemm: --preload: 'None' is there twice");
  EXPECT_TRUE(contains(error({"--pe", "accelerator,"}), "write a processing element as"));
  EXPECT_TRUE(contains(error({"--pe", ""}), "--pe: '' is not a processing element"));
  EXPECT_TRUE(contains(error({"--against", ""}), "--against: '' is not a file"));
  EXPECT_EQ(error({"--type", "f17"}),
            "tutti gemm: --type: 'f17' is not a type; the types are: i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16, "
            "f8e4m3, f8e5m2, i16, u16");
  EXPECT_EQ(error({"--pe", "accelerator,cycle=1"}).substr(0, 24), "tutti gemm: --pe: cycle:");
  EXPECT_EQ(error({"--against", kReferences, "--stages"}),
            "tutti gemm: --stages and --against exclude each other; give one of them");
  EXPECT_EQ(error({"99999x99999x99999"}),
            "tutti gemm: 99999x99999x99999 has 15263671875 products of tiles of 32x64x32; 262144 are the most");
}

}  // namespace
}  // namespace tutti::cli
