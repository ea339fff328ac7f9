// SPDX-License-Identifier: Apache-2.0
#include "peers/collectives.hpp"

#include <string>

#include <gtest/gtest.h>

#include "bench/axes/declaration.hpp"

namespace tutti::peers {
namespace {

using harness::Point;

std::string why_skipped(std::string_view bench, const Point& point, int num_ranks) {
  const std::vector<Bench> benches = collective_benches(nullptr);
  const harness::Declaration* declaration = harness::find(benches, bench);
  EXPECT_NE(declaration, nullptr) << bench;
  for (const harness::Rule& rule : declaration->rules)
    if (std::string why = rule(point, num_ranks); !why.empty()) return why;
  return "";
}

TEST(Collectives, AreAllDeclared) {
  const std::vector<Bench> benches = collective_benches(nullptr);
  EXPECT_EQ(benches.size(), static_cast<std::size_t>(kNumRegular));
  for (const Bench& bench : benches) {
    EXPECT_TRUE(bench.declaration().error.ok()) << bench.declaration().error.to_string();
    EXPECT_TRUE(bench.declaration().body) << bench.declaration().name;
  }
}

TEST(Collectives, WhatMeansNothingIsSkipped) {
  EXPECT_EQ(why_skipped("all_reduce", {{{"bytes", 8}, {"type", "f32"}, {"op", "sum"}}}, 2), "");
  EXPECT_NE(why_skipped("all_reduce", {{{"bytes", 8}, {"type", "f32"}, {"op", "bit_and"}}}, 2), "");
  EXPECT_EQ(why_skipped("all_reduce", {{{"bytes", 8}, {"type", "i32"}, {"op", "bit_and"}}}, 2), "");
  EXPECT_NE(why_skipped("all_reduce", {{{"bytes", 3}, {"type", "f32"}, {"op", "sum"}}}, 2), "") << "no element";
  EXPECT_NE(why_skipped("broadcast", {{{"bytes", 8}, {"type", "f32"}, {"root", 2}}}, 2), "") << "no such root";
  EXPECT_EQ(why_skipped("broadcast", {{{"bytes", 8}, {"type", "f32"}, {"root", 1}}}, 2), "");
  EXPECT_NE(why_skipped("scan", {{{"bytes", 8}, {"type", "f32"}, {"op", "average"}}}, 2), "");
}

TEST(Collectives, ABlockNeedsAnElementOfItsOwn) {
  const Point point{{{"bytes", 8}, {"type", "f32"}, {"in_place", 0}}};
  EXPECT_EQ(why_skipped("all_gather", point, 2), "");
  EXPECT_NE(why_skipped("all_gather", point, 3).find("each of 3 ranks"), std::string::npos);
}

}  // namespace
}  // namespace tutti::peers
