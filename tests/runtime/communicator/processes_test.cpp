// SPDX-License-Identifier: Apache-2.0
// Ranks whose process is not as one expects: its standard streams closed, short of descriptors or of memory, forked.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "../ranks.hpp"
#include "base/system/socket.hpp"
#include <tutti/tutti.h>

namespace tutti {
namespace {

using test::Children;
using test::start_server;

constexpr bool kIsSanitized = TUTTI_IS_SANITIZED != 0;
constexpr const char* kSanitizersLook = "sanitizers look at memory by way of a pipe, which wants descriptors";

// In one line.
std::string words_of(tuttiResult_t result) {
  if (result == tuttiSuccess) return "done";
  std::string words = fmt::format("{}: {}", tuttiGetErrorString(result), tuttiGetLastError(nullptr));
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

tuttiResult_t init(tuttiComm_t* comm, const UniqueId& id, int num_ranks, int rank) {
  tuttiUniqueId raw{};
  std::memcpy(raw.internal, id.to_bytes().data(), sizeof raw.internal);
  return tuttiCommInitRank(comm, num_ranks, raw, rank);
}

tuttiResult_t sum(tuttiComm_t comm, int& value) {
  const int mine = value;
  return tuttiAllReduce(&mine, &value, 1, tuttiInt32, tuttiSum, comm);
}

// The error of a communicator on which this rank makes no call until then.
tuttiResult_t await_error(tuttiComm_t comm) {
  tuttiResult_t result = tuttiSuccess;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (tuttiCommGetAsyncError(comm, &result) == tuttiSuccess && result == tuttiSuccess &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return result == tuttiSuccess ? tuttiSuccess : tuttiBarrier(comm);
}

TEST(Processes, NameTheRankOfAnotherHostThatTheyWaitFor) {
  constexpr int kRanks = 2;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    setenv("TUTTI_HOST_ID", rank == 0 ? "here" : "there", 1);
    setenv("TUTTI_TIMEOUT", "2s", 1);
    tuttiComm_t comm = nullptr;
    std::string outcome = words_of(init(&comm, id, kRanks, rank));
    if (comm != nullptr && rank == 0) outcome = words_of(tuttiBarrier(comm));
    if (comm != nullptr && rank == 1) outcome = words_of(await_error(comm));
    tuttiCommDestroy(comm);
    report(outcome);
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string said = children.line(rank);
    EXPECT_NE(said.find("all ranks of rank 0's host have come to it, and wait for rank 1, which may be waiting itself; "
                        "rank 0 has waited 2s"),
              std::string::npos)
        << said;
  }
}

TEST(Processes, KeepClearOfClosedStreams) {
  constexpr int kRanks = 2;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    setenv("TUTTI_DEBUG", "info", 1);
    setenv("TUTTI_DEBUG_FILE", "/dev/null", 1);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
    tuttiComm_t comm = nullptr;
    std::string outcome = words_of(init(&comm, id, kRanks, rank));
    tuttiComm_t half = nullptr;
    if (comm != nullptr) outcome = words_of(tuttiCommSplit(comm, 0, 0, &half, nullptr));
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (fcntl(stream, F_GETFD) >= 0) outcome += fmt::format(", {} is open", stream);
    if (half != nullptr) tuttiCommDestroy(half);
    tuttiCommDestroy(comm);
    report(outcome);
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(rank), "done");
}

// Another host sees the end of a rank by its connections alone, of which children that it has forked have copies.
TEST(Processes, OfAnotherHostAreSeenToEndThoughTheirChildrenLive) {
  constexpr int kRanks = 2;
  for (int victim = 0; victim < kRanks; ++victim) {
    Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
      setenv("TUTTI_HOST_ID", rank == 0 ? "here" : "there", 1);
      tuttiComm_t comm = nullptr;
      int value = 1;
      const tuttiResult_t made = init(&comm, id, kRanks, rank);
      report(words_of(made == tuttiSuccess ? sum(comm, value) : made));
      if (rank != victim) return report(words_of(sum(comm, value)));
      const pid_t child = fork();
      if (child == 0) {
        for (;;) pause();
      }
      report(fmt::format("{}", child));
      for (;;) pause();
    });
    const auto server = test::start_server_on_network();
    children.release(server->id());
    for (int rank = 0; rank < kRanks; ++rank) ASSERT_EQ(children.line(rank), "done");
    const pid_t survivor = std::stoi(children.line(victim));
    const auto killed = std::chrono::steady_clock::now();
    children.kill(victim);
    const std::string words = children.line(1 - victim);
    EXPECT_NE(words.find(fmt::format("rank {} was lost", victim)), std::string::npos) << words;
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(5));
    EXPECT_EQ(::kill(survivor, SIGKILL), 0);
  }
}

// Rank 2 alone finds what is wrong. Rank 1 sees it in the memory of their host and leaves at once, though it passes on
// what is to reach the other host.
TEST(Processes, OfAnotherHostHearWhatIsWrongThoughTheirLeaderLeavesAtOnce) {
  constexpr int kRanks = 3;
  constexpr int kRounds = 20;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    setenv("TUTTI_HOST_ID", rank == 0 ? "here" : "there", 1);
    // Rank 0 waits longer, so as to end should it not hear.
    setenv("TUTTI_TIMEOUT", rank == 2 ? "50ms" : "5s", 1);
    tuttiComm_t all = nullptr;
    if (const tuttiResult_t made = init(&all, id, kRanks, rank); made != tuttiSuccess) return report(words_of(made));
    for (int round = 0; round < kRounds; ++round) {
      tuttiComm_t comm = nullptr;
      tuttiResult_t result = tuttiCommSplit(all, 0, rank, &comm, nullptr);
      // Rank 0 never comes, and rank 2 alone is impatient.
      if (result == tuttiSuccess && rank != 0) result = tuttiBarrier(comm);
      if (result == tuttiSuccess) result = await_error(comm);
      std::string words = words_of(result);
      tuttiCommDestroy(comm);
      report(words);
      // So that all come to the next split at about the same time.
      if (tuttiBarrier(all) != tuttiSuccess) return;
    }
    tuttiCommDestroy(all);
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  for (int round = 0; round < kRounds; ++round)
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string words = children.line(rank);
      ASSERT_NE(words.find(" is late"), std::string::npos) << "round " << round << ", rank " << rank << ": " << words;
    }
}

// As many as there are, and so many more.
void allow_descriptors(int more) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int next = dup(STDIN_FILENO);
  close(next);
  limit.rlim_cur = more < 0 ? limit.rlim_max : static_cast<rlim_t>(next + more);
  setrlimit(RLIMIT_NOFILE, &limit);
}

class ShortOfDescriptors : public testing::TestWithParam<int> {};

// Wherever they run out in one rank, which may host the rendezvous, no other waits for ever: all have a communicator,
// or none, and some rank says what the limit is.
TEST_P(ShortOfDescriptors, ARankLeavesNobodyWaiting) {
  if (kIsSanitized) GTEST_SKIP() << kSanitizersLook;
  constexpr int kRanks = 3;
  constexpr int kEnough = 24;
  const int victim = GetParam();
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    tuttiComm_t comm = nullptr;
    if (const tuttiResult_t made = init(&comm, id, kRanks, rank); made != tuttiSuccess) return report(words_of(made));
    for (int more = 0; more <= kEnough; more += more < 10 ? 1 : 2) {
      if (rank == victim) allow_descriptors(more);
      tuttiComm_t next = nullptr;
      report(words_of(tuttiCommSplit(comm, 0, 0, &next, nullptr)));
      if (rank == victim) allow_descriptors(-1);
      if (next != nullptr) tuttiCommDestroy(next);
    }
    tuttiCommDestroy(comm);
  });
  const auto server = start_server();
  children.release(server->id());
  for (int more = 0; more <= kEnough; more += more < 10 ? 1 : 2) {
    SCOPED_TRACE(more);
    std::array<std::string, kRanks> said;
    for (int rank = 0; rank < kRanks; ++rank) said[static_cast<std::size_t>(rank)] = children.line(rank);
    const std::string& its = said[static_cast<std::size_t>(victim)];
    for (const std::string& each : said) {
      ASSERT_NE(each, "");
      EXPECT_EQ(each == "done", its == "done") << each << "\n" << its;
    }
    // Who hears that another gave up may have heard no more.
    if (more == 0 || its != "done") {
      EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& each) {
        return each.find("ulimit -n") != std::string::npos;
      })) << fmt::format("{}", fmt::join(said, "\n"));
    }
    if (more == kEnough) {
      EXPECT_EQ(its, "done");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rank, ShortOfDescriptors, testing::Values(0, 1), testing::PrintToStringParamName());

// Without a communicator there is nothing else by which the others could be told.
TEST(Processes, SaySoWithoutADescriptorToMeetBy) {
  if (kIsSanitized) GTEST_SKIP() << kSanitizersLook;
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    if (rank == 1) allow_descriptors(0);
    tuttiComm_t comm = nullptr;
    report(words_of(init(&comm, id, kRanks, rank)));
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string said = children.line(rank);
    EXPECT_NE(said.find("Too many open files (this process may have "), std::string::npos) << said;
    EXPECT_NE(said.find(" of them: ulimit -n; "), std::string::npos) << said;
    EXPECT_EQ(said.find("rank 1 cannot join") != std::string::npos, rank != 1) << said;
  }
}

// In a network namespace in which nothing is up, as `unshare -n` makes one.
TEST(Processes, MeetWithoutALoopbackInterface) {
  constexpr int kRanks = 3;
  Children children(1, [&](int, const UniqueId&, const Children::Report& report) {
    if (unshare(CLONE_NEWNET) != 0) return report("not allowed");
    const Result<Listener> listener = listen_at({.family = Address::Family::ipv4, .bytes = {127, 0, 0, 1}});
    const Result<UniqueFd> socket = listener.ok() ? begin_connect(listener->address) : listener.status();
    report(socket.ok() ? "connects" : socket.status().to_string());
    setenv("TUTTI_CONF_FILE", "", 1);
    setenv("TORCHELASTIC_RUN_ID", fmt::format("processes-test-{}", getpid()).c_str(), 1);
    setenv("WORLD_SIZE", "3", 1);
    std::array<pid_t, kRanks> ranks{};
    for (int rank = 0; rank < kRanks; ++rank) {
      pid_t& process = ranks[static_cast<std::size_t>(rank)];
      process = fork();
      if (process != 0) continue;
      setenv("RANK", std::to_string(rank).c_str(), 1);
      tuttiComm_t comm = nullptr;
      const bool is_done = tuttiCommInitLaunched(&comm) == tuttiSuccess && tuttiBarrier(comm) == tuttiSuccess;
      tuttiCommDestroy(comm);
      _exit(is_done ? 0 : 1);
    }
    for (const pid_t process : ranks) {
      int status = -1;
      waitpid(process, &status, 0);
      report(status == 0 ? "done" : "failed");
    }
  });
  const auto server = start_server();
  children.release(server->id());
  const std::string by_tcp = children.line(0);
  if (by_tcp == "not allowed") GTEST_SKIP() << "this user may not make a network namespace";
  EXPECT_NE(by_tcp.find("(the loopback interface is down: ip link set lo up)"), std::string::npos) << by_tcp;
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(0), "done");
}

// Rank 0 serves the rendezvous. The others come only once it knows that it fails, and it ends at once when it is told.
TEST(Processes, HearWhyRank0FailedThoughItEndsAtOnce) {
  constexpr int kRanks = 3;
  const std::string start = fmt::format("processes-test-{}", getpid());
  Children children(kRanks, [&](int rank, const UniqueId&, const Children::Report& report) {
    setenv("TUTTI_CONF_FILE", "", 1);
    setenv("TUTTI_TIMEOUT", "20s", 1);
    setenv("TORCHELASTIC_RUN_ID", start.c_str(), 1);
    setenv("RANK", std::to_string(rank).c_str(), 1);
    setenv("WORLD_SIZE", "3", 1);
    if (rank == 0)
      setenv("TUTTI_WALKER", "nonsense", 1);
    else
      usleep(20'000);
    tuttiComm_t comm = nullptr;
    report(words_of(tuttiCommInitLaunched(&comm)));
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string said = children.line(rank);
    EXPECT_NE(said.find("'nonsense' is not one of the choices"), std::string::npos) << said;
  }
}

// The others hear of it only by its refusal, and it hears nothing from them.
TEST(Processes, RetryTogetherAfterOneCouldNotJoin) {
  if (kIsSanitized) GTEST_SKIP() << kSanitizersLook;
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    setenv("TUTTI_RANK", std::to_string(rank).c_str(), 1);
    setenv("TUTTI_NUM_RANKS", "3", 1);
    setenv("TUTTI_UNIQUE_ID", id.to_text().c_str(), 1);
    setenv("TUTTI_CONF_FILE", "", 1);
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    if (rank == 1) allow_descriptors(0);
    tuttiComm_t comm = nullptr;
    report(tuttiCommInitLaunched(&comm) == tuttiSuccess ? "done" : "failed");
    setrlimit(RLIMIT_NOFILE, &before);
    report(words_of(tuttiCommInitLaunched(&comm)));
    int value = rank + 1;
    report(words_of(tuttiAllReduce(&value, &value, 1, tuttiInt, tuttiSum, comm)));
    report(words_of(tuttiCommDestroy(comm)));
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(children.line(rank), "failed");
    for (int call = 0; call < 3; ++call) EXPECT_EQ(children.line(rank), "done");
  }
}

struct Shortage {
  const char* name;
  __rlimit_resource resource;
  std::uint64_t more;       // MiB beyond what the process has
  const char* in_messages;  // what it is called there
};

// As much as the process has, and so much more, which is not enough for a thread.
void allow(const Shortage& shortage) {
  const std::uint64_t more = shortage.more << 20;
  // Pages of: all, resident, shared, text, library, data and stack.
  std::array<std::uint64_t, 6> pages{};
  std::ifstream file("/proc/self/statm");
  for (std::uint64_t& each : pages) file >> each;
  rlimit limit{};
  getrlimit(shortage.resource, &limit);
  limit.rlim_cur = pages[shortage.resource == RLIMIT_AS ? 0 : 5] * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  limit.rlim_cur += more;
  setrlimit(shortage.resource, &limit);
  pthread_attr_t threads{};
  pthread_attr_init(&threads);
  pthread_attr_setstacksize(&threads, 2 * more);
  pthread_setattr_default_np(&threads);
  pthread_attr_destroy(&threads);
}

class ShortOfMemory : public testing::TestWithParam<Shortage> {};

// Not enough for the region, or not for the stack of the watch's thread.
TEST_P(ShortOfMemory, ARankSaysSoToAll) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers want more memory than there is";
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    if (rank == 1) allow(GetParam());
    tuttiComm_t comm = nullptr;
    report(words_of(init(&comm, id, kRanks, rank)));
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string said = children.line(rank);
    EXPECT_NE(said.find(" (this process may have "), std::string::npos) << said;
    EXPECT_NE(said.find(GetParam().in_messages), std::string::npos) << said;
    EXPECT_EQ(said.find("rank 1 gave up") != std::string::npos, rank != 1) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ShortOfMemory,
                         testing::Values(Shortage{"LittleAddressSpace", RLIMIT_AS, 1,
                                                  " KiB of address space: ulimit -v)"},
                                         Shortage{"AddressSpace", RLIMIT_AS, 32, " KiB of address space: ulimit -v)"},
                                         Shortage{"Data", RLIMIT_DATA, 32, " KiB of data: ulimit -d)"}),
                         [](const testing::TestParamInfo<Shortage>& of) { return of.param.name; });

// Calls of a rank's forked child: all are refused, and the ranks do not notice. How many went otherwise.
int misuse_in_child(tuttiComm_t comm, tuttiRequest_t pending, int rank) {
  int wrong = 0;
  const auto expect_refused = [&](tuttiResult_t result) {
    const std::string words = tuttiGetLastError(nullptr);
    const bool named = words.find(fmt::format("process {}", getppid())) != std::string::npos;
    if (result != tuttiInvalidUsage || !named) ++wrong;
  };
  std::array<int, 1000> many{};
  int value = rank + 1;
  tuttiRequest_t request = nullptr;
  tuttiComm_t other = nullptr;
  void* memory = nullptr;
  expect_refused(tuttiWait(&pending));
  expect_refused(sum(comm, value));
  expect_refused(tuttiBroadcast(many.data(), many.data(), many.size(), tuttiInt32, 0, comm));
  expect_refused(tuttiIBarrier(comm, &request));
  expect_refused(tuttiSend(many.data(), 1, tuttiInt32, 1 - rank, comm));
  expect_refused(tuttiMemAlloc(&memory, 4096, comm));
  expect_refused(tuttiCommSplit(comm, 0, 0, &other, nullptr));
  expect_refused(tuttiCommAbort(comm));
  expect_refused(tuttiCommInitLaunched(&other));
  // It may have communicators of its own.
  tuttiUniqueId own{};
  if (tuttiGetUniqueId(&own) != tuttiSuccess || tuttiCommInitRank(&other, 1, own, 0) != tuttiSuccess ||
      sum(other, value) != tuttiSuccess)
    wrong += 100;
  return wrong;
}

TEST(Processes, AForkedChildIsNoRank) {
  constexpr int kRanks = 2;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    setenv("TUTTI_RANK", std::to_string(rank).c_str(), 1);
    setenv("TUTTI_NUM_RANKS", "2", 1);
    setenv("TUTTI_UNIQUE_ID", id.to_text().c_str(), 1);
    tuttiComm_t comm = nullptr;
    int value = rank + 1;
    report(words_of(tuttiCommInitLaunched(&comm)));
    report(words_of(sum(comm, value)));
    // Nobody has sent it yet.
    int received = 0;
    tuttiRequest_t pending = nullptr;
    report(words_of(tuttiIRecv(&received, 1, tuttiInt32, 1 - rank, comm, &pending)));
    const pid_t child = fork();
    if (child == 0) _exit(misuse_in_child(comm, pending, rank));
    int status = 0;
    waitpid(child, &status, 0);
    report(fmt::format("the child was wrong {} times", WIFEXITED(status) ? WEXITSTATUS(status) : -1));
    report(words_of(sum(comm, value)));
    report(words_of(tuttiSend(&value, 1, tuttiInt32, 1 - rank, comm)));
    report(words_of(tuttiWait(&pending)));
    report(std::to_string(received));
    tuttiCommDestroy(comm);
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int call = 0; call < 3; ++call) EXPECT_EQ(children.line(rank), "done");
    EXPECT_EQ(children.line(rank), "the child was wrong 0 times");
    for (int call = 0; call < 3; ++call) EXPECT_EQ(children.line(rank), "done");
    EXPECT_EQ(children.line(rank), "6");
  }
}

}  // namespace
}  // namespace tutti
