// SPDX-License-Identifier: Apache-2.0
// What milestone-gemm makes in virtual time, and what it says of a layer's rows.
#include <utility>

#include <gtest/gtest.h>

#include "../../report/svg_check.hpp"
#include "cli/milestone/gemm/gemm_parts.hpp"
#include "milestone_calling.hpp"

namespace tutti::cli {
namespace {

// C12: three figures of eight shapes with three placements each, and the published windows within a tenth.
TEST(MilestoneGemm, ProductsHaveThreeFiguresAndPublishedWindows) {
  test::TemporaryFolder folder;
  const Outcome outcome = run_milestone_with({"milestone-gemm", "-o", folder.file("out")});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json index = index_in(folder, "out");
  EXPECT_EQ(index["right"], true);
  const std::set<std::string> named = named_files(index);
  for (const char* name : {"products.csv", "products.jsonl", "products_windows.svg", "products_stages.svg",
                           "products_occupancy.svg", "products_published.md", "products_published.csv", "report.html"})
    EXPECT_TRUE(named.contains(name)) << name;
  EXPECT_EQ(index["parts"][0]["cases"], 24);
  EXPECT_TRUE(index["parts"][1].contains("left_out")) << "there is no worker that could be measured";
  const std::string published = folder.read("out/products_published.csv");
  EXPECT_NE(published.find(",1765,"), std::string::npos) << published;
  EXPECT_NE(published.find(",992,"), std::string::npos) << published;
  // Both windows are said, records have a table, and sums leave no digits behind.
  const std::string answer = index["parts"][0]["answer"][0].get<std::string>();
  EXPECT_NE(answer.find("over all work of each of 24 products, and within"), std::string::npos) << answer;
  EXPECT_NE(folder.read("out/products_records.csv").find("\n32x3072x32,one,48,1,48,48,48,1,1,"), std::string::npos)
      << folder.read("out/products_records.csv");
  EXPECT_EQ(folder.read("out/products.csv").find("9999999"), std::string::npos);
  const auto before = files_in(folder, "out");
  EXPECT_EQ(draw_again({"milestone-gemm", "-o", folder.file("out")}).exit, Exit::done);
  EXPECT_EQ(files_in(folder, "out"), before);
}

PartRow row_of(int tokens, int tiles, const char* way, double time, double half_of_interval, double product = 80.0) {
  return {std::int64_t{tokens},
          std::int64_t{1024},
          std::int64_t{tiles},
          std::string(way),
          std::int64_t{2},
          time,
          time - half_of_interval,
          time + half_of_interval,
          product,
          std::int64_t{100},
          std::string("ok"),
          true,
          std::string("ran"),
          Cell()};
}

TEST(MilestoneGemm, ALayersShareIsToldOnlyWhereIntervalsAreApart) {
  const Part part = layer_part();
  const auto shown = [&](double half_of_interval) {
    PartOrigin origin;
    origin.machine = "a machine";
    origin.cases = {"one"};
    const PartRows rows(
        std::move(origin), part.columns,
        {{.name = "one",
          .rows = {row_of(16, 1, "auto", 90, half_of_interval), row_of(16, 1, "ring", 100, half_of_interval),
                   row_of(16, 4, "auto", 60, half_of_interval)}}});
    const Result<PartShown> made = part.show(rows);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  };
  const PartShown apart = shown(2);
  EXPECT_TRUE(apart.is_right);
  ASSERT_EQ(apart.answer.size(), 3U);
  EXPECT_EQ(apart.answer[0],
            "In 1 of 1 layer the choice of the all-reduce makes a difference that can be told, of up to 10.0 % (6.1 to "
            "13.7 %) of the time, with 16 tokens; published is up to 10 % of the time to the first token of a whole "
            "model, which this bench does not have.");
  EXPECT_EQ(apart.answer[1],
            "With 16 tokens the best choice of the all-reduce (auto) saves 10.0 % (6.1 to 13.7 %) of the layer's time "
            "with the worst one (ring).");
  EXPECT_EQ(apart.answer[2], "16 tokens, 4 tiles: 1.50 times as fast as in one piece.");
  const PartShown together = shown(20);
  EXPECT_NE(together.answer[1].find("no difference that can be told: 10.0 % from the best to the worst, within their "
                                    "intervals"),
            std::string::npos)
      << together.answer[1];
  EXPECT_TRUE(together.answer[0].starts_with("In none of 1 layer")) << together.answer[0];
  EXPECT_NE(together.answer[2].find("as fast as in one piece, as far as intervals tell"), std::string::npos);
  ASSERT_EQ(apart.tables.size(), 1U);
  const auto told = [](const PartShown& one) { return one.tables[0].table.table.rows().front(); };
  EXPECT_EQ(std::get<double>(told(apart)[12]), 10.0);
  EXPECT_EQ(std::get<bool>(told(apart).back()), true);
  EXPECT_EQ(std::get<bool>(told(together).back()), false);
}

TEST(MilestoneGemm, ALayersShareIsNotToldWhereTheProductAloneDiffersByMore) {
  const Part part = layer_part();
  PartOrigin origin;
  origin.cases = {"one"};
  PartRow skipped = row_of(1, 4, "auto", 1, 0);
  skipped[5] = skipped[6] = skipped[7] = skipped[8] = Cell();
  skipped[10] = std::string("skipped");
  skipped[13] = std::string("tiles go from 1 to tokens, 1");
  const PartRows rows(
      std::move(origin), part.columns,
      {{.name = "one", .rows = {row_of(1, 1, "auto", 100, 1, 70), row_of(1, 1, "ring", 90, 1, 81), skipped}}});
  const Result<PartShown> shown = part.show(rows);
  ASSERT_TRUE(shown.ok()) << shown.status().to_string();
  EXPECT_EQ(shown->answer.at(1),
            "With 1 token the choice of the all-reduce makes no difference that can be told: 10.0 % from the best to "
            "the worst, where the product alone differs by 13.6 % between them.");
  ASSERT_EQ(shown->cautions.size(), 1U);
  EXPECT_EQ(shown->cautions[0].words, "1 token, 4 tiles, auto: skipped: tiles go from 1 to tokens, 1");
}

}  // namespace
}  // namespace tutti::cli
