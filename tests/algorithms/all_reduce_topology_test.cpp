// SPDX-License-Identifier: Apache-2.0
// All-reduces that follow the machine: on a grid they talk to neighbours only, between groups they run any algorithm,
// and switches fold for them. What they cost, against closed forms.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/patterns/groups.hpp"
#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti {
namespace {

using patterns::Position;

Schedule make(std::string_view name, std::uint32_t ranks, const Parameters& parameters) {
  const Algorithm* const algorithm = find_algorithm(Collective::all_reduce, name);
  const Request request{.num_ranks = ranks, .parameters = parameters};
  EXPECT_EQ(objection_to(*algorithm, request), "");
  return algorithm->make(request);
}

Schedule on_grid(std::string_view name, const Grid& grid, std::uint32_t packages = 1, std::uint32_t corner = 0) {
  return make(name, packages * static_cast<std::uint32_t>(grid.size()), {.grid = grid, .corner = corner});
}

std::vector<Grid> small_grids() {
  std::vector<Grid> grids;
  for (std::uint32_t width = 1; width <= 5; ++width)
    for (std::uint32_t height = 1; height <= 5; ++height) grids.push_back({width, height});
  return grids;
}

std::vector<Grid> small_cuboids() {
  std::vector<Grid> grids;
  for (std::uint32_t width = 1; width <= 4; ++width)
    for (std::uint32_t height = 1; height <= 3; ++height)
      for (std::uint32_t depth = 1; depth <= 3; ++depth) grids.push_back({width, height, depth});
  return grids;
}

std::uint32_t apart(std::uint32_t a, std::uint32_t b, std::uint32_t length, bool around) {
  const std::uint32_t distance = a < b ? b - a : a - b;
  return around ? std::min(distance, length - distance) : distance;
}

// The most that a message travels on one grid; `around` where rows and columns are rings.
std::uint32_t farthest_message(const Schedule& schedule, const Grid& grid, bool around) {
  std::uint32_t farthest = 0;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const Program program = collect(schedule, rank, Fusion::none);
    for (const auto& lane : program.lanes) {
      for (const Step& step : lane) {
        for (const Endpoint& end : step.destinations) {
          if (end.place != Place::message) continue;
          const Position from = patterns::position_of(grid, rank);
          const Position to = patterns::position_of(grid, end.rank);
          farthest =
              std::max(farthest, apart(from.x, to.x, grid.width, around) + apart(from.y, to.y, grid.height, around));
        }
      }
    }
  }
  return farthest;
}

TEST(AllReduceOnGrids, EveryMessageGoesToANeighbour) {
  for (const Grid& grid : small_grids()) {
    if (grid.size() == 1) continue;
    SCOPED_TRACE(testing::Message() << grid.width << "x" << grid.height);
    EXPECT_EQ(farthest_message(on_grid("bucket_2d", grid), grid, true), 1U);
    EXPECT_EQ(farthest_message(on_grid("bucket_mesh", grid), grid, false), 1U);
    for (std::uint32_t corner = 0; corner <= 4; ++corner)
      EXPECT_EQ(farthest_message(on_grid("centre", grid, 1, corner), grid, false), 1U);
  }
}

TEST(AllReduceOnGrids, EveryMessageOnATorusOfThreeDimensionsGoesToANeighbour) {
  for (const Grid& grid : small_cuboids()) {
    const Schedule schedule = on_grid("bucket_3d", grid);
    SCOPED_TRACE(schedule.name);
    const bool is_line = grid.width + grid.height + grid.depth == grid.size() + 2;
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
      std::set<std::uint32_t> neighbours;
      for (const patterns::Line& line :
           {patterns::row_of(grid, rank), patterns::column_of(grid, rank), patterns::pillar_of(grid, rank)})
        if (line.length > 1) neighbours.insert(line.next());
      std::set<std::uint32_t> peers;
      for (const auto& lane : collect(schedule, rank, Fusion::none).lanes)
        for (const Step& step : lane)
          for (const Endpoint& end : step.destinations)
            if (end.place == Place::message) peers.insert(end.rank);
      EXPECT_EQ(peers, neighbours);
    }
    EXPECT_EQ(schedule.num_lanes, is_line ? 1U : (grid.width > 1) + (grid.height > 1) + (grid.depth > 1));
  }
}

std::string objection_on(std::string_view name, std::uint32_t ranks, Grid grid) {
  return objection_to(*find_algorithm(Collective::all_reduce, name),
                      {.num_ranks = ranks, .parameters = {.grid = grid}});
}

TEST(AllReduceOnGrids, SixRanksAreNeverTwoByTwo) {
  for (const std::string_view name : {"bucket_2d", "bucket_mesh"}) {
    EXPECT_EQ(objection_on(name, 6, {2, 2}), "a grid of 2x2 does not have 6 ranks");
    EXPECT_EQ(objection_on(name, 6, {2, 3}), "");
    EXPECT_EQ(objection_on(name, 6, {3, 1}), "a grid of 3x1 does not have 6 ranks") << "these take one grid";
  }
  EXPECT_EQ(objection_on("bucket_3d", 6, {2, 2, 2}), "a grid of 2x2x2 does not have 6 ranks");
  EXPECT_EQ(objection_on("bucket_3d", 6, {3, 2}), "");
  EXPECT_EQ(objection_on("bucket_3d", 6, {2, 2}), "a grid of 2x2x1 does not have 6 ranks");
  EXPECT_EQ(objection_on("centre", 6, {2, 2}), "6 ranks are not a whole number of grids of 2x2");
  EXPECT_EQ(objection_on("centre", 6, {3, 1}), "") << "two of them";
  EXPECT_EQ(objection_on("centre", 6, {0, 3}), "6 ranks are not a whole number of grids of 0x3");
  EXPECT_EQ(objection_on("bucket_2d", 12, {3, 2, 2}), "a grid of 3x2x2 has three dimensions, and bucket_2d is for two");
  EXPECT_EQ(objection_on("centre", 6, {4, 3}), "6 ranks are not a whole number of grids of 4x3");
}

TEST(AllReduceOnGrids, OnlyCentresTalkToOtherPackages) {
  const Grid grid{3, 2};
  const Schedule schedule = on_grid("centre", grid, 3);
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const Program program = collect(schedule, rank, Fusion::none);
    for (const auto& lane : program.lanes) {
      for (const Step& step : lane) {
        for (const Endpoint& end : step.destinations) {
          if (end.place != Place::message || end.rank / 6 == rank / 6) continue;
          EXPECT_EQ(rank % 6, 4U);
          EXPECT_EQ(end.rank % 6, 4U);
        }
      }
    }
  }
}

TEST(AllReduceOnGrids, MeshAndOnePackageKeepTheOrderOfTheRanks) {
  for (const Grid& grid : small_grids()) {
    SCOPED_TRACE(testing::Message() << grid.width << "x" << grid.height);
    for (const Schedule& schedule :
         {on_grid("bucket_mesh", grid), on_grid("centre", grid), on_grid("centre", grid, 1, 2)}) {
      const Proof proof = prove(schedule);
      ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
      EXPECT_EQ(schedule.order, OrderClass::rank_order);
      EXPECT_LE(proof.order, OrderClass::rank_order);
    }
  }
}

TEST(AllReduceCosts, BucketOnATorus) {
  for (const Grid& grid : small_grids()) {
    if (grid.size() == 1) continue;
    SCOPED_TRACE(testing::Message() << grid.width << "x" << grid.height);
    const auto n = static_cast<std::uint32_t>(grid.size());
    const bool is_line = grid.width == 1 || grid.height == 1;
    const Cost cost = cost_of(on_grid("bucket_2d", grid));
    EXPECT_EQ(cost.num_pieces, is_line ? n : 2 * n);
    for (const RankCost& rank : cost.ranks) {
      EXPECT_EQ(rank.pieces_sent * n, std::uint64_t{2} * (n - 1) * cost.num_pieces) << "2 (N-1)/N of the buffer";
      EXPECT_EQ(rank.messages, is_line ? 2 * (n - 1) : 4 * (grid.width - 1) + 4 * (grid.height - 1));
    }
    // Four turns of each dimension, two of them side by side.
    EXPECT_EQ(cost.longest_path, is_line ? 2 * (n - 1) : 4 * (std::max(grid.width, grid.height) - 1));
    EXPECT_EQ(cost.roundings, grid.width - 1 + grid.height - 1);
  }
}

TEST(AllReduceCosts, BucketOnATorusOfThreeDimensions) {
  for (const Grid& grid : small_cuboids()) {
    if (grid.size() == 1) continue;
    const Schedule schedule = on_grid("bucket_3d", grid);
    SCOPED_TRACE(schedule.name);
    const auto n = static_cast<std::uint32_t>(grid.size());
    const std::uint32_t dimensions = schedule.num_lanes;
    const std::uint32_t hops = grid.width + grid.height + grid.depth - 3;
    const Cost cost = cost_of(schedule);
    EXPECT_EQ(cost.num_pieces, dimensions * n);
    for (const RankCost& rank : cost.ranks) {
      EXPECT_EQ(rank.pieces_sent * n, std::uint64_t{2} * (n - 1) * cost.num_pieces) << "2 (N-1)/N of the buffer";
      EXPECT_EQ(rank.messages, 2 * dimensions * hops);
    }
    // As many turns of each dimension there and back as there are dimensions, all of these side by side.
    EXPECT_EQ(cost.longest_path, 2 * dimensions * (std::max({grid.width, grid.height, grid.depth}) - 1));
    EXPECT_EQ(cost.roundings, hops);
  }
}

TEST(AllReduceCosts, ATorusOfOneLayerIsOneOfTwoDimensions) {
  for (const Grid& grid : small_grids()) {
    const Schedule flat = on_grid("bucket_2d", grid);
    const Schedule layer = on_grid("bucket_3d", grid);
    for (std::uint32_t rank = 0; rank < flat.num_ranks; ++rank)
      EXPECT_EQ(collect(flat, rank, Fusion::none).lanes, collect(layer, rank, Fusion::none).lanes) << layer.name;
  }
}

TEST(AllReduceCosts, BucketOnAMesh) {
  const auto degree = [](std::uint32_t place, std::uint32_t length) {
    return (place > 0 ? 1U : 0U) + (place + 1 < length ? 1U : 0U);
  };
  for (const Grid& grid : small_grids()) {
    if (grid.size() == 1) continue;
    SCOPED_TRACE(testing::Message() << grid.width << "x" << grid.height);
    const auto n = static_cast<std::uint32_t>(grid.size());
    const Cost cost = cost_of(on_grid("bucket_mesh", grid));
    EXPECT_EQ(cost.num_pieces, n);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const Position position = patterns::position_of(grid, rank);
      const std::uint32_t in_row = degree(position.x, grid.width);
      const std::uint32_t in_column = degree(position.y, grid.height);
      EXPECT_EQ(cost.ranks[rank].messages, in_row * grid.width + in_column * grid.height);
      EXPECT_EQ(cost.ranks[rank].pieces_sent, in_row * n + in_column * grid.height);
    }
    EXPECT_EQ(cost.longest_path, 2 * (grid.width - 1 + grid.height - 1));
    EXPECT_EQ(cost.roundings, grid.width - 1 + grid.height - 1);
  }
}

TEST(AllReduceCosts, CentreAndCorner) {
  for (const Grid& grid : small_grids()) {
    for (const std::uint32_t packages : {1U, 2U, 3U}) {
      for (std::uint32_t corner = 0; corner <= 4; ++corner) {
        SCOPED_TRACE(testing::Message() << packages << " of " << grid.width << "x" << grid.height << ", " << corner);
        const auto n = static_cast<std::uint32_t>(grid.size());
        const Cost cost = cost_of(on_grid("centre", grid, packages, corner));
        const std::uint32_t to_corner = grid.width - 1 + grid.height - 1;
        const std::uint32_t distance = corner == 0 ? grid.width / 2 + grid.height / 2 : to_corner;
        EXPECT_EQ(cost.num_pieces, packages) << "what a ring of packages wants";
        EXPECT_EQ(cost.longest_path, 2 * distance + 2 * (packages - 1));
        EXPECT_EQ(cost.roundings, distance + packages - 1);
        EXPECT_EQ(cost.total.messages, 2 * packages * (n - 1) + 2 * packages * (packages - 1));
        EXPECT_EQ(cost.total.pieces_sent,
                  packages * cost.total.messages - std::uint64_t{2} * packages * (packages - 1) * (packages - 1));
      }
    }
  }
}

TEST(AllReduceCosts, CentreBeatsCornerOnEveryGridThatHasAMiddle) {
  for (const Grid& grid : small_grids()) {
    if (grid.width < 3 && grid.height < 3) continue;
    for (std::uint32_t corner = 1; corner <= 4; ++corner)
      EXPECT_LT(cost_of(on_grid("centre", grid)).longest_path,
                cost_of(on_grid("centre", grid, 1, corner)).longest_path);
  }
}

TEST(AllReduceCosts, SwitchesReadAndWriteOnce) {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
    const Cost one_shot = cost_of(make("multicast_one_shot", ranks, {}));
    EXPECT_EQ(one_shot.num_pieces, 1U);
    EXPECT_EQ(one_shot.most.pieces_pulled, 1U);
    EXPECT_EQ(one_shot.most.pieces_pushed, 0U);
    EXPECT_EQ(one_shot.longest_path, 1U);
    EXPECT_EQ(one_shot.roundings, 1U);
    const Cost two_shot = cost_of(make("multicast_two_shot", ranks, {}));
    EXPECT_EQ(two_shot.num_pieces, ranks);
    EXPECT_EQ(two_shot.most.pieces_pulled, 1U);
    EXPECT_EQ(two_shot.most.pieces_pushed, 1U);
    EXPECT_EQ(two_shot.longest_path, 2U);
    EXPECT_EQ(two_shot.roundings, 1U);
  }
}

TEST(AllReduceWithSwitches, FoldOncePerRankOrOncePerPiece) {
  for (std::uint32_t ranks = 3; ranks <= 9; ++ranks) {
    const Proof one_shot = prove(make("multicast_one_shot", ranks, {}));
    ASSERT_TRUE(one_shot.ok()) << one_shot.failure->to_string();
    EXPECT_EQ(one_shot.order, OrderClass::free);
    EXPECT_EQ(one_shot.in_place.exposure, Exposure::copy_only);
    const Proof two_shot = prove(make("multicast_two_shot", ranks, {}));
    ASSERT_TRUE(two_shot.ok()) << two_shot.failure->to_string();
    EXPECT_EQ(two_shot.order, OrderClass::uniform);
    EXPECT_EQ(two_shot.in_place.exposure, Exposure::name_safe);
  }
}

// All ways to write n as a sum of parts in order.
std::vector<std::vector<std::uint32_t>> compositions(std::uint32_t n) {
  std::vector<std::vector<std::uint32_t>> all;
  for (std::uint32_t cuts = 0; cuts < 1U << (n - 1); ++cuts) {
    std::vector<std::uint32_t> parts = {1};
    for (std::uint32_t place = 0; place + 1 < n; ++place) {
      if ((cuts >> place & 1U) != 0) parts.push_back(0);
      ++parts.back();
    }
    all.push_back(std::move(parts));
  }
  return all;
}

// From a group that has members to fold, as far around the ring as its steps lead, to one that has members to tell.
std::uint32_t longest_path_over_a_ring(const std::vector<std::uint32_t>& sizes) {
  const auto between = static_cast<std::uint32_t>(sizes.size());
  std::uint32_t longest = 0;
  for (std::uint32_t from = 0; from < between; ++from) {
    for (std::uint32_t hops = 0; hops <= 2 * (between - 1); ++hops) {
      const std::uint32_t to = (from + hops) % between;
      longest = std::max(longest, hops + (sizes[from] > 1 ? 1 : 0) + (sizes[to] > 1 ? 1 : 0));
    }
  }
  return longest;
}

TEST(AllReduceCosts, HierarchicalOverARing) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (const std::vector<std::uint32_t>& sizes : compositions(ranks)) {
      const Schedule schedule = make("hierarchical", ranks, {.groups = sizes});
      SCOPED_TRACE(schedule.name);
      const patterns::Groups groups(sizes);
      const std::uint32_t between = groups.num_groups();
      const std::uint32_t columns = groups.least_size();
      const std::uint32_t widest = *std::max_element(sizes.begin(), sizes.end());
      const Cost cost = cost_of(schedule);
      EXPECT_EQ(cost.num_pieces, columns * between);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t group = groups.group_of(rank);
        const bool in_charge = rank - groups.first(group) < columns;
        EXPECT_EQ(cost.ranks[rank].messages, in_charge ? 2 * (between - 1) : 0);
        EXPECT_EQ(cost.ranks[rank].pieces_sent, cost.ranks[rank].messages) << "2 (k-1)/k of a column";
        const std::uint32_t others = groups.size(group) - 1;
        EXPECT_EQ(cost.ranks[rank].pieces_pulled, between * (in_charge ? others + columns - 1 : columns));
      }
      EXPECT_EQ(cost.longest_path, longest_path_over_a_ring(sizes));
      EXPECT_EQ(cost.roundings, between - 1 + (widest > 1 ? 1 : 0));
    }
  }
}

// Inner algorithms with one lane and with two, with After between them, and with an order of their own.
struct Inner {
  std::string name;
  std::vector<std::uint32_t> groups;
  Grid grid;
  OrderClass order = OrderClass::uniform;
};

std::vector<Inner> inners() {
  return {{"ring", {2, 3, 2}, {}},
          {"bucket_2d", {2, 3, 2, 4}, {2, 2}},
          {"bucket_2d", {1, 1, 3, 2, 1, 1}, {3, 2}},
          {"bucket_3d", {1, 2, 1, 1, 3, 1, 2, 1}, {2, 2, 2}},
          {"bucket_mesh", {2, 2, 3, 2, 2, 5}, {2, 3}, OrderClass::rank_order},
          {"centre", {3, 3, 4}, {3, 1}, OrderClass::rank_order},
          {"centre", {2, 2, 2, 2, 2, 2}, {3, 1}},
          {"ring", {6}, {}, OrderClass::ordered}};
}

TEST(Hierarchical, RunsAnyMessageAlgorithmBetweenGroups) {
  for (const Inner& inner : inners()) {
    const patterns::Groups groups(inner.groups);
    const std::uint32_t ranks = groups.first(groups.num_groups() - 1) + inner.groups.back();
    const Schedule schedule =
        make("hierarchical", ranks, {.grid = inner.grid, .groups = inner.groups, .inner = inner.name});
    SCOPED_TRACE(schedule.name);
    EXPECT_EQ(schedule.order, inner.order);
    const Proof proof = prove(schedule);
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.order, inner.order);
    EXPECT_LE(proof.least_depth_fused, 2U);
    EXPECT_EQ(proof.in_place.exposure, Exposure::name_safe);
    EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
  }
}

TEST(Hierarchical, RunsTheWholeCatalogueBetweenGroups) {
  const std::vector<std::uint32_t> sizes = {3, 2, 4, 2, 2, 3};
  for (const Algorithm* algorithm : algorithms_of(Collective::all_reduce)) {
    if (algorithm->channel != Channel::message) continue;
    for (std::uint32_t between = 2; between <= sizes.size(); ++between) {
      for (const Request& request : cases_of(*algorithm, between)) {
        Parameters parameters = request.parameters;
        parameters.groups.assign(sizes.begin(), sizes.begin() + between);
        parameters.inner = algorithm->name;
        const std::uint32_t ranks = std::accumulate(sizes.begin(), sizes.begin() + between, 0U);
        const Schedule schedule = make("hierarchical", ranks, parameters);
        SCOPED_TRACE(schedule.name);
        const Proof proof = prove(schedule);
        ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
        EXPECT_LE(proof.least_depth_fused, 2U);
      }
    }
  }
}

TEST(Hierarchical, SaysWhatIsInTheWay) {
  const Algorithm& algorithm = *find_algorithm(Collective::all_reduce, "hierarchical");
  const auto objection = [&](const Parameters& parameters) {
    return objection_to(algorithm, {.num_ranks = 5, .parameters = parameters});
  };
  EXPECT_EQ(objection({.groups = {2, 3}}), "");
  EXPECT_EQ(objection({.groups = {2, 2}}), "groups of 2+2 ranks do not add up to 5");
  EXPECT_EQ(objection({.groups = {2, 3, 0}}), "a group of no ranks");
  EXPECT_EQ(objection({.groups = {2, 3}, .inner = "rung"}),
            "there is no all_reduce algorithm rung to run between groups");
  EXPECT_EQ(objection({.groups = {2, 3}, .inner = "one_shot"}),
            "one_shot is for the staged channel; what runs between groups is for messages");
  EXPECT_EQ(objection({.grid = {2, 2}, .groups = {2, 2, 1}, .inner = "bucket_2d"}),
            "between groups, bucket_2d: a grid of 2x2 does not have 3 ranks");
}

TEST(Hierarchical, NamesTheInnerAlgorithmWithItsParameters) {
  EXPECT_EQ(make("hierarchical", 5, {.groups = {2, 3}}).name, "hierarchical(2+3, ring)");
  EXPECT_EQ(make("hierarchical", 5, {.grid = {1, 2}, .groups = {2, 3}, .inner = "bucket_2d"}).name,
            "hierarchical(2+3, bucket_2d(1x2))");
  EXPECT_EQ(on_grid("centre", {3, 2}, 2, 3).name, "centre(3x2, corner 3)");
}

// How many ranks' outputs are not the sum of 1, 2, 4 ... times 7 at one element and 8 at the next.
int num_wrong(const Schedule& schedule, std::uint64_t count, const NumbersOptions& options) {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::int64_t> sums(count);
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    std::vector<std::int64_t> numbers(count);
    for (std::uint64_t each = 0; each < count; ++each) {
      numbers[each] = static_cast<std::int64_t>((each + 7) << rank);
      sums[each] += numbers[each];
    }
    const auto bytes = std::as_bytes(std::span(numbers));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  const NumbersData data{sizeof(std::int64_t), count, 3, fold_of<std::int64_t>(std::plus<>())};
  const auto outputs = run_on_numbers(schedule, inputs, data, options);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  if (!outputs.ok()) return -1;
  const auto expected = std::as_bytes(std::span(sums));
  return static_cast<int>(std::count_if(outputs->begin(), outputs->end(), [&](const auto& output) {
    return !std::equal(output.begin(), output.end(), expected.begin(), expected.end());
  }));
}

TEST(Hierarchical, GivesTheSumWithEveryInnerAlgorithm) {
  for (const Inner& inner : inners()) {
    const patterns::Groups groups(inner.groups);
    const std::uint32_t ranks = groups.first(groups.num_groups() - 1) + inner.groups.back();
    const Schedule schedule =
        make("hierarchical", ranks, {.grid = inner.grid, .groups = inner.groups, .inner = inner.name});
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      SCOPED_TRACE(testing::Message() << schedule.name << ", seed " << seed);
      NumbersOptions options{.seed = seed, .fusion = seed % 2 == 0 ? Fusion::none : Fusion::neighbours};
      options.in_place = seed % 4 >= 2;
      options.staged = seed % 8 >= 4;
      EXPECT_EQ(num_wrong(schedule, 5 + seed * 13, options), 0);
    }
  }
}

}  // namespace
}  // namespace tutti
