// SPDX-License-Identifier: Apache-2.0
// FailureWatch with threads for ranks: leaving, hanging up, aborting, stopping.
#include "runtime/failure/failure_watch.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "../ranks.hpp"
#include "base/system/socket.hpp"

namespace tutti {
namespace {

// What a watch told, as words that can be waited for.
class Events {
 public:
  FailureEvents to_record() {
    return {.on_lost = [this](int rank, std::string_view) { add(fmt::format("lost {}", rank)); },
            .on_left =
                [this](int rank, std::uint64_t operations) {
                  add(fmt::format("left {}{}", rank, operations == 0 ? "" : fmt::format(" after {}", operations)));
                },
            .on_abort = [this](int rank, std::string_view why) { add(fmt::format("abort {} {}", rank, why)); },
            .on_broken =
                [this](int rank, Code code, std::string_view why) {
                  add(fmt::format("broken {} {} {}", rank, static_cast<int>(code), why));
                }};
  }
  bool wait_for(const std::string& words) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return std::find(all_.begin(), all_.end(), words) != all_.end(); });
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  void add(std::string words) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(words));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

// All ranks of a communicator in this process.
struct Group {
  // On hosts that have these names, by rank.
  explicit Group(int num_ranks, const std::vector<std::string>& hosts = {})
      : events(static_cast<std::size_t>(num_ranks)) {
    const auto server = hosts.empty() ? test::start_server() : test::start_server_on_network();
    auto joined = test::on_threads(num_ranks, [&](int rank) {
      JoinRequest request = test::request_of(server->id(), rank, num_ranks);
      if (!hosts.empty()) request.host_id = hosts[static_cast<std::size_t>(rank)];
      return join(request, test::patient());
    });
    for (auto& one : joined) {
      EXPECT_TRUE(one->ok()) << one->status().to_string();
      links.push_back(std::move((*one)->links));
    }
  }
  void watch(int rank, const LifeSigns& signs = {}) {
    const auto at = static_cast<std::size_t>(rank);
    if (watches.size() < links.size()) watches.resize(links.size());
    Result<std::unique_ptr<FailureWatch>> started =
        FailureWatch::start(std::move(links[at]), events[at].to_record(), signs);
    ASSERT_TRUE(started.ok());
    watches[at] = std::move(*started);
  }
  void watch_all() {
    for (int rank = 0; rank < static_cast<int>(links.size()); ++rank) watch(rank);
  }

  std::vector<Events> events;
  std::vector<Links> links;
  std::vector<std::unique_ptr<FailureWatch>> watches;
};

TEST(FailureWatch, ALeaveReachesAllAndIsNoLoss) {
  Group group(4);
  group.watch_all();
  group.watches[2]->stop();
  for (const std::size_t rank : {0U, 1U, 3U}) EXPECT_TRUE(group.events[rank].wait_for("left 2")) << rank;
  group.watches[0]->stop();
  for (const std::size_t rank : {1U, 3U}) EXPECT_TRUE(group.events[rank].wait_for("left 0")) << rank;
  group.watches[1]->stop();
  group.watches[3]->stop();
  for (Events& events : group.events) {
    for (const std::string& words : events.all()) EXPECT_TRUE(words.starts_with("left ")) << words;
  }
}

TEST(FailureWatch, AHangUpIsALossThatAllHearOf) {
  Group group(4);
  for (const int rank : {0, 1, 2}) group.watch(rank);
  group.links[3] = {};
  for (const std::size_t rank : {0U, 1U, 2U}) EXPECT_TRUE(group.events[rank].wait_for("lost 3")) << rank;
  EXPECT_EQ(group.events[1].all(), std::vector<std::string>{"lost 3"});
}

TEST(FailureWatch, TheHangUpOfRank0IsSeenByAll) {
  Group group(3);
  for (const int rank : {1, 2}) group.watch(rank);
  group.links[0] = {};
  for (const std::size_t rank : {1U, 2U}) EXPECT_TRUE(group.events[rank].wait_for("lost 0")) << rank;
}

TEST(FailureWatch, ALossBeforeTheWatchBeganIsSeen) {
  Group group(3);
  group.links[1] = {};
  group.watch(0);
  group.watch(2);
  EXPECT_TRUE(group.events[0].wait_for("lost 1"));
  EXPECT_TRUE(group.events[2].wait_for("lost 1"));
}

TEST(FailureWatch, AnAbortReachesAllOthersOnce) {
  Group group(4);
  group.watch_all();
  group.watches[3]->abort("enough");
  group.watches[3]->abort("more than enough");
  for (const std::size_t rank : {0U, 1U, 2U}) EXPECT_TRUE(group.events[rank].wait_for("abort 3 enough")) << rank;
  group.watches[0]->abort(std::string(1000, 'x'));
  const std::string cut = "abort 0 " + std::string(256, 'x');
  for (const std::size_t rank : {1U, 2U, 3U}) EXPECT_TRUE(group.events[rank].wait_for(cut)) << rank;
  EXPECT_EQ(group.events[1].all(), (std::vector<std::string>{"abort 3 enough", cut}));
  EXPECT_EQ(group.events[3].all(), (std::vector<std::string>{cut}));
}

// Ranks 0 and 2 are on one host, 1, 4 and 5 on another, 3 on a third.
const std::vector<std::string> kHosts = {"a", "b", "a", "c", "b", "b"};

TEST(FailureWatch, OverHostsALeaveReachesAll) {
  Group group(6, kHosts);
  group.watch_all();
  group.watches[4]->stop(17);
  for (const std::size_t rank : {0U, 1U, 2U, 3U, 5U})
    EXPECT_TRUE(group.events[rank].wait_for("left 4 after 17")) << rank;
  group.watches[3]->stop(18);
  for (const std::size_t rank : {0U, 1U, 2U, 5U}) EXPECT_TRUE(group.events[rank].wait_for("left 3 after 18")) << rank;
}

TEST(FailureWatch, OverHostsALossReachesAll) {
  for (const std::size_t lost : {2U, 5U, 3U}) {
    Group group(6, kHosts);
    group.watch_all();
    group.watches[lost].reset();
    for (std::size_t rank = 0; rank < 6; ++rank) {
      if (rank == lost) continue;
      EXPECT_TRUE(group.events[rank].wait_for(fmt::format("left {}", lost))) << rank;
    }
  }
  for (const int lost : {2, 4, 3}) {
    Group group(6, kHosts);
    for (int rank = 0; rank < 6; ++rank)
      if (rank != lost) group.watch(rank);
    group.links[static_cast<std::size_t>(lost)] = {};
    for (int rank = 0; rank < 6; ++rank) {
      if (rank == lost) continue;
      Events& events = group.events[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(events.wait_for(fmt::format("lost {}", lost))) << rank;
    }
  }
}

TEST(FailureWatch, OverHostsAnAbortAndABreakReachAll) {
  Group group(6, kHosts);
  group.watch_all();
  group.watches[5]->abort("enough");
  for (const std::size_t rank : {0U, 1U, 2U, 3U, 4U})
    EXPECT_TRUE(group.events[rank].wait_for("abort 5 enough")) << rank;
  group.watches[3]->tell_broken(1, Code::timeout, "rank 1 is late");
  group.watches[3]->tell_broken(2, Code::timeout, "rank 2 is late");
  const std::string words = fmt::format("broken 1 {} rank 1 is late", static_cast<int>(Code::timeout));
  for (const std::size_t rank : {0U, 1U, 2U, 4U, 5U}) EXPECT_TRUE(group.events[rank].wait_for(words)) << rank;
  EXPECT_EQ(group.events[3].all(), (std::vector<std::string>{"abort 5 enough"}));
}

TEST(FailureWatch, AbortThenStopStillTells) {
  Group group(2);
  group.watch_all();
  group.watches[1]->abort("enough");
  group.watches[1]->stop();
  EXPECT_TRUE(group.events[0].wait_for("left 1"));
  EXPECT_EQ(group.events[0].all(), (std::vector<std::string>{"abort 1 enough", "left 1"}));
}

// Nobody else could tell it any more.
TEST(FailureWatch, WhoIsLostAfterRank0HasLeftIsFoundByLooking) {
  Group group(3);
  std::atomic<int> given = 0;
  std::atomic<int> lost = -1;
  const LifeSigns signs{
      .give = [&] { ++given; },
      .take_back = [&] { --given; },
      .find_lost = [&]() -> std::optional<int> { return lost < 0 ? std::nullopt : std::optional<int>(lost.load()); }};
  for (const int rank : {0, 1, 2}) group.watch(rank, signs);
  EXPECT_EQ(given, 3);
  group.watches[0]->stop();
  EXPECT_EQ(given, 2);
  for (const std::size_t rank : {1U, 2U}) EXPECT_TRUE(group.events[rank].wait_for("left 0"));
  lost = 2;
  EXPECT_TRUE(group.events[1].wait_for("lost 2"));
  group.watches[1]->stop();
  group.watches[2]->stop();
  EXPECT_EQ(group.events[1].all(), (std::vector<std::string>{"left 0", "lost 2"}));
  EXPECT_EQ(given, 0);
}

TEST(FailureWatch, StoppingTwiceAndAllAtOnceIsFine) {
  for (int round = 0; round < 10; ++round) {
    Group group(5);
    group.watch_all();
    test::on_threads(5, [&](int rank) {
      group.watches[static_cast<std::size_t>(rank)]->stop();
      group.watches[static_cast<std::size_t>(rank)]->stop();
      return 0;
    });
    for (Events& events : group.events) {
      for (const std::string& words : events.all()) EXPECT_TRUE(words.starts_with("left ")) << words;
    }
  }
}

TEST(FailureWatch, OneRankAloneHasNothingToFear) {
  Group group(1);
  group.watch_all();
  group.watches[0]->abort("nobody listens");
  group.watches[0]->stop();
  EXPECT_TRUE(group.events[0].all().empty());
}

// Rank 1's socket is full and it does not read; what rank 0 has for it waits in rank 0 and holds up nobody else.
TEST(FailureWatch, APeerThatDoesNotReadHoldsUpNobodyAndMissesNothing) {
  Group group(4);
  const std::vector<std::byte> nonsense(100, std::byte{0xff});
  while (send_some(group.links[0].peers[0].socket.get(), nonsense).outcome == SocketTransfer::Outcome::done) continue;
  for (const int rank : {0, 2, 3}) group.watch(rank);
  group.watches[2]->abort("full");
  EXPECT_TRUE(group.events[3].wait_for("abort 2 full"));
  group.watches[2]->stop();
  EXPECT_TRUE(group.events[3].wait_for("left 2"));
  group.watch(1);
  EXPECT_TRUE(group.events[1].wait_for("left 2"));
  EXPECT_EQ(group.events[1].all(), (std::vector<std::string>{"abort 2 full", "left 2"}));
}

}  // namespace
}  // namespace tutti
