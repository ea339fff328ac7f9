// SPDX-License-Identifier: Apache-2.0
// Surviving ranks continue without lost ones: killed processes, and ranks that have left.
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "processes.hpp"
#include <tutti/tutti.hpp>

namespace tutti::test {
namespace {

// "rank of num_ranks: sum", where each rank contributes 10 to the power of its first rank.
std::string sum_on(Communicator& comm, int first_rank) {
  int value = 1;
  for (int each = 0; each < first_rank; ++each) value *= 10;
  std::vector<int> large(50'000, value);
  comm.all_reduce(one(value), Op::sum);
  comm.all_reduce(large, Op::sum);
  if (large.front() != value || large.back() != value) return "sums differ";
  return std::to_string(comm.rank()) + " of " + std::to_string(comm.num_ranks()) + ": " + std::to_string(value);
}

// Returns once the communicator is broken, or for the ranks in `killed`, never.
void lose(Communicator& comm, const std::vector<int>& killed) {
  comm.barrier();
  for (const int rank : killed)
    if (comm.rank() == rank) kill(getpid(), SIGKILL);
  EXPECT_THROW(for (;;) comm.barrier(), RemoteError);
}

std::vector<std::string> shrink_without(int num_ranks, const std::vector<int>& killed) {
  return run_processes(
      num_ranks,
      [&](const UniqueId& id, int rank) {
        Communicator comm = Communicator::join(id, num_ranks, rank);
        const auto memory = comm.allocate<float>(1000);
        lose(comm, killed);
        Communicator left = comm.shrink();
        return sum_on(left, rank);
      },
      60);
}

TEST(Shrink, GoesOnWithoutOneOfFour) {
  EXPECT_EQ(shrink_without(4, {2}), (std::vector<std::string>{"0 of 3: 1011", "1 of 3: 1011", "", "2 of 3: 1011"}));
}

TEST(Shrink, GoesOnWithoutTwoAtOnceEvenRank0) {
  EXPECT_EQ(shrink_without(4, {0, 2}), (std::vector<std::string>{"", "0 of 2: 1010", "", "1 of 2: 1010"}));
}

TEST(Shrink, GoesOnAlone) { EXPECT_EQ(shrink_without(3, {0, 1}), (std::vector<std::string>{"", "", "0 of 1: 100"})); }

TEST(Shrink, GoesOnAfterFurtherLosses) {
  const std::vector<std::string> said = run_processes(
      4,
      [](const UniqueId& id, int rank) {
        Communicator comm = Communicator::join(id, 4, rank);
        lose(comm, {1});
        comm = comm.shrink();
        std::string words = sum_on(comm, rank);
        lose(comm, {0});
        comm = comm.shrink();
        return words + ", " + sum_on(comm, rank);
      },
      60);
  EXPECT_EQ(said, (std::vector<std::string>{"", "", "1 of 3: 1101, 0 of 2: 1100", "2 of 3: 1101, 1 of 2: 1100"}));
}

// Sometimes before its arrival, sometimes while the others meet it, sometimes after that.
TEST(Shrink, GoesOnWithoutARankLostDuringTheCall) {
  const std::vector<std::string> said = run_processes(
      4,
      [](const UniqueId& id, int rank) {
        Communicator comm = Communicator::join(id, 4, rank);
        lose(comm, {3});
        if (rank == 1) {
          // It has arrived, or is about to, and never joins.
          alarm(0);
          signal(SIGALRM, SIG_DFL);
          ualarm(2000, 0);
        }
        Communicator left = comm.shrink();
        if (rank == 1) pause();
        // Rank 1 may still have got there.
        if (left.num_ranks() == 3) {
          EXPECT_THROW(for (;;) left.barrier(), RemoteError);
          left = left.shrink();
        }
        return sum_on(left, rank);
      },
      60);
  EXPECT_EQ(said, (std::vector<std::string>{"0 of 2: 101", "", "1 of 2: 101", ""}));
}

TEST(Shrink, KeepsAllRanksOfAWholeCommunicator) {
  const std::vector<std::string> said = run_processes(
      3,
      [](const UniqueId& id, int rank) {
        Communicator comm = Communicator::join(id, 3, rank);
        Communicator twin = comm.shrink();
        return sum_on(twin, rank) + ", " + sum_on(comm, rank);
      },
      60);
  EXPECT_EQ(said, (std::vector<std::string>{"0 of 3: 111, 0 of 3: 111", "1 of 3: 111, 1 of 3: 111",
                                            "2 of 3: 111, 2 of 3: 111"}));
}

TEST(Shrink, LeavesOutRanksThatDestroyedTheCommunicator) {
  const std::vector<std::string> said = run_processes(
      3,
      [](const UniqueId& id, int rank) -> std::string {
        Communicator comm = Communicator::join(id, 3, rank);
        if (rank == 1) return "left";
        Communicator rest = comm.shrink();
        return sum_on(rest, rank);
      },
      60);
  EXPECT_EQ(said, (std::vector<std::string>{"0 of 2: 101", "left", "1 of 2: 101"}));
}

TEST(Shrink, FailsOnAllRanksIfOneCannotTakePart) {
  const std::vector<std::string> said = run_processes(
      2,
      [](const UniqueId& id, int rank) -> std::string {
        Communicator comm = Communicator::join(id, 2, rank);
        std::string words = "made";
        try {
          Communicator twin = comm.shrink(rank == 1 ? Config{{"TUTTI_SPIN"}} : Config{});
        } catch (const Error& error) {
          words = error.what();
        }
        Communicator twin = comm.shrink();
        return words + "; " + sum_on(twin, rank);
      },
      60);
  EXPECT_EQ(said[0],
            "shrink: rank 1 cannot take part in shrinking the communicator: config.variables has \"TUTTI_SPIN\", "
            "which is not NAME=VALUE; 0 of 2: 11");
  EXPECT_EQ(said[1], "shrink: config.variables has \"TUTTI_SPIN\", which is not NAME=VALUE; 1 of 2: 11");
}

// Rank 1 comes when the others have given up.
TEST(Shrink, TimesOutOnAllRanksIfOneIsLate) {
  std::array<int, 2> ended{};
  ASSERT_EQ(pipe(ended.data()), 0);
  const std::vector<std::string> said = run_processes(
      3,
      [&ended](const UniqueId& id, int rank) -> std::string {
        Communicator comm =
            Communicator::join(id, 3, rank, Config{{rank == 0 ? "TUTTI_TIMEOUT=200ms" : "TUTTI_SPIN=0"}});
        char byte = 0;
        for (int others = 0; rank == 1 && others < 2; ++others) static_cast<void>(!read(ended[0], &byte, 1));
        tuttiComm_t shrunk = nullptr;
        const tuttiResult_t result = tuttiCommShrink(comm.raw(), &shrunk, nullptr);
        std::string words = std::string(tuttiGetErrorString(result)) + ": " + tuttiGetLastError(nullptr);
        if (shrunk != nullptr) words += "; and a communicator";
        static_cast<void>(!write(ended[1], &byte, 1));
        return words;
      },
      60);
  close(ended[0]);
  close(ended[1]);
  const std::string why = "rank 1 has not called tuttiCommShrink; rank 0 has waited 200ms (TUTTI_TIMEOUT)";
  EXPECT_EQ(said[0], std::string(tuttiGetErrorString(tuttiTimeout)) + ": " + why);
  for (const std::size_t rank : {1U, 2U})
    EXPECT_EQ(said[rank], std::string(tuttiGetErrorString(tuttiInvalidUsage)) +
                              ": rank 0 cannot take part in shrinking the communicator: " + why);
}

}  // namespace
}  // namespace tutti::test
