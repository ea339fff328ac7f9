// The table of algorithms as a whole: every row is found by its collective and name, and there is one of each.
#include "algorithms/registry.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Registry, RowsOfACollectiveStandTogetherAndOnce) {
  std::set<const Algorithm*> rows;
  for (const Algorithm* algorithm : all_algorithms()) {
    SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name);
    EXPECT_TRUE(rows.insert(algorithm).second) << "stands in the table twice";
    EXPECT_EQ(find_algorithm(algorithm->collective, algorithm->name), algorithm)
        << "stands apart from the others, or another has its name";
    EXPECT_FALSE(algorithm->method.empty());
    EXPECT_FALSE(algorithm->citation.empty());
  }
}

}  // namespace
}  // namespace tutti
