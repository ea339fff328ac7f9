// SPDX-License-Identifier: Apache-2.0
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
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <execinfo.h>
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
// Much less than TUTTI_TIMEOUT, which must not end a trial.
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
    std::uint64_t allocations_of_start = 0;  // until it has a communicator
  };
  std::atomic<int> id_state = 0;  // 1: there is one; 2: there is none to come
  tuttiUniqueId id{};
  std::array<Rank, kRanks> ranks;
};

enum class Start : std::uint8_t { by_id, launched };

struct Failing {
  Start start = Start::by_id;
  int rank = 0;
  std::uint64_t first = 0;  // 0: none
  std::uint64_t last = 0;
};

// The first call that fails ends the program, as it would end a careful user's.
class Program {
 public:
  Program(Shared& shared, Start start, int rank)
      : shared_(shared), own_(shared.ranks[static_cast<std::size_t>(rank)]), start_(start), rank_(rank) {}

  void run() {
    // All hear of a failure by the last call at the latest. The status of leaving concerns nobody else.
    if (meet() && call_collectives() && use_symmetric_memory() && use_requests() && use_operator() && split() &&
        keep("Barrier", tuttiBarrier(comm_)) && shrink())
      tuttiCommFinalize(comm_);
    tuttiCommDestroy(shrunk_);
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
    if (start_ == Start::launched) return keep("InitLaunched", tuttiCommInitLaunched(&comm_));
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
    own_.allocations_of_start = num_allocations();
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

  bool shrink() {
    return keep("Shrink", tuttiCommShrink(comm_, &shrunk_, nullptr)) &&
           keep("AllReduce of all that are left", tuttiAllReduce(in_, out_, 4, tuttiFloat, tuttiSum, shrunk_));
  }

  Shared& shared_;
  Shared::Rank& own_;
  const Start start_;
  const int rank_;
  tuttiComm_t comm_ = nullptr;
  tuttiComm_t part_ = nullptr;
  tuttiComm_t shrunk_ = nullptr;
  static inline float in_[kLarge] = {};
  static inline float out_[kLarge] = {};
};

// From where the exception came that nobody has caught: nothing has been unwound yet.
[[noreturn]] void tell_frames() {
  std::array<void*, 64> frames{};
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
  std::abort();
}

[[noreturn]] void be_rank(Shared& shared, const Failing& failing, int trial, int rank) {
  ::setenv("TUTTI_CONF_FILE", "", 1);
  ::setenv("TUTTI_TIMEOUT", kTimeout, 1);
  ::setenv("TUTTI_DEBUG", "none", 1);
  // Through variables that anybody may set, different in each trial.
  if (failing.start == Start::launched) {
    ::setenv("TORCHELASTIC_RUN_ID", fmt::format("failed-allocation-{}-{}", getppid(), trial).c_str(), 1);
    ::setenv("RANK", fmt::format("{}", rank).c_str(), 1);
    ::setenv("WORLD_SIZE", fmt::format("{}", kRanks).c_str(), 1);
  }
  std::set_terminate(tell_frames);
  fail_allocations(rank == failing.rank ? failing.first : 0, failing.last);
  Program(shared, failing.start, rank).run();
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
    static int trials = 0;
    ++trials;
    std::array<pid_t, kRanks> processes{};
    for (int rank = 0; rank < kRanks; ++rank) {
      processes[static_cast<std::size_t>(rank)] = fork();
      if (processes[static_cast<std::size_t>(rank)] == 0) be_rank(*shared_, failing, trials, rank);
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
    // A rank that fails before it takes part in shrinking, and leaves, is one that the others go on without. Their
    // all-reduce shows that they do.
    const auto left_shrinking = [](const Shared::Rank& rank) { return std::string_view(rank.call.data()) == "Shrink"; };
    if (all_ended && failed == 1 && std::any_of(shared_->ranks.begin(), shared_->ranks.end(), left_shrinking))
      return "";
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
  [[nodiscard]] const Shared::Rank& of(int rank) const { return shared_->ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool has_succeeded() const {
    return std::all_of(shared_->ranks.begin(), shared_->ranks.end(),
                       [](const Shared::Rank& rank) { return rank.is_done.load() && rank.result == tuttiSuccess; });
  }

 private:
  Shared* shared_ = nullptr;
  std::vector<int> statuses_;
};

struct Lack {
  Start start = Start::by_id;
  bool lasts = false;  // from then on nothing is to be had
  int rank = 0;
};

class FailedAllocation : public testing::TestWithParam<Lack> {};

TEST_P(FailedAllocation, IsAnErrorOnAllRanks) {
  const auto [start, lasts, rank] = GetParam();
  Trial whole;
  whole.run({.start = start});
  ASSERT_TRUE(whole.has_succeeded()) << whole.objection();
  // A rank that never has any memory cannot say so: the others would hear of its end from the launcher.
  const std::uint64_t of_start = whole.of(rank).allocations_of_start;
  const std::uint64_t first = lasts ? of_start + 1 : 1;
  // From here on all trials are alike, whatever started the ranks.
  const std::uint64_t all = (start == Start::launched ? of_start : whole.of(rank).allocations) + 1 - first;
  ASSERT_GT(all, 100U);
  // A brief run has as many as time allows, different ones on each rank.
  const std::uint64_t most = std::min<std::uint64_t>(TUTTI_MOST_TRIALS, lasts ? 300 : all);
  const std::uint64_t trials = std::min(most, all);
  int succeeded = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const std::uint64_t number =
        first + (trial * all + static_cast<std::uint64_t>(rank) * all / kRanks / trials) / trials;
    Trial one;
    one.run({.start = start, .rank = rank, .first = number, .last = lasts ? ~std::uint64_t{0} : number});
    succeeded += one.has_succeeded() ? 1 : 0;
    EXPECT_EQ(one.objection(), "") << "allocation " << number << " of " << all << " on rank " << rank;
  }
  // Nearly every allocation matters.
  EXPECT_LT(succeeded, static_cast<int>(trials / 2));
}

std::vector<Lack> lacks() {
  std::vector<Lack> all;
  for (int rank = 0; rank < kRanks; ++rank) {
    all.push_back({Start::by_id, false, rank});
    all.push_back({Start::by_id, true, rank});
    all.push_back({Start::launched, false, rank});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Each, FailedAllocation, testing::ValuesIn(lacks()), [](const auto& of) {
  return fmt::format("{}{}OnRank{}", of.param.start == Start::launched ? "Launched" : "ById",
                     of.param.lasts ? "AndAllAfterIt" : "", of.param.rank);
});

}  // namespace
}  // namespace tutti::test
