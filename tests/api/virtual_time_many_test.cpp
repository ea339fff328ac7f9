// SPDX-License-Identifier: Apache-2.0
// Virtual time with many ranks in one process.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "virtual_time.hpp"

namespace tutti::test {
namespace {

// So many that reading from each would take long to plan: clocks and counts travel by other algorithms.
TEST(VirtualTime, ManyRanksOfOneProcessTakeWhatTheirSchedulesTake) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer takes minutes, and ThreadSanitizer leaves too few addresses for all regions";
#endif
  constexpr int kMany = 144;
  constexpr std::uint64_t kCount = 1000;
  const std::string fabric = "torus_2d:12x12";
  std::vector<std::size_t> sizes(kMany);
  for (int rank = 0; rank < kMany; ++rank) sizes[static_cast<std::size_t>(rank)] = static_cast<std::size_t>(rank % 3);
  const std::vector<std::uint64_t> counts(sizes.begin(), sizes.end());
  const double reducing = simulated(fabric, Collective::all_reduce, "ring", kCount).time;
  const double gathering = simulated(fabric, Collective::all_gather_v, "ring", 0, 0, false, counts).time;
  run_with(kMany, {on(fabric), "TUTTI_ALLREDUCE_ALGORITHM=ring", "TUTTI_ALLGATHERV_ALGORITHM=ring"},
           [&](tuttiComm_t comm, int rank, tuttiResult_t made) {
             ASSERT_EQ(made, tuttiSuccess) << tuttiGetLastError(nullptr);
             const Ints mine(kCount, rank);
             Ints sum(kCount);
             EXPECT_DONE(tuttiAllReduce(mine.data(), sum.data(), kCount, tuttiInt, tuttiSum, comm));
             EXPECT_EQ(sum, Ints(kCount, kMany * (kMany - 1) / 2));
             EXPECT_EQ(last(comm), reducing);
             Ints all(kMany);  // a third has none, a third one, a third two
             EXPECT_DONE(tuttiAllGatherV(mine.data(), sizes[static_cast<std::size_t>(rank)], all.data(), sizes.data(),
                                         nullptr, tuttiInt, comm));
             Ints expected;
             for (int each = 0; each < kMany; ++each) expected.insert(expected.end(), each % 3, each);
             EXPECT_EQ(all, expected);
             EXPECT_EQ(last(comm), gathering);
           });
}

}  // namespace
}  // namespace tutti::test
