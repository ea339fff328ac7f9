// SPDX-License-Identifier: Apache-2.0
#include "peers/meeting.hpp"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/process/worker.hpp"

namespace tutti::peers {
namespace {

Environment group(const std::string& name) {
  return {{std::string(harness::kWorkerVariable), fmt::format("{} of {}", name, ::getpid())}};
}

constexpr Nanos kSoon{20'000'000};

TEST(Meeting, EveryRankLearnsWhatAnyHasPut) {
  const Environment environment = group("all");
  constexpr int kNumRanks = 5;
  std::vector<std::thread> ranks;
  std::vector<std::string> heard(kNumRanks);
  // Rank 0 comes last: the others wait for it.
  for (int rank = kNumRanks; rank-- > 0;)
    ranks.emplace_back([&, rank] {
      auto meeting = Meeting::join(environment, rank);
      ASSERT_TRUE(meeting.ok()) << meeting.status().to_string();
      ASSERT_TRUE((*meeting)->put(fmt::format("rank {}", rank), std::string(1, static_cast<char>('a' + rank))).ok());
      for (int other = 0; other < kNumRanks; ++other) {
        const auto value = (*meeting)->get(fmt::format("rank {}", other));
        ASSERT_TRUE(value.ok()) << value.status().to_string();
        heard[static_cast<std::size_t>(rank)] += *value;
      }
      // Nobody leaves before all have heard.
      ASSERT_TRUE((*meeting)->put(fmt::format("done {}", rank), "").ok());
      for (int other = 0; rank == 0 && other < kNumRanks; ++other)
        ASSERT_TRUE((*meeting)->get(fmt::format("done {}", other)).ok());
    });
  for (std::thread& rank : ranks) rank.join();
  for (const std::string& each : heard) EXPECT_EQ(each, "abcde");
}

TEST(Meeting, KeepsBytesAsTheyAre) {
  const Environment environment = group("bytes");
  const std::string value("\0a\0\xff", 4);
  auto host = Meeting::join(environment, 0);
  ASSERT_TRUE(host.ok());
  ASSERT_TRUE((*host)->put("key", value).ok());
  auto guest = Meeting::join(environment, 1);
  ASSERT_TRUE(guest.ok());
  const auto heard = (*guest)->get("key");
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(*heard, value);
}

TEST(Meeting, DoesNotWaitForEver) {
  const Environment environment = group("late");
  EXPECT_EQ(Meeting::join(environment, 1, kSoon).status().code(), Code::timeout);
  auto host = Meeting::join(environment, 0, kSoon);
  ASSERT_TRUE(host.ok());
  auto guest = Meeting::join(environment, 1, kSoon);
  ASSERT_TRUE(guest.ok());
  EXPECT_EQ((*host)->get("nothing").status().code(), Code::timeout);
  EXPECT_EQ((*guest)->get("nothing").status().code(), Code::timeout);
}

TEST(Meeting, SaysThatRankZeroHasLeft) {
  const Environment environment = group("left");
  auto host = Meeting::join(environment, 0);
  ASSERT_TRUE(host.ok());
  auto guest = Meeting::join(environment, 1);
  ASSERT_TRUE(guest.ok());
  host->reset();
  EXPECT_EQ((*guest)->get("key").status().code(), Code::rank_lost);
}

// Also that there is no room for it at rank 0.
TEST(Meeting, TellsAGuestThatRankZeroHasNoDescriptorsLeft) {
  if (TUTTI_IS_SANITIZED != 0) GTEST_SKIP() << "sanitizers look at memory by way of a pipe, which needs descriptors";
  const Environment environment = group("full");
  std::array<int, 2> over{};
  ASSERT_EQ(::pipe(over.data()), 0);
  std::array<int, 2> full{};
  ASSERT_EQ(::pipe(full.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(over[1]);
    ::close(full[0]);
    const auto host = Meeting::join(environment, 0);
    const int next = ::dup(0);
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = static_cast<rlim_t>(next)};
    ::close(next);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    char none = 0;
    static_cast<void>(!::write(full[1], &none, 1));
    static_cast<void>(!::read(over[0], &none, 1));
    ::_exit(host.ok() ? 0 : 1);
  }
  ::close(over[0]);
  ::close(full[1]);
  char none = 0;
  ASSERT_EQ(::read(full[0], &none, 1), 1);
  ::close(full[0]);
  auto guest = Meeting::join(environment, 1);
  ASSERT_TRUE(guest.ok()) << guest.status().to_string();
  const auto heard = (*guest)->get("key");
  ASSERT_FALSE(heard.ok());
  EXPECT_EQ(heard.status().code(), Code::system);
  EXPECT_NE(heard.status().message().find("rank 0 cannot let other ranks in"), std::string_view::npos);
  EXPECT_NE(heard.status().message().find("ulimit -n"), std::string_view::npos) << heard.status().to_string();
  ::close(over[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Meeting, AnotherGroupMeetsElsewhere) {
  auto host = Meeting::join(group("one"), 0);
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(Meeting::join(group("another"), 1, kSoon).status().code(), Code::timeout);
}

}  // namespace
}  // namespace tutti::peers
