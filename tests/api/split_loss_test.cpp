// SPDX-License-Identifier: Apache-2.0
// A rank that fails, or is killed, when a communicator is split and before it has said so to anybody; and one that is
// killed when rank 0 has left. This program's connect() is the one that the ranks call.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "processes.hpp"
#include <tutti/tutti.h>

namespace {

enum class Connecting { works, kills, fails, waits };
Connecting connecting = Connecting::works;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int awaited_pipe = -1;                      // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// An abstract name has a zero in front.
bool is_of_rendezvous(const sockaddr* address) {
  if (address->sa_family != AF_UNIX) return false;
  const char* const name = reinterpret_cast<const sockaddr_un*>(address)->sun_path + 1;
  return std::string_view(name, 11) == "tutti-meet-";
}

}  // namespace

// The library's calls come here.
extern "C" __attribute__((visibility("default"))) int connect(int socket, const sockaddr* address, socklen_t length) {
  if (connecting != Connecting::works && is_of_rendezvous(address)) {
    if (connecting == Connecting::kills) kill(getpid(), SIGKILL);
    if (connecting == Connecting::waits) {
      char byte = 0;
      connecting = Connecting::works;
      static_cast<void>(!read(awaited_pipe, &byte, 1));
      return static_cast<int>(syscall(SYS_connect, socket, address, length));
    }
    errno = EADDRNOTAVAIL;
    return -1;
  }
  return static_cast<int>(syscall(SYS_connect, socket, address, length));
}

namespace tutti::test {
namespace {

constexpr int kRanks = 3;
constexpr int kVictim = 1;

// What each rank says of `body`, which is given its communicator; the victim may be killed.
template <typename Body>
std::vector<std::string> on_processes(const Body& body) {
  return run_processes(kRanks, [&](const tuttiUniqueId& id, int rank) -> std::string {
    tuttiComm_t comm = nullptr;
    std::string words = "not initialised";
    if (tuttiCommInitRank(&comm, kRanks, id, rank) == tuttiSuccess) words = body(comm, rank);
    tuttiCommDestroy(comm);
    return words;
  });
}

std::string words_of(tuttiResult_t result) {
  return std::string(tuttiGetErrorString(result)) +
         (result == tuttiSuccess ? "" : std::string(": ") + tuttiGetLastError(nullptr));
}

std::string split_with(Connecting how, tuttiComm_t comm, int rank) {
  if (rank == kVictim) connecting = how;
  tuttiComm_t part = nullptr;
  const std::string words = words_of(tuttiCommSplit(comm, 0, 0, &part, nullptr));
  connecting = Connecting::works;
  if (how == Connecting::kills) return words;
  // The communicator itself goes on.
  int sum = 0;
  const tuttiResult_t result = tuttiAllReduce(&rank, &sum, 1, tuttiInt, tuttiSum, comm);
  return words + (result == tuttiSuccess && sum == 3 ? "; goes on" : "; does not go on");
}

TEST(SplitLoss, WhoIsKilledBeforeItsHelloIsNamed) {
  const auto said = on_processes([](tuttiComm_t comm, int rank) { return split_with(Connecting::kills, comm, rank); });
  EXPECT_EQ(said[kVictim], "");
  for (const std::size_t rank : {0U, 2U}) EXPECT_TRUE(contains(said[rank], "rank 1 was lost")) << said[rank];
}

TEST(SplitLoss, WhoFailsBeforeItsHelloIsNamedAndTheCommunicatorGoesOn) {
  const auto said = on_processes([](tuttiComm_t comm, int rank) { return split_with(Connecting::fails, comm, rank); });
  EXPECT_TRUE(contains(said[kVictim], "cannot connect")) << said[kVictim];
  for (const std::size_t rank : {0U, 2U})
    EXPECT_TRUE(contains(said[rank], "rank 1 could not join the new communicator: nobody answers at")) << said[rank];
  for (const std::string& words : said) EXPECT_TRUE(words.ends_with("; goes on")) << words;
}

// Rank 2 is in no group, and waits in a barrier for rank 0, which waits in its group for the victim.
TEST(SplitLoss, WhoWaitsInASplitIsNotLate) {
  std::array<int, 2> told{};
  ASSERT_EQ(pipe(told.data()), 0);
  awaited_pipe = told[0];
  const auto said = on_processes([&told](tuttiComm_t comm, int rank) -> std::string {
    const char* const patience[] = {"TUTTI_TIMEOUT=1s", nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = patience;
    tuttiComm_t parent = nullptr;
    if (tuttiCommSplit(comm, 0, 0, &parent, &config) != tuttiSuccess) return "no parent";
    if (rank == kVictim) connecting = Connecting::waits;
    const char* const none[] = {"TUTTI_TIMEOUT=0", nullptr};
    config.variables = none;
    tuttiComm_t part = nullptr;
    tuttiCommSplit(parent, rank == 2 ? TUTTI_SPLIT_NOCOLOR : 0, 0, &part, &config);
    std::string words;
    if (rank == 2) {
      words = words_of(tuttiBarrier(parent));
      static_cast<void>(!write(told[1], "x", 1));
    }
    tuttiCommDestroy(part);
    tuttiCommDestroy(parent);
    return words;
  });
  close(told[0]);
  close(told[1]);
  EXPECT_TRUE(contains(said[2], "rank 1 is late: not there yet; rank 2 has waited 1s")) << said[2];
}

// Rank 2 waits for the victim, which dies when it has seen that rank 0 has left.
TEST(SplitLoss, WhoIsKilledAfterRank0HasLeftIsNamed) {
  std::array<int, 2> gone{};
  ASSERT_EQ(pipe(gone.data()), 0);
  const auto said = on_processes([&gone](tuttiComm_t comm, int rank) -> std::string {
    int data = 0;
    if (tuttiBarrier(comm) != tuttiSuccess) return "no barrier";
    if (rank == 2) return words_of(tuttiRecv(&data, 1, tuttiInt, kVictim, comm));
    char byte = 0;
    if (rank == 0) {
      tuttiCommDestroy(comm);
      static_cast<void>(!write(gone[1], &byte, 1));
      _exit(0);
    }
    static_cast<void>(!read(gone[0], &byte, 1));
    kill(getpid(), SIGKILL);
    return "";
  });
  close(gone[0]);
  close(gone[1]);
  EXPECT_TRUE(contains(said[2], "rank 1 was lost: its process ended")) << said[2];
}

// It watches over all ranks, and may be stopped itself: rank 2 finds the victim by itself, and lets rank 0 go on.
TEST(SplitLoss, WhoIsKilledWhileRank0IsStoppedIsNamed) {
  std::array<int, 2> stopping{};
  ASSERT_EQ(pipe(stopping.data()), 0);
  std::array<int, 2> stopped{};
  ASSERT_EQ(pipe(stopped.data()), 0);
  setenv("TUTTI_TIMEOUT", "30s", 1);  // so that it goes on in any case
  const auto said = on_processes([&](tuttiComm_t comm, int rank) -> std::string {
    int data = 0;
    if (tuttiBarrier(comm) != tuttiSuccess) return "no barrier";
    pid_t first = getpid();
    if (rank == 0) {
      static_cast<void>(!write(stopping[1], &first, sizeof first));
      kill(first, SIGSTOP);
      return "went on";
    }
    if (rank == 2) {
      static_cast<void>(!read(stopped[0], &first, sizeof first));
      const std::string words = words_of(tuttiRecv(&data, 1, tuttiInt, kVictim, comm));
      kill(first, SIGCONT);
      return words;
    }
    static_cast<void>(!read(stopping[0], &first, sizeof first));
    const std::string state = "/proc/" + std::to_string(first) + "/stat";
    for (char is = ' '; is != 'T';) {
      std::ifstream file(state);
      std::string number;
      std::string name;
      file >> number >> name >> is;
    }
    static_cast<void>(!write(stopped[1], &first, sizeof first));
    kill(getpid(), SIGKILL);
    return "";
  });
  unsetenv("TUTTI_TIMEOUT");
  for (const int end : {stopping[0], stopping[1], stopped[0], stopped[1]}) close(end);
  EXPECT_EQ(said[0], "went on");
  EXPECT_TRUE(contains(said[2], "rank 1 was lost: its process ended")) << said[2];
}

}  // namespace
}  // namespace tutti::test
