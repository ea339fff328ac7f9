// SPDX-License-Identifier: Apache-2.0
// join() between processes, and what the others learn when one of them dies on the way.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ranks.hpp"
#include "base/system/socket.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {
namespace {

using test::Children;
using test::patient;
using test::request_of;
using test::start_server;

std::string outcome_of(const Result<Membership>& joined) {
  return joined.ok() ? "joined" : fmt::format("{} {}", name_of(joined.status().code()), joined.status().to_string());
}

TEST(BootstrapProcesses, Join) {
  for (const int num_ranks : {1, 2, 5, 16}) {
    SCOPED_TRACE(num_ranks);
    Children children(num_ranks, [&](int rank, const UniqueId& id, const Children::Report& report) {
      Result<Membership> joined = join(request_of(id, rank, num_ranks), patient());
      report(outcome_of(joined));
    });
    const auto server = start_server();
    children.release(server->id());
    for (int rank = 0; rank < num_ranks; ++rank) {
      EXPECT_EQ(children.line(rank), "joined");
      EXPECT_EQ(children.wait_for_end(rank), 0);
    }
  }
}

UniqueFd connect_to(const UniqueId& id, std::span<const std::byte> words) {
  Result<UniqueFd> socket = begin_connect(id.address());
  EXPECT_TRUE(socket.ok()) << socket.status().to_string();
  EXPECT_EQ(send_some(socket->get(), words).bytes, words.size());
  return std::move(*socket);
}

// The server is stopped while a rank says hello and more strangers than it keeps come after it.
TEST(BootstrapProcesses, AHelloThatIsThereIsReadHoweverManyStrangersFollow) {
  Children children(1, [](int, const UniqueId&, const Children::Report& report) {
    const auto server = start_server();
    report(server->id().to_text());
    while (server->finished() == 0) pause();
  });
  children.release(start_server()->id());
  const Result<UniqueId> id = UniqueId::from_text(children.line(0));
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  ASSERT_EQ(::kill(children.pid(0), SIGSTOP), 0);
  ASSERT_EQ(waitpid(children.pid(0), nullptr, WUNTRACED), children.pid(0));
  wire::Hello hello;
  hello.num_ranks = 1;
  hello.refusal = Status(Code::system, "of no consequence");
  const UniqueFd rank = connect_to(*id, wire::encode(hello, id->token()));
  std::vector<UniqueFd> strangers;
  for (int each = 0; each < 200; ++each) strangers.push_back(connect_to(*id, {}));
  ASSERT_EQ(::kill(children.pid(0), SIGCONT), 0);
  pollfd fd{rank.get(), POLLIN, 0};
  ASSERT_EQ(poll(&fd, 1, static_cast<int>(std::chrono::milliseconds(test::kPatience).count())), 1);
  std::array<std::byte, 1024> answer{};
  EXPECT_GT(receive_some(rank.get(), answer).bytes, 0U) << "hung up without an answer";
}

// Whose turn it is, for the test and its children.
class SharedTurn {
 public:
  SharedTurn() {
    void* const memory = mmap(nullptr, sizeof *now_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    now_ = new (memory) std::atomic<int>(-1);
  }
  SharedTurn(const SharedTurn&) = delete;
  SharedTurn& operator=(const SharedTurn&) = delete;
  ~SharedTurn() { munmap(now_, sizeof *now_); }

  void give(int turn) { *now_ = turn; }
  [[nodiscard]] int now() const { return *now_; }
  void await(int turn) const {
    while (now() < turn) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<int>* now_;
};

bool have_arrived(const RendezvousServer& server, int ranks) {
  const auto until = Clock::now() + test::kPatience;
  while (server.arrived() < static_cast<std::uint64_t>(ranks) && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return server.arrived() >= static_cast<std::uint64_t>(ranks);
}

// Of 100 ranks, eight wait at the rendezvous. Rank 8, which comes next, waits at one of those, and others wait at it.
// Rank 98, which comes when nearly all are there, waits at one that waits at one of the first.
TEST(BootstrapProcesses, OneOfManyThatEndsIsNamed) {
  constexpr int kRanks = 100;
  constexpr int kEnd = 99;    // the victim's turn to end
  constexpr int kLast = 100;  // the last rank's to come
  SharedTurn turn;
  const auto turn_of = [](int rank) { return rank < 8 ? 0 : rank == 8 ? 8 : rank < 98 ? 9 : rank == 98 ? 98 : kLast; };
  for (const int victim : {8, 98})
    for (const JoinStage stage : {JoinStage::hello_sent, JoinStage::region_received}) {
      SCOPED_TRACE(fmt::format("rank {}, stage {}", victim, static_cast<int>(stage)));
      turn.give(0);
      Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
        JoinRequest request = request_of(id, rank, kRanks);
        request.host_id = fmt::format("host-{}", rank);
        JoinOptions options = patient();
        turn.await(turn_of(rank));
        const auto end = [] { ::kill(getpid(), SIGKILL); };
        if (rank == victim && stage == JoinStage::region_received)
          options.on_stage = [&](JoinStage reached) {
            if (reached == stage) end();
          };
        if (rank == victim && stage == JoinStage::hello_sent)
          options.meanwhile = [&] {
            if (turn.now() == kEnd) end();
            return true;
          };
        report(outcome_of(join(request, options)));
      });
      const auto server = test::start_server_on_network();
      children.release(server->id());
      // In this order; the last comes when the victim has ended, or for it to get so far.
      for (const int next : {8, 9, 98, 99}) {
        ASSERT_TRUE(have_arrived(*server, next));
        if (next < 99) turn.give(next);
      }
      turn.give(stage == JoinStage::hello_sent ? kEnd : kLast);
      EXPECT_TRUE(WIFSIGNALED(children.wait_for_end(victim)));
      turn.give(kLast);
      const std::string expected = fmt::format(
          "rank lost rank {} (process {}) ended before the communicator was complete", victim, children.pid(victim));
      for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(rank), rank == victim ? "" : expected) << rank;
    }
}

// Ranks arrive in order, so 8 to 15 wait at rank 0. Once they have the table, 9 to 15 connect to rank 1, the leader
// above them. It has ended by then, and rank 0 passes on the reason late.
TEST(BootstrapProcesses, ARankWhoseLeaderAboveIsGoneLearnsWhoDied) {
  constexpr int kRanks = 33;
  constexpr int kVictim = 5;
  const auto is_slow = [](int rank) { return rank == 0 || rank == kVictim || (rank >= 8 && rank < 16); };
  SharedTurn turn;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    JoinRequest request = request_of(id, rank, kRanks);
    request.host_id = fmt::format("host-{}", rank);
    JoinOptions options = patient();
    options.explanation = test::kPatience;
    options.on_stage = [&](JoinStage stage) {
      if (stage == JoinStage::table_received && is_slow(rank)) ::kill(getpid(), SIGSTOP);
    };
    turn.await(rank);
    report(outcome_of(join(request, options)));
  });
  const auto server = test::start_server_on_network();
  children.release(server->id());
  for (int next = 0; next < kRanks; ++next) {
    turn.give(next);
    ASSERT_TRUE(have_arrived(*server, next + 1));
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (!is_slow(rank)) continue;
    int status = 0;
    ASSERT_EQ(waitpid(children.pid(rank), &status, WUNTRACED), children.pid(rank));
    ASSERT_TRUE(WIFSTOPPED(status)) << rank;
  }
  children.kill(kVictim);
  EXPECT_TRUE(WIFSIGNALED(children.wait_for_end(kVictim)));
  EXPECT_EQ(children.wait_for_end(1), 0);
  for (int rank = 8; rank < 16; ++rank) ASSERT_EQ(::kill(children.pid(rank), SIGCONT), 0);
  // So that they are refused first; what they say must be the same if they are not.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_EQ(::kill(children.pid(0), SIGCONT), 0);
  const std::string expected = fmt::format("rank lost rank {} (process {}) ended before the communicator was complete",
                                           kVictim, children.pid(kVictim));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    EXPECT_EQ(children.line(rank), expected) << rank;
  }
}

struct Death {
  int rank;
  JoinStage stage;
};

class BootstrapDeath : public testing::TestWithParam<Death> {};

// At each stage that a rank can reach before all are complete, its death is an error that names it to all others.
TEST_P(BootstrapDeath, IsNamedToTheOthers) {
  const Death death = GetParam();
  constexpr int kRanks = 4;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    JoinOptions options = patient();
    if (rank == death.rank) {
      options.on_stage = [&](JoinStage stage) {
        if (stage == death.stage) ::kill(getpid(), SIGKILL);
      };
    }
    report(outcome_of(join(request_of(id, rank, kRanks), options)));
  });
  const auto server = start_server();
  children.release(server->id());
  EXPECT_TRUE(WIFSIGNALED(children.wait_for_end(death.rank)));
  const std::string expected = fmt::format("rank lost rank {} (process {}) ended before the communicator was complete",
                                           death.rank, children.pid(death.rank));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == death.rank) continue;
    EXPECT_EQ(children.line(rank), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(EachStage, BootstrapDeath,
                         testing::Values(Death{0, JoinStage::hello_sent}, Death{2, JoinStage::hello_sent},
                                         Death{0, JoinStage::table_received}, Death{2, JoinStage::table_received},
                                         Death{2, JoinStage::region_received}, Death{0, JoinStage::region_received}),
                         [](const testing::TestParamInfo<Death>& of) {
                           return fmt::format("Rank{}Stage{}", of.param.rank, static_cast<int>(of.param.stage));
                         });

// Other users connect in hundreds, and say nothing.
TEST(BootstrapProcesses, OtherUsersDisplaceNobody) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr int kStranger = 2;
  struct Crowd {
    std::atomic<bool> rank_is_at_the_door = false;
    std::atomic<bool> is_there = false;
  };
  void* const memory = mmap(nullptr, sizeof(Crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& crowd = *new (memory) Crowd;
  const auto wait_for = [](const std::atomic<bool>& flag) {
    while (!flag.load()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  };
  Children children(3, [&](int rank, const UniqueId& id, const Children::Report& report) {
    if (rank == kStranger) {
      if (setresuid(65534, 65534, 65534) != 0) return report("cannot be another user");
      wait_for(crowd.rank_is_at_the_door);
      std::vector<UniqueFd> silent;
      for (int i = 0; i < 300; ++i) {
        Result<UniqueFd> one = begin_connect(id.address());
        if (!one.ok()) return report(one.status().to_string());
        silent.push_back(std::move(*one));
      }
      // The first of them has made room for later ones.
      pollfd first{silent.front().get(), POLLIN, 0};
      poll(&first, 1, 20'000);
      crowd.is_there = true;
      return report((first.revents & POLLHUP) != 0 ? "dropped" : "kept");
    }
    int visits = 0;
    JoinOptions options = patient();
    options.on_stage = [&](JoinStage stage) {
      if (rank != 1 || stage != JoinStage::connected) return;
      ++visits;
      crowd.rank_is_at_the_door = true;
      wait_for(crowd.is_there);
    };
    const Result<Membership> joined = join(request_of(id, rank, 2), options);
    report(fmt::format("{} after {}", outcome_of(joined), visits));
  });
  const auto server = start_server();
  children.release(server->id());
  EXPECT_EQ(children.line(kStranger), "dropped");
  EXPECT_EQ(children.line(0), "joined after 0");
  EXPECT_EQ(children.line(1), "joined after 1");
  munmap(memory, sizeof(Crowd));
}

// What the descriptors of this process are, as the system calls it: "socket:[INODE]", "/memfd:tutti (deleted)".
std::vector<std::string> descriptors() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    found.push_back(std::filesystem::read_symlink(entry.path(), error).string());
  return found;
}

// The names that Tutti has given to local sockets, with a space behind each: of all, or of those that are in `own`.
std::string names_of_sockets(const std::vector<std::string>* own = nullptr) {
  std::string names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    // Number, five facts, inode, and a name if there is one.
    std::istringstream words(line);
    std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
    if (row.size() < 8 || !row[7].starts_with("@tutti-")) continue;
    const std::string inode = fmt::format("socket:[{}]", row[6]);
    if (own == nullptr || std::find(own->begin(), own->end(), inode) != own->end()) names += row[7] + " ";
  }
  return names;
}

// Nothing that a dead rank could leave lying: no file where shared memory or sockets have names.
TEST(BootstrapProcesses, LeaveNothingBehind) {
  constexpr int kRanks = 3;
  Children children(kRanks, [&](int rank, const UniqueId& id, const Children::Report& report) {
    JoinOptions options = patient();
    options.on_stage = [&](JoinStage stage) {
      if (rank != 0 || stage != JoinStage::hello_sent) return;
      const std::vector<std::string> own = descriptors();
      report(names_of_sockets(&own));
    };
    const Result<Membership> joined = join(request_of(id, rank, kRanks), options);
    std::string outcome = outcome_of(joined);
    for (const std::string& each : descriptors())
      if (each.starts_with("/dev/shm/")) outcome += ", and has " + each;
    report(outcome);
    ::kill(getpid(), SIGKILL);
  });
  const auto server = start_server();
  children.release(server->id());
  // At which the others reach rank 0.
  const std::string name = children.line(0);
  EXPECT_EQ(std::count(name.begin(), name.end(), ' '), 1) << name;
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(children.line(rank), "joined");
  for (int rank = 0; rank < kRanks; ++rank) children.wait_for_end(rank);
  EXPECT_EQ(names_of_sockets().find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace tutti
