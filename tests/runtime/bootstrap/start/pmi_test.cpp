// SPDX-License-Identifier: Apache-2.0
// MPICH's process management interface, spoken with a process manager that the test plays at the other end.
#include <array>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ranks_of_start.hpp"
#include "runtime/bootstrap/start/pmi_wire.hpp"

namespace tutti::start {
namespace {

using test::find_start;
using test::StartedRank;
using test::words_of;

constexpr const char* kInit = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
constexpr const char* kName = "cmd=my_kvsname kvsname=kvs_1_0\n";

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    manager.reset(ends[0]);
    process.reset(ends[1]);
  }
  [[nodiscard]] Environment environment(int rank, int num_ranks) const {
    return {{"PMI_FD", fmt::format("{}", process.get())},
            {"PMI_RANK", fmt::format("{}", rank)},
            {"PMI_SIZE", fmt::format("{}", num_ranks)},
            {"MPI_LOCALNRANKS", fmt::format("{}", num_ranks)}};
  }
  // What the process has said so far, or said before it hung up.
  [[nodiscard]] std::string said() const {
    std::array<char, 4096> text{};
    const ssize_t got = recv(manager.get(), text.data(), text.size(), MSG_DONTWAIT);
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "";
  }
  UniqueFd manager;
  UniqueFd process;
};

// Does what hydra does: a line in, a line out, keys for all, a barrier that ends when all are in it.
class Manager {
 public:
  explicit Manager(int num_ranks, std::map<std::string, std::string> keys = {})
      : pairs_(static_cast<std::size_t>(num_ranks)), keys_(std::move(keys)), thread_([this] { serve(); }) {}
  ~Manager() {
    over_ = true;
    thread_.join();
  }
  [[nodiscard]] const Pair& pair(int rank) const { return pairs_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int farewells() const { return farewells_; }

 private:
  void serve() {
    std::vector<std::string> lines(pairs_.size());
    while (!over_) {
      std::vector<pollfd> polled;
      for (const Pair& pair : pairs_) polled.push_back({pair.manager.get(), POLLIN, 0});
      poll(polled.data(), polled.size(), 5);
      for (std::size_t rank = 0; rank < polled.size(); ++rank) {
        char letter = 0;
        while (recv(polled[rank].fd, &letter, 1, MSG_DONTWAIT) == 1) {
          lines[rank] += letter;
          if (letter != '\n') continue;
          lines[rank].pop_back();
          obey(rank, std::exchange(lines[rank], ""));
        }
      }
    }
  }
  void obey(std::size_t rank, std::string_view line) {
    const std::string_view command = word_of(line, "cmd");
    if (command == "init") return tell(rank, kInit);
    if (command == "get_my_kvsname") return tell(rank, kName);
    if (command == "put") {
      keys_[std::string(word_of(line, "key"))] = word_of(line, "value");
      return tell(rank, "cmd=put_result rc=0 msg=success\n");
    }
    if (command == "get" && keys_[std::string(word_of(line, "key"))].empty())
      return tell(rank, "cmd=get_result rc=-1 msg=key_not_found\n");
    if (command == "get")
      return tell(rank,
                  fmt::format("cmd=get_result rc=0 msg=success value={}\n", keys_[std::string(word_of(line, "key"))]));
    if (command == "barrier_in" && ++waiting_ == pairs_.size()) {
      waiting_ = 0;
      for (std::size_t each = 0; each < pairs_.size(); ++each) tell(each, "cmd=barrier_out\n");
    }
    if (command == "finalize") {
      ++farewells_;
      tell(rank, "cmd=finalize_ack\n");
    }
  }
  void tell(std::size_t rank, const std::string& line) {
    static_cast<void>(send(pairs_[rank].manager.get(), line.data(), line.size(), MSG_NOSIGNAL));
  }

  std::vector<Pair> pairs_;
  std::map<std::string, std::string> keys_;
  std::size_t waiting_ = 0;
  std::atomic<int> farewells_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;  // last
};

TEST(StartPmi, RanksLearnTheIdAndSayFarewellAtTheEnd) {
  for (const int num_ranks : {1, 2, 5}) {
    SCOPED_TRACE(num_ranks);
    const Manager manager(num_ranks);
    {
      const auto ranks =
          test::find_on_threads(num_ranks, [&](int rank) { return manager.pair(rank).environment(rank, num_ranks); });
      test::expect_one_start(ranks, "MPICH's PMI");
      EXPECT_EQ(manager.farewells(), 0) << "MPI_Init may still come, and hydra hangs up on a farewell";
    }
    EXPECT_EQ(manager.farewells(), num_ranks);
  }
}

// MPI_Finalize has said farewell and closed the descriptor; another file may have its number by now.
TEST(StartPmi, NoFarewellIsSaidToAnotherFile) {
  Manager manager(1);
  const int fd = manager.pair(0).process.get();
  Pair other;
  {
    const StartedRank rank = find_start(manager.pair(0).environment(0, 1));
    ASSERT_TRUE(rank.started.ok()) << words_of(rank);
    ASSERT_EQ(dup2(other.process.get(), fd), fd);
  }
  EXPECT_EQ(other.said(), "");
  EXPECT_EQ(manager.farewells(), 0);
}

TEST(StartPmi, NothingIsReadBeyondAnAnswer) {
  const Pair pair;
  const std::string all = std::string(kInit) + kName + "cmd=put_result rc=0\n" + "cmd=barrier_out\n" + "for MPI\n";
  ASSERT_EQ(write(pair.manager.get(), all.data(), all.size()), static_cast<ssize_t>(all.size()));
  const StartedRank rank = find_start(pair.environment(0, 2));
  ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  std::array<char, 64> rest{};
  EXPECT_EQ(recv(pair.process.get(), rest.data(), rest.size(), MSG_DONTWAIT), 8);
  EXPECT_STREQ(rest.data(), "for MPI\n");
  ::shutdown(pair.manager.get(), SHUT_RDWR);  // nobody to say farewell to
}

// What a rank 1 makes of a manager that says this and hangs up.
std::string words_for(const std::string& answers) {
  Pair pair;
  EXPECT_EQ(write(pair.manager.get(), answers.data(), answers.size()), static_cast<ssize_t>(answers.size()));
  ::shutdown(pair.manager.get(), SHUT_WR);
  return words_of(find_start(pair.environment(1, 2)));
}

TEST(StartPmi, WhatTheManagerSaysWronglyIsShown) {
  const auto expect = [](const std::string& answers, const std::string& part) {
    const std::string words = words_for(answers);
    EXPECT_TRUE(words.starts_with("MPICH's PMI: PMI_FD (")) << words;
    EXPECT_NE(words.find(part), std::string::npos) << words;
  };
  expect("", "the process manager has hung up");
  expect("cmd=response_to_i", "has hung up, after 'cmd=response_to_i'");
  expect("\x01\xff garbage\n", "the answer to 'cmd=init pmi_version=1 pmi_subversion=1' is '\\x01\\xff garbage'");
  expect("\n", "is ''; it should be cmd=response_to_init");
  expect("cmd=response_to_init rc=-1\n", "is 'cmd=response_to_init rc=-1'");
  expect(std::string(10'000, 'x'), "a line has no end: 'xxx");
  expect(std::string(kInit) + "cmd=barrier_out\n", "the answer to 'cmd=get_my_kvsname' is 'cmd=barrier_out'");
  expect(std::string(kInit) + kName + "cmd=barrier_out\ncmd=get_result rc=-1 msg=key_not_found\n",
         "rc=-1 msg=key_not_found");
  EXPECT_TRUE(words_for(std::string(kInit) + kName + "cmd=barrier_out\ncmd=get_result rc=0 value=x\n")
                  .starts_with("MPICH's PMI: rank 0's tutti-id: "));
}

TEST(StartPmi, NoErrorShowsTheId) {
  const Pair pair;
  const std::string answers = std::string(kInit) + kName + "cmd=put_result rc=-1 msg=no value=544f4b454e\n";
  ASSERT_EQ(write(pair.manager.get(), answers.data(), answers.size()), static_cast<ssize_t>(answers.size()));
  const StartedRank rank = find_start(pair.environment(0, 2));
  EXPECT_EQ(words_of(rank),
            fmt::format("MPICH's PMI: PMI_FD ({}): the answer to 'cmd=put kvsname=kvs_1_0 key=tutti-id' "
                        "is 'cmd=put_result rc=-1 msg=no'; it should be cmd=put_result and no error",
                        pair.process.get()));
}

TEST(StartPmi, WhoIsLateIsWaitedForAsLongAsVariablesSay) {
  const Pair pair;
  const std::string answers = std::string(kInit) + kName;
  ASSERT_EQ(write(pair.manager.get(), answers.data(), answers.size()), static_cast<ssize_t>(answers.size()));
  std::vector<std::string> warnings;
  StartOptions options;
  options.late_warning = Nanos(5'000'000);
  options.timeout = Nanos(500'000'000);
  options.warn = [&](std::string_view words) { warnings.emplace_back(words); };
  const StartedRank rank = find_start(pair.environment(1, 2), options);
  EXPECT_EQ(words_of(rank),
            "MPICH's PMI: rank 1 of 2 waits for all ranks that MPICH's PMI has started, and 500ms are over");
  ASSERT_GE(warnings.size(), 2U);
  EXPECT_EQ(warnings[1], "rank 1 of 2 waits for all ranks that MPICH's PMI has started, for 10ms so far");
}

TEST(StartPmi, ADescriptorOfAnotherKindIsNone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const StartedRank rank = find_start({{"PMI_FD", fmt::format("{}", ends[0])}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  EXPECT_NE(words_of(rank).find(fmt::format("PMI_FD is {}, which is no socket", ends[0])), std::string::npos);
  close(ends[0]);
  close(ends[1]);
}

TEST(StartPmi, NodesAreCountedInTheMapping) {
  for (const char* one : {"", "nonsense", "(vector,(0,1,8))", "(vector,(3,1,2),(3,1,2))", "(vector,(0,1"})
    EXPECT_FALSE(names_several_nodes(one)) << one;
  for (const char* several : {"(vector,(0,2,2))", "(vector,(0,1,2),(1,1,1))", "(vector, (0, 12, 1))"})
    EXPECT_TRUE(names_several_nodes(several)) << several;
}

// As Slurm tells it, which has no MPI_LOCALNRANKS.
TEST(StartPmi, RanksOfSeveralNodesOfTheMappingMeetOnTheNetwork) {
  for (const char* mapping : {"", "(vector,(0,1,2))", "(vector,(0,2,1))"}) {
    const Manager manager(2, {{"PMI_process_mapping", mapping}});
    const auto ranks = test::find_on_threads(2, [&](int rank) {
      return Environment{{"PMI_FD", fmt::format("{}", manager.pair(rank).process.get())},
                         {"PMI_RANK", fmt::format("{}", rank)},
                         {"PMI_SIZE", "2"},
                         {"TUTTI_SOCKET_IFNAME", "=lo"}};
    });
    test::expect_one_start(ranks, "MPICH's PMI");
    const bool is_local = ranks[0].started->id.address().family == Address::Family::local;
    EXPECT_EQ(is_local, !names_several_nodes(mapping)) << mapping;
  }
}

// Rank 0 serves the rendezvous where other hosts reach it.
TEST(StartPmi, RanksOfSeveralHostsMeetOnTheNetwork) {
  const Manager manager(2);
  const auto ranks = test::find_on_threads(2, [&](int rank) {
    Environment environment = manager.pair(rank).environment(rank, 2);
    environment.set("MPI_LOCALNRANKS", "1");
    environment.set("TUTTI_SOCKET_IFNAME", "=lo");
    return environment;
  });
  test::expect_one_start(ranks, "MPICH's PMI");
  EXPECT_NE(ranks[0].started->id.address().family, Address::Family::local);
}

}  // namespace
}  // namespace tutti::start
