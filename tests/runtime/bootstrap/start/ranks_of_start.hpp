// SPDX-License-Identifier: Apache-2.0
// Ranks that look for whom they were started with, as threads of the test: each has an environment of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../ranks.hpp"
#include "runtime/bootstrap/start/start.hpp"

namespace tutti::test {

inline StartOptions patient_start() { return {.timeout = Nanos(20'000'000'000)}; }

struct StartedRank {
  std::unique_ptr<Start> start = std::make_unique<Start>();  // to live as long as others ask for its id
  Result<Started> started = Status(Code::internal, "not asked yet");
};

inline StartedRank find_start(const Environment& environment, const StartOptions& options = patient_start()) {
  StartedRank rank;
  rank.started = rank.start->find(environment, Variables(), options);
  return rank;
}

// What each rank finds, with the environment that it has.
inline std::vector<StartedRank> find_on_threads(int num_ranks,
                                                const std::function<Environment(int rank)>& environment) {
  std::vector<StartedRank> ranks;
  for (auto& each : on_threads(num_ranks, [&](int rank) { return find_start(environment(rank)); }))
    ranks.push_back(std::move(*each));
  return ranks;
}

inline void expect_one_start(const std::vector<StartedRank>& ranks, std::string_view by) {
  int expected = 0;
  for (const StartedRank& rank : ranks) {
    ASSERT_TRUE(rank.started.ok()) << rank.started.status().to_string();
    EXPECT_EQ(rank.started->rank, expected++);
    EXPECT_EQ(rank.started->num_ranks, static_cast<int>(ranks.size()));
    EXPECT_EQ(rank.started->id, ranks[0].started->id);
    EXPECT_EQ(rank.started->by, by);
  }
}

inline std::string words_of(const StartedRank& rank) {
  return rank.started.ok() ? std::string("found") : rank.started.status().to_string();
}

}  // namespace tutti::test
