// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/meeting_place.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/hosts/ranks_on_hosts.hpp"
#include "bench/measure/clock.hpp"

namespace tutti::harness {

namespace {

constexpr Address kLoopback{.bytes = {127, 0, 0, 1}};

// Ranks as threads, on hosts that have a page each.
void on_hosts(const std::vector<int>& host_of, bool has_common_clock,
              const std::function<void(MeetingPlace&, int)>& body) {
  const auto num_ranks = static_cast<int>(host_of.size());
  std::vector<SyncPage> pages;
  for (int rank = 0; rank < num_ranks; ++rank) pages.push_back(SyncPage::create(num_ranks).value());
  HostLinks first = HostLinks::listen(kLoopback).value();
  const std::string id = first.id();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Seat seat = seat_of(rank, host_of);
      seat.shares_cores = true;
      seat.has_common_clock = has_common_clock;
      SyncPage& page = pages[static_cast<std::size_t>(seat.host())];
      std::optional<HostLinks> links;
      const HostLinks::Waiting waiting{true, [&page] { return page.is_over(); }};
      if (rank == 0) {
        links = std::move(first);
        EXPECT_TRUE(links->accept(*std::max_element(host_of.begin(), host_of.end()) + 1, waiting).ok());
      } else if (seat.place == 0) {
        links = HostLinks::connect(id, seat.host(), waiting).value();
      }
      MeetingPlace place(page, links, seat);
      body(place, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(MeetingPlace, HandsOnWhatOneRankSaysToAllHosts) {
  const std::string large(10'000, 'x');
  on_hosts({0, 1, 0, 2, 1}, true, [&](MeetingPlace& place, int rank) {
    for (int root = 0; root < 5; ++root) {
      const std::string mine = fmt::format("{} of {}", large, rank);
      EXPECT_EQ(place.broadcast(mine, root), fmt::format("{} of {}", large, root));
      EXPECT_EQ(place.broadcast(rank == root ? "short" : "", root), "short");
    }
  });
}

TEST(MeetingPlace, LetsNobodyGoBeforeAllHaveCome) {
  std::atomic<int> come = 0;
  on_hosts({0, 0, 1, 1}, true, [&](MeetingPlace& place, int) {
    for (int turn = 1; turn <= 200; ++turn) {
      ++come;
      EXPECT_TRUE(place.meet());
      EXPECT_GE(come, 4 * turn);
      EXPECT_TRUE(place.meet());
    }
  });
}

// Begins 20 iterations with `margin`, and returns how many all ranks began in time.
int begun_together(std::int64_t margin) {
  std::vector<std::vector<MeetingPlace::Start>> starts(4);
  std::int64_t error = 0;
  on_hosts({0, 0, 1, 2}, false, [&](MeetingPlace& place, int rank) {
    std::vector<MeetingPlace::Start>& mine = starts[static_cast<std::size_t>(rank)];
    std::vector<std::int64_t> begun;
    std::vector<std::int64_t> ended;
    ASSERT_TRUE(place.begin_round());
    for (int iteration = 0; iteration < 20; ++iteration) {
      mine.push_back(place.start_together(margin));
      ASSERT_FALSE(mine.back().is_over);
      begun.push_back(mine.back().time);
      ended.push_back(now());
    }
    ASSERT_TRUE(place.end_round(begun, ended));
    for (std::size_t each = 0; each < mine.size(); ++each) {
      // All threads have one clock, so that the first host's times stay, and others move by what is wrong with them.
      if (rank < 2) {
        EXPECT_EQ(begun[each], mine[each].time);
      }
      EXPECT_GE(ended[each], begun[each]);
      mine[each].time = begun[each];
    }
    if (rank == 0) error = place.clock_error();
  });
  EXPECT_GT(error, 0);
  int together = 0;
  for (std::size_t each = 0; each < 20; ++each) {
    std::vector<std::int64_t> times;
    for (const std::vector<MeetingPlace::Start>& of_rank : starts)
      if (!of_rank.at(each).is_late) times.push_back(of_rank[each].time);
    if (times.size() < starts.size()) continue;
    ++together;
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    // What counts as in time is a quarter of the margin, for each.
    EXPECT_LE(*last - *first, margin / 2 + 2 * error);
  }
  return together;
}

// Where other programs keep the cores busy, a rank can be away from its core for longer than a margin.
TEST(MeetingPlace, BeginsTogetherOnAllHostsByTheClockOfTheFirst) {
  int together = 0;
  for (std::int64_t margin = 1'000'000; together == 0 && margin <= 128'000'000; margin *= 2)
    together = begun_together(margin);
  EXPECT_GT(together, 0);
}

TEST(MeetingPlace, IsLeftWhereTheGroupIsBeingEnded) {
  on_hosts({0, 1}, true, [&](MeetingPlace& place, int rank) {
    EXPECT_TRUE(place.meet());
    // The other end goes.
    if (rank == 1) {
      EXPECT_FALSE(place.meet());
    }
  });
}

TEST(HostClock, DriftsEvenlyBetweenTwoComparisons) {
  HostClock clock;
  clock.begin(offset_of(1000, 400, 1200));  // at 1100: 700 ahead
  EXPECT_EQ(clock.local(5000), 5700);
  EXPECT_EQ(clock.common(1100), 400);
  EXPECT_EQ(offset_of(1000, 400, 1200).error, 100);
  clock.end(offset_of(2990, 2280, 3010));  // at 3000: 720 ahead
  EXPECT_EQ(clock.common(3000), 2280);
  EXPECT_EQ(clock.common(2050), 2050 - 710);
  EXPECT_EQ(clock.common(9000), 9000 - 720);
}

TEST(RanksOnHosts, AreTextAndCheckedAgainstWhatWasAskedFor) {
  EXPECT_EQ(placement_text({{"a", 4}, {"b", 4}}), "2x4");
  EXPECT_EQ(placement_text({{"a", 1}, {"b", 2}}), "1+2");
  EXPECT_EQ(placement_text({{"a", 1}, {"a", 1}, {"b", 2}}), "2x2");
  EXPECT_EQ(placement_text({{"a", 1}, {"b", 1}, {"a", 1}}), "on 0 1 0");
  const Here a{.name = "a", .host = "a", .machine = "m", .clock = "m", .cores = {{0}, {1}}};
  const Here b{.name = "b", .host = "b", .machine = "m", .clock = "m", .cores = {{0}, {1}}};
  const Here c{.name = "c", .host = "c", .machine = "n", .clock = "n", .cores = {{0}}};
  const RanksOnHosts found = ranks_on_hosts({a, b, c});
  EXPECT_EQ(found.host_of, (std::vector<int>{0, 1, 2}));
  // Two hosts of one machine share its cores.
  EXPECT_EQ(found.cores, (std::vector<Core>{{0}, {1}, {0}}));
  EXPECT_FALSE(found.shares_cores);
  EXPECT_FALSE(found.has_common_clock);
  EXPECT_TRUE(check_placement(found, {{"x", 1}, {"y", 1}, {"z", 1}}).ok());
  EXPECT_NE(check_placement(found, {{"x", 2}, {"z", 1}}).to_string().find("rank 1 is on b"), std::string::npos);
  EXPECT_TRUE(ranks_on_hosts({a, b, a}).shares_cores);
  EXPECT_FALSE(here_in(Json{{"name", 3}}).ok());
  EXPECT_EQ(here_in(to_json(a))->cores, a.cores);
}

}  // namespace

}  // namespace tutti::harness
