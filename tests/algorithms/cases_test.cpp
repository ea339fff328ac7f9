// SPDX-License-Identifier: Apache-2.0
// The cases that algorithms are proven for: what comes first, what is drawn, what runs between groups, and why there
// are none.
#include "algorithms/cases.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"

namespace tutti {
namespace {

using Sizes = std::vector<std::uint32_t>;

const Algorithm& all_reduce_named(std::string_view name) { return *find_algorithm(Collective::all_reduce, name); }

std::string first_of(std::string_view name, std::uint32_t ranks) {
  const Algorithm& algorithm = all_reduce_named(name);
  return full_name(algorithm, cases_of(algorithm, ranks).front());
}

TEST(Cases, TheFirstIsTheUsualAndNoSpecialCase) {
  const std::map<std::uint32_t, Sizes> groups = {{1, {1}},        {2, {1, 1}},     {3, {2, 1}},
                                                 {4, {2, 2}},     {7, {4, 3}},     {8, {4, 4}},
                                                 {12, {4, 4, 4}}, {13, {5, 4, 4}}, {16, {4, 4, 4, 4}}};
  for (const auto& [ranks, expected] : groups) {
    const Request first = cases_of(all_reduce_named("hierarchical"), ranks).front();
    EXPECT_EQ(first.parameters.groups, expected) << ranks;
    EXPECT_EQ(first.parameters.inner, "ring");
  }
  EXPECT_EQ(first_of("hierarchical", 4), "hierarchical(2+2, ring)");
  EXPECT_EQ(first_of("hierarchical", 1), "hierarchical(1)") << "nothing runs between groups";
  EXPECT_EQ(first_of("centre", 8), "centre(2x2)") << "two packages";
  EXPECT_EQ(first_of("centre", 12), "centre(2x2)") << "three packages";
  EXPECT_EQ(first_of("centre", 5), "centre(1x5)");
  EXPECT_EQ(first_of("bucket_2d", 12), "bucket_2d(3x4)");
  EXPECT_EQ(first_of("bucket_3d", 12), "bucket_3d(2x2x3)");
  EXPECT_EQ(first_of("bucket_3d", 7), "bucket_3d(1x1x7)");
  EXPECT_EQ(cases_of(all_reduce_named("bucket_3d"), 12).size(), 18U) << "every order of the sides";
  EXPECT_EQ(first_of("recursive_multiplying", 5), "recursive_multiplying(2)");
}

// {} of ranks on no grid, and "" where no grid is known.
std::string on_machine(std::string_view name, std::uint32_t ranks, const Sizes& grid, CaseFilter filter = {}) {
  const Algorithm& algorithm = all_reduce_named(name);
  filter.machine_grid = grid;
  const Cases cases = find_cases(algorithm, ranks, filter);
  EXPECT_EQ(cases.lacks_grid, cases.requests.empty());
  return cases.requests.empty() ? cases.objection : full_name(algorithm, cases.requests.front());
}

TEST(Cases, TheGridIsTheMachinesElseASquareElseNone) {
  EXPECT_EQ(on_machine("bucket_2d", 32, {8, 4}, {.grid = Grid{2, 16}}), "bucket_2d(2x16)");
  EXPECT_EQ(on_machine("bucket_2d", 32, {8, 4}), "bucket_2d(8x4)");
  EXPECT_EQ(on_machine("bucket_2d", 6, {6}), "bucket_2d(6x1)");
  EXPECT_EQ(on_machine("bucket_2d", 8, {4, 1, 2}), "bucket_2d(4x2)") << "no third dimension";
  EXPECT_EQ(on_machine("bucket_2d", 16, {4, 2, 2}), "bucket_2d(4x4)");
  EXPECT_EQ(on_machine("bucket_2d", 8, {2, 2, 2}), "the grid of the machine is 2x2x2, and 8 ranks are no square");
  EXPECT_EQ(on_machine("bucket_2d", 16, {4, 2}), "bucket_2d(4x4)") << "that is one of two packages";
  EXPECT_EQ(on_machine("centre", 16, {4, 2}), "centre(4x2)") << "this is for packages";
  EXPECT_EQ(on_machine("bucket_3d", 24, {2, 3, 4}), "bucket_3d(2x3x4)");
  EXPECT_EQ(on_machine("bucket_3d", 8, {4, 2}), "bucket_3d(4x2x1)");
  EXPECT_EQ(on_machine("bucket_3d", 27, {}), "bucket_3d(3x3x3)");
  EXPECT_EQ(on_machine("bucket_3d", 16, {}), "no grid is given, and 16 ranks are no cube");
  EXPECT_EQ(on_machine("bucket_2d", 4, {}), "bucket_2d(2x2)");
  EXPECT_EQ(on_machine("bucket_2d", 1, {}), "bucket_2d(1x1)");
  EXPECT_EQ(on_machine("bucket_2d", 6, {}), "no grid is given, and 6 ranks are no square");
  EXPECT_EQ(on_machine("centre", 6, {}), "no grid is given, and 6 ranks are no square");
  EXPECT_EQ(on_machine("ring", 6, {}), "ring") << "it wants none";
  EXPECT_EQ(on_machine("hierarchical", 12, {4, 3}), "hierarchical(4+4+4, ring)");
  EXPECT_EQ(on_machine("hierarchical", 16, {8, 2}, {.inner = "bucket_2d"}), "hierarchical(4+4+4+4, bucket_2d(2x2))");
  EXPECT_EQ(on_machine("hierarchical", 12, {4, 3}, {.inner = "bucket_2d"}),
            "between groups: no grid is given, and 3 ranks are no square");
}

TEST(Cases, EveryMessageAlgorithmRunsBetweenGroupsInAllItsCases) {
  const Algorithm& hierarchical = all_reduce_named("hierarchical");
  for (const std::uint32_t ranks : {4U, 8U, 16U, 32U}) {
    std::map<std::string, std::set<std::string>> between;  // in the usual groups
    const std::vector<Request> requests = cases_of(hierarchical, ranks);
    for (const Request& request : requests) {
      if (request.parameters.groups != requests.front().parameters.groups) continue;
      ASSERT_GE(request.parameters.groups.size(), 2U);
      between[request.parameters.inner].insert(full_name(hierarchical, request));
    }
    for (const Algorithm* inner : algorithms_of(Collective::all_reduce)) {
      if (inner->channel != Channel::message) continue;
      SCOPED_TRACE(testing::Message() << inner->name << " in " << ranks << " ranks");
      const auto num_groups = static_cast<std::uint32_t>(requests.front().parameters.groups.size());
      EXPECT_EQ(between[std::string(inner->name)].size(), cases_of(*inner, num_groups).size());
    }
  }
}

TEST(Cases, OneThatIsAskedForRunsBetweenGroupsInEveryCase) {
  const Algorithm& hierarchical = all_reduce_named("hierarchical");
  const Cases cases = find_cases(hierarchical, 12, {.grid = Grid{1, 3}, .inner = "bucket_2d"});
  ASSERT_FALSE(cases.requests.empty());
  for (const Request& request : cases.requests) {
    EXPECT_EQ(request.parameters.inner, "bucket_2d");
    EXPECT_EQ(request.parameters.groups.size(), 3U);
    EXPECT_EQ(request.parameters.grid.width, 1U);
  }
  // With a radix it is one of those that take one.
  for (const Request& request : cases_of(hierarchical, 6, {.radix = 3})) {
    EXPECT_TRUE(request.parameters.inner == "recursive_multiplying" || request.parameters.inner == "reduce_broadcast")
        << request.parameters.inner;
    EXPECT_EQ(request.parameters.radix, 3U);
  }
}

TEST(Cases, GroupingsAreOfTheSeed) {
  const Algorithm& hierarchical = all_reduce_named("hierarchical");
  const auto groupings = [&](std::uint64_t seed) {
    std::set<Sizes> all;
    for (const Request& request : cases_of(hierarchical, 20, {.seed = seed})) all.insert(request.parameters.groups);
    return all;
  };
  EXPECT_EQ(groupings(1), groupings(1));
  EXPECT_NE(groupings(1), groupings(2));
  EXPECT_NE(groupings(1), groupings((std::uint64_t{1} << 32U) + 1)) << "all of its bits count";
  EXPECT_TRUE(groupings(3).contains(Sizes{20}));
  EXPECT_TRUE(groupings(3).contains(Sizes(20, 1)));
}

TEST(Cases, WhereThereAreNoneAnObjectionSaysWhy) {
  const auto objection = [](const Algorithm& algorithm, std::uint32_t ranks, const CaseFilter& filter) {
    const Cases cases = find_cases(algorithm, ranks, filter);
    EXPECT_TRUE(cases.requests.empty());
    return cases.objection;
  };
  const Algorithm& hierarchical = all_reduce_named("hierarchical");
  EXPECT_EQ(objection(*find_algorithm(Collective::broadcast, "knomial"), 4, {.root = 9}),
            "the root is rank 9, and there are 4 ranks");
  EXPECT_EQ(objection(all_reduce_named("swing"), 5, {}), "swing needs an even number of ranks, and there are 5");
  EXPECT_EQ(objection(all_reduce_named("centre"), 4, {.corner = 9}), "corner 9: there are 1 to 4, and 0 is the centre");
  EXPECT_EQ(objection(hierarchical, 4, {.inner = "nosuch"}),
            "there is no all_reduce algorithm nosuch to run between groups");
  EXPECT_EQ(objection(hierarchical, 4, {.inner = "one_shot"}),
            "one_shot is for the staged channel; what runs between groups is for messages");
  EXPECT_EQ(objection(hierarchical, 5, {.groups = Sizes{2, 2, 1}, .inner = "swing"}),
            "between groups, swing: swing needs an even number of ranks, and there are 3");
  EXPECT_EQ(objection(hierarchical, 5, {.groups = Sizes{5}, .inner = "ring"}),
            "in one group alone, no algorithm runs between groups");
}

TEST(Cases, WhatAnAlgorithmDoesNotTakeIsNamed) {
  const Algorithm& ring = all_reduce_named("ring");
  const Algorithm& hierarchical = all_reduce_named("hierarchical");
  EXPECT_EQ(parameter_not_taken(ring, {}), "");
  EXPECT_EQ(parameter_not_taken(ring, {.root = 0}), "root");
  EXPECT_EQ(parameter_not_taken(ring, {.radix = 2}), "radix");
  EXPECT_EQ(parameter_not_taken(ring, {.grid = Grid{2, 2}}), "grid");
  EXPECT_EQ(parameter_not_taken(ring, {.groups = Sizes{2, 2}}), "groups");
  EXPECT_EQ(parameter_not_taken(ring, {.inner = "ring"}), "inner");
  EXPECT_EQ(parameter_not_taken(ring, {.corner = 1}), "corner");
  EXPECT_EQ(parameter_not_taken(all_reduce_named("centre"), {.grid = Grid{2, 2}, .corner = 1}), "");
  EXPECT_EQ(parameter_not_taken(hierarchical, {.radix = 2}), "");
  EXPECT_EQ(parameter_not_taken(hierarchical, {.radix = 2, .inner = "ring"}), "radix");
  EXPECT_EQ(parameter_not_taken(hierarchical, {.radix = 2, .inner = "recursive_multiplying"}), "");
  EXPECT_EQ(parameter_not_taken(hierarchical, {.radix = 2, .grid = Grid{2, 2}}), "radix") << "none takes both";
  EXPECT_EQ(parameter_not_taken(hierarchical, {.radix = 2, .inner = "nosuch"}), "") << "that has its own objection";
}

}  // namespace
}  // namespace tutti
