// SPDX-License-Identifier: Apache-2.0
#include "simulate/gemm/operations.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::simulate {
namespace {

// Items go through all units one after another; `slots` of them may be between two units, 0 for any number.
std::vector<Operation> pipeline(const std::vector<double>& times, std::uint32_t num_items, std::uint32_t slots) {
  std::vector<Operation> operations;
  const auto width = static_cast<std::uint32_t>(times.size());
  for (std::uint32_t item = 0; item < num_items; ++item) {
    for (std::uint32_t unit = 0; unit < width; ++unit) {
      Operation operation{.unit = unit, .work = times[unit]};
      if (unit > 0) operation.after[0] = item * width + unit - 1;
      if (unit + 1 < width && slots > 0 && item >= slots) operation.after[1] = (item - slots) * width + unit + 1;
      operations.push_back(operation);
    }
  }
  return operations;
}

double time_of(const std::vector<Operation>& operations, std::uint32_t num_units) {
  return operate(operations, num_units, {}).operations.back().end;
}

TEST(Operations, APipelineTakesOneItemThroughAllAndTheRestThroughTheSlowest) {
  for (const std::vector<double>& times :
       {std::vector<double>{5}, {1, 2, 3}, {3, 2, 1}, {2, 7, 4, 7, 1}, {0, 1, 0}, {4, 4, 4}}) {
    const double once = std::accumulate(times.begin(), times.end(), 0.0);
    const double slowest = *std::max_element(times.begin(), times.end());
    for (const std::uint32_t items : {1U, 2U, 9U, 50U}) {
      EXPECT_DOUBLE_EQ(time_of(pipeline(times, items, 0), static_cast<std::uint32_t>(times.size())),
                       once + (items - 1) * slowest);
    }
  }
}

// With one slot a unit begins the next item when the one behind it is done with this one, so that two neighbours are
// one stage.
TEST(Operations, WithOneSlotNeighboursTakeTurns) {
  for (const std::vector<double>& times : {std::vector<double>{1, 2, 3}, {3, 2, 1}, {2, 7, 4, 7, 1}}) {
    double pair = 0;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) pair = std::max(pair, times[i] + times[i + 1]);
    const double once = std::accumulate(times.begin(), times.end(), 0.0);
    EXPECT_DOUBLE_EQ(time_of(pipeline(times, 20, 1), static_cast<std::uint32_t>(times.size())), once + 19 * pair);
    EXPECT_LT(time_of(pipeline(times, 20, 2), static_cast<std::uint32_t>(times.size())), once + 19 * pair);
  }
}

TEST(Operations, AUnitTakesWhatIsReadyFirst) {
  // While unit 0 is busy, one operation is ready for it at 8, and one that is later in the list at 4.
  constexpr std::uint32_t kNone = kNoOperation;
  const std::vector<Operation> operations{{.unit = 0, .work = 10},
                                          {.unit = 1, .work = 8},
                                          {.unit = 0, .work = 1, .after = {1, kNone, kNone}},
                                          {.unit = 2, .work = 4},
                                          {.unit = 0, .work = 2, .after = {3, kNone, kNone}}};
  const Operated answer = operate(operations, 3, {});
  EXPECT_DOUBLE_EQ(answer.operations[4].begin, 10);
  EXPECT_DOUBLE_EQ(answer.operations[2].begin, 12);
  EXPECT_DOUBLE_EQ(answer.operations[2].end, 13);
  EXPECT_EQ(answer.events, 5U);
}

// 100 bytes over a link of 10 a nanosecond and 3 ns, twice at once: the second waits until the first has entered.
TEST(Operations, BytesQueueForLinksAndHoldTheirUnitUntilTheyAreThere) {
  fabric::Fabric fabric;
  fabric.links = {{.bandwidth = 10, .latency = 3}};
  constexpr std::array<std::uint32_t, 1> kLink = {0};
  const std::vector<Operation> operations{{.unit = 0, .work = 2, .bytes = 100, .links = kLink},
                                          {.unit = 1, .work = 2, .bytes = 100, .links = kLink},
                                          {.unit = 0, .work = 1}};
  const Operated answer = operate(operations, 2, fabric);
  EXPECT_DOUBLE_EQ(answer.operations[0].end, 2 + 10 + 3);
  EXPECT_DOUBLE_EQ(answer.operations[1].end, 2 + 10 + 10 + 3);
  EXPECT_DOUBLE_EQ(answer.operations[2].begin, 15);
  EXPECT_DOUBLE_EQ(answer.links[0].bytes, 200);
  EXPECT_DOUBLE_EQ(answer.links[0].busy, 20);
}

TEST(Operations, NothingTakesNoTime) { EXPECT_TRUE(operate({}, 1, {}).operations.empty()); }

}  // namespace
}  // namespace tutti::simulate
