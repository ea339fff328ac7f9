// SPDX-License-Identifier: Apache-2.0
// FailureWatch between processes that are killed.
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "../ranks.hpp"
#include "runtime/failure/failure_watch.hpp"

namespace tutti {
namespace {

using test::Children;
using test::start_server;

using Seconds = std::chrono::duration<double>;
constexpr int kWatched = 4;

// Joins, watches, says so, and reports what happens until the process is killed or `until_left` others have left.
void watch_and_report(int rank, const UniqueId& id, const Children::Report& report,
                      const std::function<void()>& when_ready = {}) {
  Result<Membership> joined = join(test::request_of(id, rank, kWatched), test::patient());
  if (!joined.ok()) return report(joined.status().to_string());
  FailureEvents events{.on_lost = [&](int who, std::string_view why) { report(fmt::format("lost {} {}", who, why)); },
                       .on_left = [&](int who, std::uint64_t) { report(fmt::format("left {}", who)); },
                       .on_abort = {},
                       .on_broken = {}};
  Result<std::unique_ptr<FailureWatch>> watch = FailureWatch::start(std::move(joined->links), std::move(events));
  if (!watch.ok()) return report(watch.status().to_string());
  report("ready");
  if (when_ready) when_ready();
  for (;;) pause();
}

void await_ready(Children& children) {
  for (int rank = 0; rank < kWatched; ++rank) ASSERT_EQ(children.line(rank), "ready");
}

class KilledRank : public testing::TestWithParam<int> {};

TEST_P(KilledRank, IsNamedToAllOthersWithinASecond) {
  const int victim = GetParam();
  Children children(kWatched, [](int rank, const UniqueId& id, const Children::Report& report) {
    watch_and_report(rank, id, report);
  });
  const auto server = start_server();
  children.release(server->id());
  await_ready(children);
  const auto killed = std::chrono::steady_clock::now();
  children.kill(victim);
  const std::string expected = fmt::format("lost {} its process {} ended", victim, children.pid(victim));
  for (int rank = 0; rank < kWatched; ++rank) {
    if (rank == victim) continue;
    EXPECT_EQ(children.line(rank), expected) << "rank " << rank;
  }
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - killed).count(), 1.0);
}

// A child that the rank had forked still holds its sockets, so that nobody sees a hang-up.
TEST_P(KilledRank, IsNamedEvenIfItsChildSurvives) {
  const int victim = GetParam();
  Children children(kWatched, [&](int rank, const UniqueId& id, const Children::Report& report) {
    watch_and_report(rank, id, report, [&] {
      if (rank != victim) return;
      const pid_t child = fork();
      if (child == 0) {
        for (;;) pause();
      }
      report(fmt::format("{}", child));
    });
  });
  const auto server = start_server();
  children.release(server->id());
  await_ready(children);
  const pid_t survivor = std::stoi(children.line(victim));
  const auto killed = std::chrono::steady_clock::now();
  children.kill(victim);
  for (int rank = 0; rank < kWatched; ++rank) {
    if (rank == victim) continue;
    EXPECT_TRUE(children.line(rank).starts_with(fmt::format("lost {} ", victim))) << "rank " << rank;
  }
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - killed).count(), 1.0);
  EXPECT_EQ(::kill(survivor, SIGKILL), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, KilledRank, testing::Range(0, kWatched), testing::PrintToStringParamName());

TEST(FailureWatchProcesses, OfSeveralDeadAtLeastOneIsNamed) {
  Children children(kWatched, [](int rank, const UniqueId& id, const Children::Report& report) {
    watch_and_report(rank, id, report);
  });
  const auto server = start_server();
  children.release(server->id());
  await_ready(children);
  children.kill(0);
  children.kill(2);
  for (const int rank : {1, 3}) EXPECT_TRUE(children.line(rank).starts_with("lost "));
}

// exit() runs destructors in the forked child of a rank; the rank itself must not seem to have left by that.
TEST(FailureWatchProcesses, AForkedChildThatExitsSpeaksForNobody) {
  Children children(kWatched, [&](int rank, const UniqueId& id, const Children::Report& report) {
    Result<Membership> joined = join(test::request_of(id, rank, kWatched), test::patient());
    if (!joined.ok()) return report(joined.status().to_string());
    // What the watch says comes behind it.
    report("ready");
    FailureEvents events{.on_lost = [&](int who, std::string_view) { report(fmt::format("lost {}", who)); },
                         .on_left = [&](int who, std::uint64_t) { report(fmt::format("left {}", who)); },
                         .on_abort = {},
                         .on_broken = {}};
    Result<std::unique_ptr<FailureWatch>> watch = FailureWatch::start(std::move(joined->links), std::move(events));
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) {
        watch->reset();
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      ::kill(getpid(), SIGKILL);
    }
    for (;;) pause();
  });
  const auto server = start_server();
  children.release(server->id());
  await_ready(children);
  for (const int rank : {0, 2, 3}) EXPECT_EQ(children.line(rank), "lost 1");
}

TEST(FailureWatchProcesses, AnOrderlyEndIsNoLoss) {
  Children children(kWatched, [](int rank, const UniqueId& id, const Children::Report& report) {
    Result<Membership> joined = join(test::request_of(id, rank, kWatched), test::patient());
    if (!joined.ok()) return report(joined.status().to_string());
    FailureEvents events{.on_lost = [&](int who, std::string_view) { report(fmt::format("lost {}", who)); },
                         .on_left = {},
                         .on_abort = {},
                         .on_broken = {}};
    Result<std::unique_ptr<FailureWatch>> watch = FailureWatch::start(std::move(joined->links), std::move(events));
    (*watch)->stop();
    report("done");
  });
  const auto server = start_server();
  children.release(server->id());
  for (int rank = 0; rank < kWatched; ++rank) {
    EXPECT_EQ(children.line(rank), "done");
    EXPECT_EQ(children.wait_for_end(rank), 0);
  }
}

}  // namespace
}  // namespace tutti
