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
  const auto before = files_in(folder, "out");
  EXPECT_EQ(draw_again({"milestone-gemm", "-o", folder.file("out")}).exit, Exit::done);
  EXPECT_EQ(files_in(folder, "out"), before);
}

PartRow row_of(int tokens, int tiles, const char* way, double time, double half_of_interval) {
  return {std::int64_t{tokens},
          std::int64_t{1024},
          std::int64_t{tiles},
          std::string(way),
          std::int64_t{2},
          time,
          time - half_of_interval,
          time + half_of_interval,
          80.0,
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
  ASSERT_EQ(apart.answer.size(), 2U);
  EXPECT_EQ(
      apart.answer[0],
      "With 16 tokens the best choice of the all-reduce (auto) saves 10.0 % of the layer's time with the worst one "
      "(ring).");
  EXPECT_EQ(apart.answer[1], "16 tokens, 4 tiles: 1.50 times as fast as in one piece.");
  EXPECT_NE(shown(20).answer[0].find("no difference that can be told"), std::string::npos);
  ASSERT_EQ(apart.tables.size(), 1U);
  const auto& cells = apart.tables[0].table.table.rows().front();
  EXPECT_EQ(std::get<double>(cells.back()), 10.0);
}

}  // namespace
}  // namespace tutti::cli
