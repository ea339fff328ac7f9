// SPDX-License-Identifier: Apache-2.0
// The table of algorithms as a whole: every row is found by its collective and name, and there is one of each.
#include "algorithms/registry.hpp"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "schedule/prove/prove.hpp"

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

// By name, memory that others read must stay as it is until they are done.
TEST(Registry, RowsSayWhetherWhatIsExposedMayBeReadWhereItLies) {
  for (const Algorithm* algorithm : all_algorithms()) {
    if (facts_of(algorithm->collective).varies) continue;
    if (algorithm->channel != Channel::staged && !algorithm->name_safe && !algorithm->name_safe_in_place) continue;
    bool always = true;
    bool always_in_place = true;
    for (const std::uint32_t ranks : {2U, 3U, 4U})
      for (const Request& request : cases_of(*algorithm, ranks)) {
        const Proof proof = prove(algorithm->make(request));
        ASSERT_TRUE(proof.ok()) << full_name(*algorithm, request);
        always = always && proof.out_of_place.exposure == Exposure::name_safe;
        always_in_place = always_in_place && proof.in_place.exposure == Exposure::name_safe;
      }
    // Those that send messages as well cannot be read by name as a whole.
    const bool only_exposes = algorithm->name != std::string_view("hierarchical");
    EXPECT_EQ(algorithm->name_safe, always && only_exposes) << name_of(algorithm->collective) << " " << algorithm->name;
    EXPECT_EQ(algorithm->name_safe_in_place, always_in_place && only_exposes)
        << name_of(algorithm->collective) << " " << algorithm->name;
  }
}

}  // namespace
}  // namespace tutti
