// SPDX-License-Identifier: Apache-2.0
// Many ranks, each a process of this machine, meet over loopback in one communicator; then 64 of them make another one,
// wait for each other and sum numbers. Reports how long the meeting takes, from the first process's start; the most
// sockets that any process has had at a time; and what memory a rank takes, beyond what a process of a few ranks has
// for itself before it joins. Bars for 4,096 ranks: 20 s, 64 sockets, 1 MB. A rank that ends otherwise than in order,
// or a wrong sum, is a miss.
//
// scale [RANKS [HOSTS]]: so many ranks claim to be on so many hosts; by default 4096 on 256.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_id.hpp"
#include "base/units.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "tutti/tutti.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRanksHere = 8192;
constexpr int kSummed = 64;  // ranks
constexpr int kFew = 16;     // ranks, which show the fixed part
constexpr double kMostSeconds = 20;
constexpr int kMostSockets = 64;
constexpr double kMostKilobytes = 1000;

// Which descriptors of this process are sockets, and how many at once there have been.
constexpr int kMostDescriptors = 1 << 16;
std::array<std::atomic<bool>, kMostDescriptors> is_socket;
std::atomic<int> num_sockets{0};
std::atomic<int> most_sockets{0};

void note_socket(int descriptor) {
  if (descriptor < 0 || descriptor >= kMostDescriptors ||
      is_socket[static_cast<std::size_t>(descriptor)].exchange(true))
    return;
  const int now = ++num_sockets;
  int most = most_sockets.load();
  while (most < now && !most_sockets.compare_exchange_weak(most, now)) {
  }
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// These stand before the system's own, which they call.
extern "C" [[gnu::visibility("default")]] int socket(int domain, int type, int protocol) noexcept {
  static auto* const call = real<int(int, int, int)>("socket");
  const int made = call(domain, type, protocol);
  note_socket(made);
  return made;
}

extern "C" [[gnu::visibility("default")]] int accept4(int listener, sockaddr* address, socklen_t* length, int flags) {
  static auto* const call = real<int(int, sockaddr*, socklen_t*, int)>("accept4");
  const int made = call(listener, address, length, flags);
  note_socket(made);
  return made;
}

extern "C" [[gnu::visibility("default")]] int close(int descriptor) {
  static auto* const call = real<int(int)>("close");
  if (descriptor >= 0 && descriptor < kMostDescriptors &&
      is_socket[static_cast<std::size_t>(descriptor)].exchange(false))
    --num_sockets;
  return call(descriptor);
}

namespace {

struct OfRank {
  std::int64_t met_after_ns = 0;
  int sockets = 0;
  std::int64_t kilobytes_before = 0;  // its own, before it joins; only of few ranks, since looking takes time
  std::int64_t kilobytes = 0;         // its own, and its part of what it shares with others
};

// What all processes share.
struct Board {
  std::atomic<int> num_met;
  std::atomic<int> num_measured;
  std::atomic<int> num_summed;
  std::atomic<int> num_failed;
  std::atomic<int> is_served;
  std::array<char, 512> why;  // of the first that failed
  tuttiUniqueId ids[2];
  int sockets_of_server;
  OfRank ranks[kMostRanksHere];
};

// Opens once, for all that wait at it.
class Gate {
 public:
  Gate() {
    if (pipe(ends_) != 0) std::perror("scale: pipe");
  }
  void forget_to_open() const { close(ends_[1]); }
  void open() const { close(ends_[1]); }
  void wait() const {
    char nothing = 0;
    while (read(ends_[0], &nothing, 1) < 0 && errno == EINTR) {
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

struct World {
  int num_ranks = 0;
  int num_hosts = 0;
  Clock::time_point begun;
  bool is_small = false;
  Board* board = nullptr;
  Gate go;     // all have met
  Gate leave;  // all is done
};

// The sum of the lines that begin so.
std::int64_t kilobytes_in(const char* path, std::string_view beginning) {
  std::ifstream file(path);
  std::int64_t sum = 0;
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(':'); line.starts_with(beginning) && colon != std::string::npos)
      sum += std::strtoll(line.c_str() + colon + 1, nullptr, 10);
  return sum;
}

std::int64_t free_kilobytes() { return kilobytes_in("/proc/meminfo", "MemAvailable:"); }

bool fails(World& world, int rank, tuttiResult_t result, tuttiComm_t comm, std::string_view where) {
  if (result == tuttiSuccess) return false;
  if (world.board->num_failed++ == 0)
    fmt::format_to_n(world.board->why.data(), world.board->why.size() - 1, "rank {}, {}: {}", rank, where,
                     tuttiGetLastError(comm));
  return true;
}

// Of every so many ranks one, so that they are on as many hosts as there are.
void sum(World& world, int rank) {
  const int stride = world.num_ranks / std::min(world.num_ranks, kSummed);
  const int number = std::min(world.num_ranks, kSummed);
  if (rank % stride != 0 || rank / stride >= number) return;
  tuttiComm_t comm = nullptr;
  const int self = rank / stride;
  if (fails(world, rank, tuttiCommInitRank(&comm, number, world.board->ids[1], self), nullptr, "the second meeting"))
    return;
  std::vector<std::int64_t> in(1000, self);
  std::vector<std::int64_t> out(in.size());
  if (fails(world, rank, tuttiBarrier(comm), comm, "barrier") ||
      fails(world, rank, tuttiAllReduce(in.data(), out.data(), in.size(), tuttiInt64, tuttiSum, comm), comm,
            "all-reduce"))
    return;
  const std::int64_t right = std::int64_t{number} * (number - 1) / 2;
  if (std::any_of(out.begin(), out.end(), [right](std::int64_t each) { return each != right; })) {
    if (world.board->num_failed++ == 0) std::strcpy(world.board->why.data(), "an all-reduce gave a wrong sum");
    return;
  }
  if (fails(world, rank, tuttiCommDestroy(comm), nullptr, "destroying the second communicator")) return;
  ++world.board->num_summed;
}

void be_rank(World& world, int rank) {
  world.go.forget_to_open();
  world.leave.forget_to_open();
  const int ranks_a_host = (world.num_ranks + world.num_hosts - 1) / world.num_hosts;
  setenv("TUTTI_HOST_ID", fmt::format("host-{}", rank / ranks_a_host).c_str(), 1);
  Board& board = *world.board;
  tuttiComm_t comm = nullptr;
  OfRank& mine = board.ranks[rank];
  constexpr const char* kOwnMemory = "/proc/self/smaps_rollup";
  if (world.is_small) mine.kilobytes_before = kilobytes_in(kOwnMemory, "Private_");
  if (fails(world, rank, tuttiCommInitRank(&comm, world.num_ranks, board.ids[0], rank), nullptr, "the meeting"))
    _exit(1);
  mine.met_after_ns = std::chrono::nanoseconds(Clock::now() - world.begun).count();
  ++board.num_met;
  world.go.wait();
  mine.kilobytes = kilobytes_in(kOwnMemory, "Pss:");
  ++board.num_measured;
  sum(world, rank);
  world.leave.wait();
  mine.sockets = most_sockets.load();
  if (fails(world, rank, tuttiCommDestroy(comm), nullptr, "destroying the communicator")) _exit(1);
  _exit(0);
}

// Stands for the launcher: the rendezvous of both communicators.
void serve(World& world) {
  world.go.forget_to_open();
  world.leave.forget_to_open();
  tutti::Address loopback;
  loopback.bytes = {127, 0, 0, 1};
  std::array<std::unique_ptr<tutti::RendezvousServer>, 2> servers;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    auto server = tutti::RendezvousServer::start({.address = loopback});
    if (!server.ok()) {
      fmt::print(stderr, "scale: {}\n", server.status().to_string());
      _exit(1);
    }
    servers[i] = std::move(*server);
    const tutti::UniqueId::Raw raw = servers[i]->id().to_bytes();
    std::memcpy(&world.board->ids[i], raw.data(), raw.size());
  }
  world.board->is_served = 1;
  world.leave.wait();
  world.board->sockets_of_server = most_sockets.load();
  _exit(0);
}

// Until so many have come, or one has failed.
bool wait_for(const World& world, const std::atomic<int>& count, int wanted) {
  const auto until = Clock::now() + std::chrono::minutes(5);
  while (count < wanted) {
    if (world.board->num_failed > 0 || Clock::now() > until) return false;
    usleep(2000);
  }
  return true;
}

struct Outcome {
  double seconds = 0;
  int sockets = 0;
  int sockets_of_server = 0;
  double kilobytes_before = 0;  // of a rank, on average
  double kilobytes = 0;
  double system_kilobytes = 0;  // of a rank, as the system's free memory shows it
  bool is_done = false;
};

pid_t start(World& world, int rank) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (rank < 0)
    serve(world);
  else
    be_rank(world, rank);
  _exit(1);
}

// How many of them ended otherwise than in order.
int reap(const std::vector<pid_t>& children, bool kills) {
  int num_ended_badly = 0;
  for (const pid_t child : children) {
    if (kills) kill(child, SIGKILL);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) ++num_ended_badly;
  }
  return num_ended_badly;
}

Outcome meet(int num_ranks, int num_hosts, bool is_small) {
  World world{.num_ranks = num_ranks,
              .num_hosts = num_hosts,
              .begun = {},
              .is_small = is_small,
              .board = nullptr,
              .go = {},
              .leave = {}};
  void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {};
  world.board = static_cast<Board*>(shared);
  std::fflush(nullptr);
  std::vector<pid_t> children = {start(world, -1)};
  Outcome outcome;
  if (children.front() < 0 || !wait_for(world, world.board->is_served, 1)) return outcome;
  const std::int64_t free_before = free_kilobytes();
  world.begun = Clock::now();
  for (int rank = 0; rank < num_ranks && world.board->num_failed == 0; ++rank) {
    const pid_t child = start(world, rank);
    if (child < 0) {
      std::perror("scale: fork");
      ++world.board->num_failed;
      break;
    }
    children.push_back(child);
  }
  bool done = wait_for(world, world.board->num_met, num_ranks);
  const std::int64_t free_after = free_kilobytes();
  world.go.open();
  done = done && wait_for(world, world.board->num_measured, num_ranks) &&
         wait_for(world, world.board->num_summed, std::min(num_ranks, kSummed));
  if (!done)
    fmt::print("not done: {} of {} ranks met, {} summed. {}\n", world.board->num_met.load(), num_ranks,
               world.board->num_summed.load(), world.board->why.data());
  world.leave.open();
  const auto leaving = Clock::now();
  const int num_ended_badly = reap(children, !done);
  if (done && num_ended_badly > 0)
    fmt::print("{} processes ended badly. {}\n", num_ended_badly, world.board->why.data());
  outcome.is_done = done && num_ended_badly == 0 && world.board->num_failed == 0;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const OfRank& each = world.board->ranks[rank];
    outcome.seconds = std::max(outcome.seconds, static_cast<double>(each.met_after_ns) / 1e9);
    outcome.sockets = std::max(outcome.sockets, each.sockets);
    outcome.kilobytes_before += static_cast<double>(each.kilobytes_before) / num_ranks;
    outcome.kilobytes += static_cast<double>(each.kilobytes) / num_ranks;
  }
  outcome.sockets_of_server = world.board->sockets_of_server;
  outcome.system_kilobytes = static_cast<double>(free_before - free_after) / num_ranks;
  fmt::print(
      "{:>5} ranks on {:>4} hosts: met within {:6.2f} s; at most {} sockets in a rank, {} in the launcher; {:.0f} KB "
      "a rank ({:.0f} KB with the system's); left within {:.2f} s\n",
      num_ranks, num_hosts, outcome.seconds, outcome.sockets, outcome.sockets_of_server, outcome.kilobytes,
      outcome.system_kilobytes, std::chrono::duration<double>(Clock::now() - leaving).count());
  std::fflush(nullptr);
  munmap(shared, sizeof(Board));
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) {
    if (argc <= index) return otherwise;
    const tutti::Result<std::int64_t> read = tutti::parse_integer(argv[index]);
    return read.ok() && *read <= kMostRanksHere ? static_cast<int>(*read) : 0;
  };
  const int num_ranks = number(1, 4096);
  const int num_hosts = number(2, std::max(2, num_ranks / 16));
  if (num_ranks < 2 || num_ranks > kMostRanksHere || num_hosts < 2 || num_hosts > num_ranks) {
    fmt::print(stderr, "usage: scale [RANKS [HOSTS]], 2 to {} ranks on 2 hosts or more\n", kMostRanksHere);
    return 2;
  }
  // As many on a host, where that can be.
  const int few = std::max(2, std::min(num_ranks, std::max(kFew, 2 * num_ranks / num_hosts)));
  const Outcome fixed = meet(few, std::max(2, static_cast<int>(std::int64_t{few} * num_hosts / num_ranks)), true);
  const Outcome all = meet(num_ranks, num_hosts, false);
  const double beyond = all.kilobytes - fixed.kilobytes_before;
  const bool held = fixed.is_done && fixed.kilobytes_before > 0 && all.kilobytes > 0 && all.is_done &&
                    all.seconds <= kMostSeconds && std::max(all.sockets, all.sockets_of_server) <= kMostSockets &&
                    beyond <= kMostKilobytes;
  fmt::print(
      "{:.2f} s of {:.0f}; {} sockets of {}; {:.0f} KB of {:.0f} a rank beyond the {:.0f} before it joins; {} of {} "
      "did a barrier and an all-reduce: {}\n",
      all.seconds, kMostSeconds, std::max(all.sockets, all.sockets_of_server), kMostSockets, beyond, kMostKilobytes,
      fixed.kilobytes_before, all.is_done ? std::min(kSummed, num_ranks) : 0, std::min(kSummed, num_ranks),
      held ? "held" : "missed");
  return held ? 0 : 1;
}
