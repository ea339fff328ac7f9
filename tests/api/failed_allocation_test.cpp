// Every allocation of a program of some twenty calls fails, one after another, on each rank in turn: in the program's
// own threads and in those that serve it. Each time all ranks end with an error within the deadline, or, where nothing
// depended on the allocation, all with success. None crashes, and none waits for a timeout.
//
// The ranks are processes, forked before the test has any thread.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "no_memory.hpp"
#include <tutti/tutti.h>

namespace tutti::test {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kLarge = 100'000;
// Much less than TUTTI_TIMEOUT, which is not what is to end a trial.
constexpr std::chrono::seconds kDeadline{15};
constexpr const char* kTimeout = "60s";

// What the ranks of a trial share, and leave for the test.
struct Shared {
  struct Rank {
    std::atomic<bool> is_done = false;
    tuttiResult_t result = tuttiSuccess;
    std::array<char, 64> call{};  // the one that failed
    std::array<char, 400> words{};
    std::uint64_t allocations = 0;
  };
  std::atomic<int> id_state = 0;  // 1: there is one; 2: there is none to come
  tuttiUniqueId id{};
  std::array<Rank, kRanks> ranks;
};

struct Failing {
  int rank = 0;
  std::uint64_t first = 0;  // 0: none
  std::uint64_t last = 0;
};

// The first call that fails ends the program, as it would end a careful user's.
class Program {
 public:
  Program(Shared& shared, int rank)
      : shared_(shared), own_(shared.ranks[static_cast<std::size_t>(rank)]), rank_(rank) {}

  void run() {
    // All hear of a failure by the last call, at the latest; what leaving says concerns nobody else.
    if (meet() && call_collectives() && use_symmetric_memory() && use_requests() && use_operator() && split() &&
        keep("Barrier", tuttiBarrier(comm_)))
      tuttiCommFinalize(comm_);
    tuttiCommDestroy(part_);
    tuttiCommDestroy(comm_);
  }

 private:
  bool keep(std::string_view call, tuttiResult_t result) {
    if (result == tuttiSuccess) return true;
    own_.result = result;
    call.copy(own_.call.data(), own_.call.size() - 1);
    std::string_view(tuttiGetLastError(nullptr)).copy(own_.words.data(), own_.words.size() - 1);
    return false;
  }

  bool meet() {
    if (rank_ == 0) {
      const tuttiResult_t result = tuttiGetUniqueId(&shared_.id);
      shared_.id_state.store(result == tuttiSuccess ? 1 : 2);
      if (!keep("GetUniqueId", result)) return false;
    }
    while (shared_.id_state.load() == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (shared_.id_state.load() == 2) return keep("GetUniqueId of rank 0", tuttiSystemError);
    return keep("InitRank", tuttiCommInitRank(&comm_, kRanks, shared_.id, rank_));
  }

  bool call_collectives() {
    const std::size_t counts[kRanks] = {3, 1, 2};
    const std::size_t places[kRanks] = {0, 3, 4};
    const int next = (rank_ + 1) % kRanks;
    const int previous = (rank_ + kRanks - 1) % kRanks;
    return keep("AllReduce", tuttiAllReduce(in_, out_, 4, tuttiFloat, tuttiSum, comm_)) &&
           keep("AllReduce, large", tuttiAllReduce(in_, out_, kLarge, tuttiFloat, tuttiSum, comm_)) &&
           keep("Broadcast", tuttiBroadcast(in_, out_, kLarge, tuttiFloat, 1, comm_)) &&
           keep("AllGather", tuttiAllGather(in_, out_, 100, tuttiFloat, comm_)) &&
           keep("ReduceScatter", tuttiReduceScatter(in_, out_, 100, tuttiFloat, tuttiMax, comm_)) &&
           keep("AlltoAll", tuttiAlltoAll(in_, out_, 100, tuttiFloat, comm_)) &&
           keep("AllGatherV", tuttiAllGatherV(in_, counts[rank_], out_, counts, places, tuttiFloat, comm_)) &&
           keep("Scan", tuttiScan(in_, out_, 10, tuttiFloat, tuttiSum, comm_)) &&
           keep("GroupStart", tuttiGroupStart()) && keep("Send", tuttiSend(in_, kLarge, tuttiFloat, next, comm_)) &&
           keep("Recv", tuttiRecv(out_, kLarge, tuttiFloat, previous, comm_)) && keep("GroupEnd", tuttiGroupEnd());
  }

  bool use_symmetric_memory() {
    void* memory = nullptr;
    const std::size_t bytes = 2 * kLarge * sizeof(float);
    if (!keep("MemAlloc", tuttiMemAlloc(&memory, bytes, comm_))) return false;
    auto* const floats = static_cast<float*>(memory);
    return keep("AllReduce, symmetric", tuttiAllReduce(floats, floats + kLarge, kLarge, tuttiFloat, tuttiSum, comm_)) &&
           keep("MemFree", tuttiMemFree(memory, comm_));
  }

  bool use_requests() {
    tuttiRequest_t request = nullptr;
    return keep("AllReduceInit", tuttiAllReduceInit(in_, out_, 5, tuttiFloat, tuttiSum, comm_, &request)) &&
           keep("Start", tuttiStart(request)) && keep("Wait", tuttiWait(&request)) &&
           keep("RequestFree", tuttiRequestFree(&request));
  }

  bool use_operator() {
    const float scale = 2;
    tuttiRedOp_t op = tuttiSum;
    return keep("RedOpCreate", tuttiRedOpCreatePreMulSum(&op, &scale, tuttiFloat, comm_)) &&
           keep("AllReduce, own operator", tuttiAllReduce(in_, out_, 10, tuttiFloat, op, comm_)) &&
           keep("RedOpDestroy", tuttiRedOpDestroy(op, comm_));
  }

  bool split() {
    return keep("Split", tuttiCommSplit(comm_, rank_ == 1 ? 1 : 0, rank_, &part_, nullptr)) &&
           keep("AllReduce in a part", tuttiAllReduce(in_, out_, 4, tuttiFloat, tuttiSum, part_));
  }

  Shared& shared_;
  Shared::Rank& own_;
  const int rank_;
  tuttiComm_t comm_ = nullptr;
  tuttiComm_t part_ = nullptr;
  static inline float in_[kLarge] = {};
  static inline float out_[kLarge] = {};
};

[[noreturn]] void be_rank(Shared& shared, const Failing& failing, int rank) {
  ::setenv("TUTTI_CONF_FILE", "", 1);
  ::setenv("TUTTI_TIMEOUT", kTimeout, 1);
  ::setenv("TUTTI_DEBUG", "none", 1);
  fail_allocations(rank == failing.rank ? failing.first : 0, failing.last);
  Program(shared, rank).run();
  Shared::Rank& own = shared.ranks[static_cast<std::size_t>(rank)];
  own.allocations = num_allocations();
  own.is_done.store(true);
  _exit(0);
}

class Trial {
 public:
  Trial() {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() { munmap(shared_, sizeof(Shared)); }

  void run(const Failing& failing) {
    std::array<pid_t, kRanks> processes{};
    for (int rank = 0; rank < kRanks; ++rank) {
      processes[static_cast<std::size_t>(rank)] = fork();
      if (processes[static_cast<std::size_t>(rank)] == 0) be_rank(*shared_, failing, rank);
    }
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    for (const pid_t process : processes) {
      int status = 0;
      while (waitpid(process, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() >= until) ::kill(process, SIGKILL);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      statuses_.push_back(status);
    }
  }

  // Empty where the trial ended as it should.
  [[nodiscard]] std::string objection() const {
    const auto has_failed = [](const Shared::Rank& rank) { return rank.result != tuttiSuccess; };
    const auto failed = std::count_if(shared_->ranks.begin(), shared_->ranks.end(), has_failed);
    const bool all_ended = std::all_of(statuses_.begin(), statuses_.end(), [](int status) { return status == 0; });
    if (all_ended && (failed == 0 || failed == kRanks)) return "";
    std::string text;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const Shared::Rank& its = shared_->ranks[rank];
      const char* const end = statuses_[rank] == 0                                                   ? ""
                              : WIFSIGNALED(statuses_[rank]) && WTERMSIG(statuses_[rank]) == SIGKILL ? ", hung"
                                                                                                     : ", crashed";
      text += fmt::format("  rank {}{}: {} {} {}\n", rank, end,
                          its.result == tuttiSuccess ? "success" : tuttiGetErrorString(its.result), its.call.data(),
                          its.words.data());
    }
    return text;
  }
  [[nodiscard]] std::uint64_t allocations(int rank) const {
    return shared_->ranks[static_cast<std::size_t>(rank)].allocations;
  }
  [[nodiscard]] bool has_succeeded() const {
    return std::all_of(shared_->ranks.begin(), shared_->ranks.end(),
                       [](const Shared::Rank& rank) { return rank.is_done.load() && rank.result == tuttiSuccess; });
  }

 private:
  Shared* shared_ = nullptr;
  std::vector<int> statuses_;
};

class FailedAllocation : public testing::TestWithParam<int> {};

TEST_P(FailedAllocation, IsAnErrorOnAllRanks) {
  const int rank = GetParam();
  Trial whole;
  whole.run({});
  ASSERT_TRUE(whole.has_succeeded()) << whole.objection();
  const std::uint64_t all = whole.allocations(rank);
  ASSERT_GT(all, 100U);
  // In a brief run as many as there is time for, others on each rank.
  const std::uint64_t trials = std::min<std::uint64_t>(TUTTI_MOST_TRIALS, all);
  int succeeded = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const std::uint64_t number = 1 + (trial * all + static_cast<std::uint64_t>(rank) * all / kRanks / trials) / trials;
    Trial one;
    one.run({.rank = rank, .first = number, .last = number});
    succeeded += one.has_succeeded() ? 1 : 0;
    EXPECT_EQ(one.objection(), "") << "allocation " << number << " of " << all << " on rank " << rank;
  }
  // Nearly every one matters.
  EXPECT_LT(succeeded, static_cast<int>(trials / 2));
}

INSTANTIATE_TEST_SUITE_P(Rank, FailedAllocation, testing::Range(0, kRanks), testing::PrintToStringParamName());

}  // namespace
}  // namespace tutti::test
