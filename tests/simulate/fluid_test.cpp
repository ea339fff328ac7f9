// SPDX-License-Identifier: Apache-2.0
// Max-min fair sharing against a model as plain as can be: messages of all ranks as fluids on a star, walked from event
// to event with nothing remembered in between.
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/programs.hpp"
#include "simulate/simulate.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

struct Fluid {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double left = 0;
  double rate = 0;
};

// Each rank has a pipe out and a pipe in, of one capacity.
void set_rates(std::vector<Fluid>& fluids, std::uint32_t num_ranks, double capacity) {
  std::vector<double> left(std::size_t{2} * num_ranks, capacity);
  std::vector<Fluid*> open;
  for (Fluid& fluid : fluids) open.push_back(&fluid);
  while (!open.empty()) {
    std::vector<int> count(left.size());
    for (const Fluid* fluid : open) {
      ++count[fluid->from];
      ++count[num_ranks + fluid->to];
    }
    std::size_t tightest = left.size();
    for (std::size_t pipe = 0; pipe < left.size(); ++pipe) {
      if (count[pipe] == 0) continue;
      if (tightest == left.size() || left[pipe] / count[pipe] < left[tightest] / count[tightest]) tightest = pipe;
    }
    const double rate = left[tightest] / count[tightest];
    std::vector<Fluid*> rest;
    for (Fluid* fluid : open) {
      if (fluid->from != tightest && num_ranks + fluid->to != tightest) {
        rest.push_back(fluid);
        continue;
      }
      fluid->rate = rate;
      left[fluid->from] -= rate;
      left[num_ranks + fluid->to] -= rate;
    }
    open = rest;
  }
}

// Messages of one size between each two ranks at most once, which pairwise exchanges are.
double time_of(const Programs& programs, double bytes, double latency, double capacity) {
  const std::uint32_t num_ranks = programs.num_ranks();
  std::vector<std::size_t> at(num_ranks);
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> has_come;
  std::vector<std::pair<double, Fluid>> coming;
  std::vector<Fluid> fluids;
  double now = 0;
  const auto walk = [&] {
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      const std::vector<Step>& steps = programs.steps(rank, 0);
      for (; at[rank] < steps.size(); ++at[rank]) {
        const Step& step = steps[at[rank]];
        const bool waits = std::any_of(step.sources.begin(), step.sources.end(), [&](const Endpoint& end) {
          return end.place == Place::message && !has_come[{end.rank, rank}];
        });
        if (waits) break;
        for (const Endpoint& end : step.destinations)
          if (end.place == Place::message) coming.push_back({now + latency, {rank, end.rank, bytes}});
      }
    }
  };
  for (walk(); !coming.empty() || !fluids.empty(); walk()) {
    set_rates(fluids, num_ranks, capacity);
    double next = std::numeric_limits<double>::infinity();
    for (const auto& [time, fluid] : coming) next = std::min(next, time);
    for (const Fluid& fluid : fluids) next = std::min(next, now + fluid.left / fluid.rate);
    for (Fluid& fluid : fluids) fluid.left -= fluid.rate * (next - now);
    now = next;
    std::vector<Fluid> still;
    for (const Fluid& fluid : fluids) {
      if (fluid.left > 1e-4) {
        still.push_back(fluid);
      } else {
        has_come[{fluid.from, fluid.to}] = true;
      }
    }
    fluids = still;
    std::vector<std::pair<double, Fluid>> later;
    for (const auto& [time, fluid] : coming) {
      if (time > now + 1e-9) {
        later.push_back({time, fluid});
      } else {
        fluids.push_back(fluid);
      }
    }
    coming = later;
  }
  return now;
}

TEST(FairNetwork, SharesAsAPlainFluidModelDoes) {
  Request request;
  request.collective = Collective::all_to_all;
  for (const std::uint32_t num_ranks : {3U, 5U, 6U, 7U, 8U, 9U, 11U}) {
    request.num_ranks = num_ranks;
    const Schedule schedule = find_algorithm(Collective::all_to_all, "pairwise")->make(request);
    const Result<Answer> answer =
        simulate(schedule, star(num_ranks, 500, 10), {.count = 1'000'000, .sharing = Sharing::fair});
    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    const double plain = time_of(Programs(schedule, Fusion::neighbours), 1'000'000, 1000, 10);
    EXPECT_NEAR(answer->time, plain, plain * 1e-9) << num_ranks << " ranks";
  }
}

}  // namespace
}  // namespace tutti::simulate
