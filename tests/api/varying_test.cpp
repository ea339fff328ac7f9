// SPDX-License-Identifier: Apache-2.0
// The collectives whose blocks differ in size, begun, prepared and in groups.
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace tutti::test {
namespace {

using Sizes = std::vector<std::size_t>;
using Ints = std::vector<int>;

constexpr int kRanks = 3;

// Rank r gives r + 1 elements of 10 r to each.
struct Gathering {
  explicit Gathering(int rank)
      : mine(static_cast<std::size_t>(rank) + 1, 10 * rank), all(sizes[0] + sizes[1] + sizes[2], -1) {}

  Sizes sizes = {1, 2, 3};
  Ints mine;
  Ints all;

  tuttiResult_t begin(tuttiComm_t comm, tuttiRequest_t& request) {
    return tuttiIAllGatherV(mine.data(), mine.size(), all.data(), sizes.data(), nullptr, tuttiInt, comm, &request);
  }
  tuttiResult_t run(tuttiComm_t comm) {
    return tuttiAllGatherV(mine.data(), mine.size(), all.data(), sizes.data(), nullptr, tuttiInt, comm);
  }
  void expect_done() const { EXPECT_EQ(all, (Ints{0, 10, 10, 20, 20, 20})); }
};

const std::string kDiffers =
    "the ranks' counts differ in all_gather_v: rank 2 gives 3 elements to rank 0, which expects 4";

TEST(VaryingRequests, DoEachCollective) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    const auto self = static_cast<std::size_t>(rank);
    const Sizes sizes = {1, 2, 3};
    const Sizes own(kRanks, sizes[self]);
    Gathering gathering(rank);
    Ints blocks(6, rank + 1);
    Ints folded(sizes[self], -1);
    Ints exchanged(sizes[self] * kRanks, -1);
    Ints gathered(6, -1);
    Ints scattered(sizes[self], -1);
    std::array<tuttiRequest_t, 5> requests{};
    EXPECT_DONE(gathering.begin(comm, requests[0]));
    EXPECT_DONE(
        tuttiIReduceScatterV(blocks.data(), folded.data(), sizes.data(), tuttiInt, tuttiSum, comm, &requests[1]));
    EXPECT_DONE(tuttiIAlltoAllV(blocks.data(), sizes.data(), nullptr, exchanged.data(), own.data(), nullptr, tuttiInt,
                                comm, &requests[2]));
    EXPECT_DONE(tuttiIGatherV(blocks.data(), sizes[self], gathered.data(), sizes.data(), nullptr, tuttiInt, 2, comm,
                              &requests[3]));
    EXPECT_DONE(tuttiIScatterV(blocks.data(), sizes.data(), nullptr, scattered.data(), sizes[self], tuttiInt, 1, comm,
                               &requests[4]));
    EXPECT_DONE(tuttiWaitAll(5, requests.data()));
    gathering.expect_done();
    EXPECT_EQ(folded, Ints(sizes[self], 6));
    Ints from_each;
    for (int from = 1; from <= kRanks; ++from) from_each.insert(from_each.end(), sizes[self], from);
    EXPECT_EQ(exchanged, from_each);
    EXPECT_EQ(gathered, rank == 2 ? (Ints{1, 2, 2, 3, 3, 3}) : Ints(6, -1));
    EXPECT_EQ(scattered, Ints(sizes[self], 2));
  });
}

// Each does it in its own way, in the order of all.
TEST(VaryingRequests, MeetRanksThatBlock) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    Gathering first(rank);
    Gathering second(rank);
    int sum = 0;
    tuttiRequest_t request = nullptr;
    tuttiRequest_t behind = nullptr;
    if (rank == 1) {
      EXPECT_DONE(first.run(comm));
      EXPECT_DONE(tuttiAllReduce(&rank, &sum, 1, tuttiInt, tuttiSum, comm));
    } else {
      EXPECT_DONE(first.begin(comm, request));
      EXPECT_DONE(tuttiIAllReduce(&rank, &sum, 1, tuttiInt, tuttiSum, comm, &behind));
    }
    if (rank == 2) {
      EXPECT_DONE(tuttiGroupStart());
      EXPECT_DONE(second.run(comm));
      EXPECT_DONE(tuttiGroupEnd());
    } else {
      EXPECT_DONE(second.run(comm));
    }
    EXPECT_DONE(tuttiWait(&behind));
    EXPECT_DONE(tuttiWait(&request));
    first.expect_done();
    second.expect_done();
    EXPECT_EQ(sum, 3);
  });
}

TEST(VaryingRequests, ReadCountsOnce) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    Gathering gathering(rank);
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiAllGatherVInit(gathering.mine.data(), gathering.mine.size(), gathering.all.data(),
                                    gathering.sizes.data(), nullptr, tuttiInt, comm, &request));
    gathering.sizes.assign(kRanks, 1000);
    for (int start = 0; start < 3; ++start) {
      gathering.all.assign(6, -1);
      EXPECT_DONE(tuttiStart(request));
      EXPECT_DONE(tuttiWait(&request));
      gathering.expect_done();
    }
    EXPECT_DONE(tuttiRequestFree(&request));
  });
}

// Whoever waits is told, on every rank, and nothing is broken.
TEST(VaryingRequests, SayHowCountsDiffer) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    for (const bool by_test : {false, true}) {
      Gathering wrong(rank);
      Gathering right(rank);
      if (rank == 0) wrong.sizes[2] = 4;
      std::array<tuttiRequest_t, 2> requests{};
      EXPECT_DONE(wrong.begin(comm, requests[0]));
      EXPECT_DONE(right.begin(comm, requests[1]));
      tuttiResult_t result = tuttiSuccess;
      for (int done = 0; by_test && done == 0;) result = tuttiTest(requests.data(), &done);
      if (!by_test) result = tuttiWait(requests.data());
      EXPECT_EQ(words_of(result, tuttiInvalidUsage), kDiffers);
      EXPECT_EQ(requests[0], nullptr);
      EXPECT_DONE(tuttiWait(&requests[1]));
      right.expect_done();
      EXPECT_EQ(wrong.all, Ints(6, -1));
    }
    // Of arguments that are wrong by themselves, too.
    Gathering refused(rank);
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiIAllGatherV(refused.mine.data(), refused.mine.size(), refused.all.data(),
                                 rank == 1 ? nullptr : refused.sizes.data(), nullptr, tuttiInt, comm, &request));
    const tuttiResult_t expected = rank == 1 ? tuttiInvalidArgument : tuttiInvalidUsage;
    EXPECT_EQ(words_of(tuttiWait(&request), expected),
              rank == 1 ? "the counts of the output are null"
                        : "rank 1 has refused what it was passed for all_gather_v, and says why; nothing was done");
  });
}

TEST(VaryingRequests, AreWrongByThemselvesInAGroup) {
  run_ranks(kRanks, [](tuttiComm_t comm, int rank) {
    Gathering wrong(rank);
    Gathering right(rank);
    if (rank == 0) wrong.sizes[2] = 4;
    int sum = 0;
    EXPECT_DONE(tuttiGroupStart());
    EXPECT_DONE(wrong.run(comm));
    EXPECT_DONE(right.run(comm));
    EXPECT_DONE(tuttiAllReduce(&rank, &sum, 1, tuttiInt, tuttiSum, comm));
    EXPECT_EQ(words_of(tuttiGroupEnd(), tuttiInvalidUsage), kDiffers);
    right.expect_done();
    EXPECT_EQ(sum, 3);
    // What nobody has waited for yet is told by the end of all, too.
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(wrong.begin(comm, request));
    EXPECT_EQ(words_of(tuttiCommFinalize(comm), tuttiInvalidUsage), kDiffers);
    EXPECT_EQ(words_of(tuttiWait(&request), tuttiInvalidUsage), kDiffers);
  });
}

// The first error in the order of starts, whatever has ended before the end of all is asked for.
TEST(VaryingRequests, AreToldOfByTheEndOfAllInTheirOrder) {
  for (const bool is_polled : {false, true})
    run_ranks(kRanks, [is_polled](tuttiComm_t comm, int rank) {
      Gathering second(rank);
      Gathering first(rank);
      Gathering right(rank);
      if (rank == 0) second.sizes[1] = 7;
      if (rank == 0) first.sizes[2] = 4;
      std::array<tuttiRequest_t, 3> requests{};
      const auto prepare = [comm](Gathering& each, tuttiRequest_t& request) {
        EXPECT_DONE(tuttiAllGatherVInit(each.mine.data(), each.mine.size(), each.all.data(), each.sizes.data(), nullptr,
                                        tuttiInt, comm, &request));
      };
      prepare(second, requests[0]);
      prepare(first, requests[1]);
      EXPECT_DONE(tuttiStart(requests[1]));
      EXPECT_DONE(tuttiStart(requests[0]));
      EXPECT_DONE(right.begin(comm, requests[2]));
      for (int done = 0; is_polled && done == 0;) EXPECT_DONE(tuttiTest(&requests[2], &done));
      EXPECT_EQ(words_of(tuttiCommFinalize(comm), tuttiInvalidUsage), kDiffers);
      EXPECT_EQ(words_of(tuttiWait(&requests[1]), tuttiInvalidUsage), kDiffers);
      // Who has heard of it does not hear again.
      EXPECT_EQ(words_of(tuttiCommFinalize(comm), tuttiInvalidUsage),
                "the ranks' counts differ in all_gather_v: rank 1 gives 2 elements to rank 0, which expects 7");
      EXPECT_NE(tuttiWait(requests.data()), tuttiSuccess);
      EXPECT_DONE(tuttiWait(&requests[2]));
      EXPECT_DONE(tuttiCommFinalize(comm));
      right.expect_done();
      EXPECT_DONE(tuttiRequestFree(requests.data()));
      EXPECT_DONE(tuttiRequestFree(&requests[1]));
    });
}

TEST(VaryingRequests, KeepTheirOperatorAndTheirMemory) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    void* memory = nullptr;
    EXPECT_DONE(tuttiMemAlloc(&memory, 64, comm));
    auto* const values = static_cast<int*>(memory);
    values[0] = values[1] = values[2] = 5;
    const int twice = 2;
    tuttiRedOp_t op = tuttiSum;
    EXPECT_DONE(tuttiRedOpCreatePreMulSum(&op, &twice, tuttiInt, comm));
    const Sizes sizes = {1, 2};
    std::array<int, 2> folded{};
    tuttiRequest_t request = nullptr;
    EXPECT_DONE(tuttiReduceScatterVInit(values, folded.data(), sizes.data(), tuttiInt, op, comm, &request));
    EXPECT_EQ(words_of(tuttiRedOpDestroy(op, comm), tuttiInvalidUsage),
              "an operator is destroyed that a pending or persistent operation uses");
    EXPECT_EQ(words_of(tuttiMemFree(memory, comm), tuttiInvalidUsage),
              "symmetric memory is freed that a request of this rank uses, of reduce_scatter_v of i32, "
              "premultiplied_sum (operator 64): wait for it, or free it (tuttiRequestFree), before");
    EXPECT_DONE(tuttiStart(request));
    EXPECT_DONE(tuttiWait(&request));
    EXPECT_EQ(folded[0], 20);
    EXPECT_DONE(tuttiRequestFree(&request));
    EXPECT_DONE(tuttiRedOpDestroy(op, comm));
    EXPECT_DONE(tuttiMemFree(memory, comm));
  });
}

}  // namespace
}  // namespace tutti::test
