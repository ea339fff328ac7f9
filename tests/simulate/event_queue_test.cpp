// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/event_queue.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::simulate {
namespace {

TEST(EventQueue, GivesEqualTimesInTheOrderInWhichTheyCame) {
  EventQueue<int> queue;
  queue.push(2.5, 1);
  queue.push(1, 2);
  queue.push(2.5, 3);
  EXPECT_EQ(queue.pop().what, 2);
  queue.push(2.5, 4);
  queue.push(1, 5);
  for (const int expected : {5, 1, 3, 4}) EXPECT_EQ(queue.pop().what, expected);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, AgreesWithSortingAllThatIsThere) {
  std::mt19937_64 random(7);
  EventQueue<int> queue;
  std::vector<std::pair<double, int>> reference;
  double now = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (reference.empty() || random() % 2 == 0) {
      // Few different times, so that many are equal; some far away.
      const double time = now + static_cast<double>(random() % 5) * (random() % 50 == 0 ? 1e6 : 0.25);
      queue.push(time, i);
      reference.emplace_back(time, i);
      continue;
    }
    const auto least = std::min_element(reference.begin(), reference.end());
    const auto event = queue.pop();
    ASSERT_EQ(event.time, least->first);
    ASSERT_EQ(event.what, least->second);
    now = event.time;
    reference.erase(least);
    ASSERT_EQ(queue.size(), reference.size());
  }
}

}  // namespace
}  // namespace tutti::simulate
