// SPDX-License-Identifier: Apache-2.0
// Ranks that a process forks after it has made their id, and children that ranks fork: what works in the background
// does not go with them.
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tutti/tutti.h>

namespace tutti::test {
namespace {

// Ends a child as programs do, with what stands in static objects, and of a test only the code.
[[noreturn]] void end_with(bool is_right) { std::exit(is_right ? 0 : 7); }

// A child that hangs ends after so many seconds.
constexpr unsigned kPatience = 120;

bool has_ended_well(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool sums(tuttiComm_t comm, int num_ranks) {
  int mine = 1;
  int sum = 0;
  return tuttiAllReduce(&mine, &sum, 1, tuttiInt, tuttiSum, comm) == tuttiSuccess && sum == num_ranks;
}

template <typename Between>
void fork_ranks(int num_ranks, const Between& between) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << tuttiGetLastError(nullptr);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < num_ranks; ++rank) {
    ranks.push_back(fork());
    if (ranks.back() != 0) continue;
    tuttiComm_t comm = nullptr;
    bool is_right = tuttiCommInitRank(&comm, num_ranks, id, rank) == tuttiSuccess && sums(comm, num_ranks);
    is_right = is_right && between(comm, rank) && sums(comm, num_ranks);
    end_with(tuttiCommDestroy(comm) == tuttiSuccess && is_right);
  }
  for (const pid_t rank : ranks) EXPECT_TRUE(has_ended_well(rank));
}

TEST(Fork, TheMakerOfAnIdForksItsRanks) {
  fork_ranks(3, [](tuttiComm_t, int) { return true; });
}

TEST(Fork, AChildOfARankJustExits) {
  fork_ranks(2, [](tuttiComm_t, int) {
    const pid_t child = fork();
    if (child == 0) end_with(true);
    return has_ended_well(child);
  });
}

TEST(Fork, AChildOfARankDestroysItsCopy) {
  fork_ranks(2, [](tuttiComm_t comm, int rank) {
    // Pending in the rank: its child does not do it.
    int data = 0;
    tuttiRequest_t request = nullptr;
    if (rank == 0 && tuttiIRecv(&data, 1, tuttiInt, 1, comm, &request) != tuttiSuccess) return false;
    const pid_t child = fork();
    if (child == 0) end_with(tuttiCommDestroy(comm) == tuttiSuccess);
    if (!has_ended_well(child)) return false;
    if (rank == 1) return tuttiSend(&rank, 1, tuttiInt, 0, comm) == tuttiSuccess;
    return tuttiWait(&request) == tuttiSuccess && data == 1;
  });
}

// A thread that is in a call, in an operator, until it is told to go on.
struct Held {
  std::atomic<bool> is_in = false;
  std::atomic<bool> may_go_on = false;
};

void add_once_told(void* accumulator, const void* next, size_t count, void* context) {
  auto* const held = static_cast<Held*>(context);
  held->is_in = true;
  held->is_in.notify_all();
  held->may_go_on.wait(false);
  for (size_t each = 0; each < count; ++each)
    static_cast<int*>(accumulator)[each] += static_cast<const int*>(next)[each];
}

// Whoever was in a call as the rank forked: of the calls all but those that only read are refused, with that reason.
bool hears_that_it_is_no_rank(tuttiComm_t comm, tuttiRequest_t request) {
  int mine = 1;
  int other = 0;
  int number = 0;
  const tuttiStatistic_t* statistics = nullptr;
  void* memory = nullptr;
  tuttiComm_t made = nullptr;
  tuttiRedOp_t op = tuttiSum;
  tuttiRequest_t begun = nullptr;
  const auto is_told = [](tuttiResult_t result) {
    return result == tuttiInvalidUsage &&
           std::string_view(tuttiGetLastError(nullptr)).find("this process is a child that process") == 0;
  };
  return is_told(tuttiAllReduce(&mine, &other, 1, tuttiInt, tuttiSum, comm)) && is_told(tuttiBarrier(comm)) &&
         is_told(tuttiSend(&mine, 1, tuttiInt, 0, comm)) && is_told(tuttiIBarrier(comm, &begun)) &&
         is_told(tuttiTest(&request, &number)) && is_told(tuttiWait(&request)) && is_told(tuttiRequestFree(&request)) &&
         is_told(tuttiMemAlloc(&memory, 64, comm)) && is_told(tuttiMemFree(memory, comm)) &&
         is_told(tuttiRedOpCreatePreMulSum(&op, &mine, tuttiInt, comm)) && is_told(tuttiRedOpDestroy(op, comm)) &&
         is_told(tuttiCommSplit(comm, 0, 0, &made, nullptr)) && is_told(tuttiCommFinalize(comm)) &&
         is_told(tuttiCommGetStatistics(comm, &statistics, &number)) && is_told(tuttiCommAbort(comm)) && other == 0 &&
         tuttiCommCount(comm, &number) == tuttiSuccess && number == 2;
}

// Another thread goes on with what is pending as the rank forks, and has the locks that this takes.
TEST(Fork, AChildIsFreeOfWhatAnotherThreadGoesOnWith) {
  fork_ranks(2, [](tuttiComm_t comm, int rank) {
    Held held;
    held.may_go_on = rank == 1;
    tuttiRedOp_t op = tuttiSum;
    if (tuttiRedOpCreate(&op, add_once_told, &held, 1, tuttiInt, comm) != tuttiSuccess) return false;
    int mine = 1;
    int sum = 0;
    tuttiRequest_t request = nullptr;
    bool is_right = true;
    if (rank == 1) {
      is_right = tuttiAllReduce(&mine, &sum, 1, tuttiInt, op, comm) == tuttiSuccess;
    } else {
      if (tuttiAllReduceInit(&mine, &sum, 1, tuttiInt, op, comm, &request) != tuttiSuccess) return false;
      std::thread calling(
          [&] { is_right = tuttiStart(request) == tuttiSuccess && tuttiWait(&request) == tuttiSuccess; });
      held.is_in.wait(false);
      const pid_t child = fork();
      if (child == 0) {
        alarm(kPatience);
        const bool is_told = hears_that_it_is_no_rank(comm, request);
        end_with(tuttiCommDestroy(comm) == tuttiSuccess && is_told);
      }
      const bool is_well = has_ended_well(child);
      held.may_go_on = true;
      held.may_go_on.notify_all();
      calling.join();
      is_right = is_right && is_well;
    }
    is_right = tuttiRequestFree(&request) == tuttiSuccess && is_right;
    return tuttiRedOpDestroy(op, comm) == tuttiSuccess && is_right && sum == 2;
  });
}

}  // namespace
}  // namespace tutti::test
