// SPDX-License-Identifier: Apache-2.0
// No rank leaves a barrier before all have come to it, whichever algorithm it is.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"
#include "algorithms/registry.hpp"

namespace tutti {
namespace {

// How many ranks have come, rank `late` of them a little after the others.
void come(std::atomic<std::uint32_t>& arrived, std::uint32_t rank, std::uint32_t late) {
  if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  arrived.fetch_add(1, std::memory_order_relaxed);
}

void expect_to_hold(const Settings& settings, std::uint32_t ranks) {
  std::atomic<std::uint32_t> arrived = 0;
  test::ThreadRanks group(ranks, settings);
  group.run([&](Communicator& communicator) {
    for (std::uint32_t late = 0; late < ranks; ++late) {
      come(arrived, communicator.rank(), late);
      const Status status = communicator.run({.collective = Collective::barrier});
      ASSERT_TRUE(status.ok()) << status.to_string();
      ASSERT_GE(arrived.load(std::memory_order_relaxed), (late + 1) * ranks);
    }
  });
}

TEST(Barrier, HoldsAllUntilTheLastHasComeInEveryAlgorithm) {
  std::vector<std::string> names = {"", "dissemination(3)"};
  for (const Algorithm* each : algorithms_of(Collective::barrier)) names.emplace_back(each->name);
  for (const std::string& name : names)
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U}) {
      SCOPED_TRACE(name + " of " + std::to_string(ranks));
      Settings settings = Settings::from(Variables());
      settings.forced_of(Collective::barrier).name = name;
      expect_to_hold(settings, ranks);
      settings.walker = WalkerChoice::generic;
      expect_to_hold(settings, ranks);
    }
}

}  // namespace
}  // namespace tutti
