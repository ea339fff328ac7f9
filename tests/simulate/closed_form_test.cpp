// SPDX-License-Identifier: Apache-2.0
// On fabrics where nothing is in anything's way, what the simulator says is the LogGP formula of the schedule.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "loggp.hpp"
#include "schedule/prove/definition.hpp"
#include "simulate/simulate.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

constexpr LogGP kMessages{.latency = 700, .send_overhead = 110, .receive_overhead = 90, .per_byte = 0.04, .fold = 0.03};
// Lanes of a rank share its core, so that the formula has no overheads where there are several.
constexpr LogGP kWiresOnly{.latency = 700, .per_byte = 0.04};

fabric::Fabric fabric_of(std::uint32_t num_ranks, const LogGP& costs) {
  fabric::Fabric made = wires(num_ranks, costs.latency, costs.per_byte > 0 ? 1 / costs.per_byte : 0);
  made.costs[0] = {.send_overhead = costs.send_overhead, .receive_overhead = costs.receive_overhead};
  made.memories[0].bandwidth = costs.fold > 0 ? 1 / costs.fold : 0;
  return made;
}

// No wire but its latency: cores carry, by curves, which are exact at the sizes that are asked for.
fabric::Fabric carrying(std::uint32_t num_ranks, const LogGP& costs, const std::vector<std::uint64_t>& sizes) {
  fabric::Fabric made = fabric_of(num_ranks, costs);
  const auto curve = [&](const LogGP::Line& line) {
    fabric::Curve points;
    for (const std::uint64_t bytes : sizes) points.points.push_back({bytes, line.of(static_cast<double>(bytes))});
    return points;
  };
  fabric::Costs& of_ranks = made.costs[0];
  of_ranks.send_times = curve(costs.carried->send);
  of_ranks.receive_times = curve(costs.carried->receive);
  of_ranks.fold_times = curve(costs.carried->fold);
  of_ranks.forward_times = curve(costs.carried->forward);
  of_ranks.fold_forward_times = curve(costs.carried->fold_forward);
  // Another rate for each working set, but from the least on that there is.
  made.memories[0].bandwidths.points = {{1, 5 / costs.fold}, {2, 1 / costs.fold}};
  made.memories[0].beside_bandwidths.points = {{1, 5 / costs.carried->beside}, {2, 1 / costs.carried->beside}};
  return made;
}

// Of blocks that differ in size: some of nothing, some three times as long.
std::vector<std::uint64_t> sizes_of(const Schedule& schedule, std::uint64_t bytes) {
  if (!facts_of(schedule.collective).varies) return {};
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t each = 0; each < num_size_classes(schedule); ++each) sizes.push_back(each * 7 % 4 * bytes);
  return sizes;
}

class ClosedForm : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ClosedForm, EveryAlgorithmTakesAsLongAsItsFormulaSays) {
  const std::uint32_t num_ranks = GetParam();
  int compared = 0;
  std::set<std::string> queued;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel == Channel::multicast) continue;
    const std::vector<Request> requests = cases_of(*algorithm, num_ranks);
    if (requests.empty()) continue;
    const Schedule schedule = algorithm->make(requests.front());
    const Programs programs(schedule, Fusion::neighbours);
    const LogGP costs = schedule.num_lanes > 1 ? kWiresOnly : kMessages;
    const bool staged = algorithm->channel == Channel::staged;
    for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{999}, std::uint64_t{100'000}}) {
      SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)) + ", " + std::to_string(bytes));
      const std::vector<std::uint64_t> sizes = sizes_of(schedule, bytes);
      const Result<Answer> answer =
          simulate(schedule, fabric_of(num_ranks, costs), {.count = bytes, .counts = sizes, .staged = staged});
      ASSERT_TRUE(answer.ok()) << answer.status().to_string();
      EXPECT_TRUE(answer->checked);
      const double formula = Formula(programs, costs, sizes.empty() ? std::vector{bytes} : sizes, staged).time();
      EXPECT_NEAR(answer->shares.total(), answer->time, answer->time * 1e-9);
      EXPECT_NEAR(answer->shares.of(Share::peer_wait), 0, answer->time * 1e-9);  // no queue is limited
      if (answer->shares.of(Share::link_wait) + answer->shares.of(Share::core_wait) > 0 ||
          answer->time > formula * (1 + 1e-9)) {
        // Two messages followed each other over one wire faster than it takes them.
        EXPECT_GT(answer->time, formula * (1 - 1e-9));
        queued.insert(std::string(name_of(algorithm->collective)) + " " + schedule.name);
        continue;
      }
      EXPECT_NEAR(answer->time, formula, formula * 1e-9);
      ++compared;
    }
  }
  EXPECT_GE(compared, 160);
  // Its root sends on what it has just scattered, over the same wire.
  queued.erase("broadcast scatter_all_gather");
  // What its root stores and what is read from it leave over one wire.
  queued.erase("broadcast push_pull");
  // Of the pieces of a rank's input several are read over its one wire; of two ranks the root reads and is stored to.
  queued.erase("reduce push_pull");
  // Of two ranks, each stores over the wire on which the other reads from it.
  if (num_ranks == 2) queued.erase("all_reduce two_shot");
  EXPECT_EQ(queued, std::set<std::string>{});
}

TEST_P(ClosedForm, SoDoesOneWhoseCoresCarry) {
  constexpr LogGP kCarrying{.latency = 130,
                            .send_overhead = 45,
                            .receive_overhead = 35,
                            .fold = 0.01,
                            .carried = LogGP::Carried{.send = {20, 0.03},
                                                      .receive = {25, 0.05},
                                                      .fold = {40, 0.07},
                                                      .forward = {50, 0.09},
                                                      .fold_forward = {60, 0.11},
                                                      .beside = 0.004}};
  constexpr std::uint64_t kBytes = 999;
  const std::uint32_t num_ranks = GetParam();
  std::vector<std::uint64_t> all_sizes;
  for (std::uint64_t bytes = 1; bytes <= 3 * kBytes * num_ranks; ++bytes) all_sizes.push_back(bytes);
  const fabric::Fabric made = carrying(num_ranks, kCarrying, all_sizes);
  int compared = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel == Channel::multicast) continue;
    const std::vector<Request> requests = cases_of(*algorithm, num_ranks);
    if (requests.empty()) continue;
    const Schedule schedule = algorithm->make(requests.front());
    if (schedule.num_lanes > 1) continue;  // lanes of a rank share its core
    const Programs programs(schedule, Fusion::neighbours);
    const bool staged = algorithm->channel == Channel::staged;
    for (const std::uint64_t bytes : {std::uint64_t{1}, kBytes}) {
      SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)) + ", " + std::to_string(bytes));
      const std::vector<std::uint64_t> sizes = sizes_of(schedule, bytes);
      const Result<Answer> answer = simulate(schedule, made, {.count = bytes, .counts = sizes, .staged = staged});
      ASSERT_TRUE(answer.ok()) << answer.status().to_string();
      EXPECT_TRUE(answer->checked);
      EXPECT_NEAR(answer->shares.total(), answer->time, answer->time * 1e-9);
      const double formula = Formula(programs, kCarrying, sizes.empty() ? std::vector{bytes} : sizes, staged).time();
      EXPECT_NEAR(answer->time, formula, formula * 1e-9);
      ++compared;
    }
  }
  EXPECT_GE(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForm, testing::Values(2U, 3U, 4U, 6U, 8U, 16U, 17U));

}  // namespace
}  // namespace tutti::simulate
