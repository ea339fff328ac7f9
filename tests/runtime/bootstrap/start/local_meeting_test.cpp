// SPDX-License-Identifier: Apache-2.0
// Meeting at a socket whose name anybody can make: who is late, who sits at the name, who asks without right.
#include "runtime/bootstrap/start/local_meeting.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "ranks_of_start.hpp"

namespace tutti::start {
namespace {

using test::find_start;
using test::StartedRank;
using test::words_of;

// A start that no other test has.
class LocalMeetingTest : public testing::Test {
 protected:
  [[nodiscard]] static Environment environment(int rank, int num_ranks = 2) {
    return {{"SLURM_PROCID", fmt::format("{}", rank)},
            {"SLURM_STEP_NUM_TASKS", fmt::format("{}", num_ranks)},
            {"SLURM_JOB_ID", fmt::format("{}", getpid())},
            {"SLURM_STEP_ID", "77"}};
  }
  [[nodiscard]] static std::string name() {
    return socket_name({.by = "srun", .ranks = {}, .key = fmt::format("srun (job {}, step 77)", getpid())});
  }
  static Result<UniqueFd> squat() { return listen_abstract(name(), 8); }
};

// What one gets that asks as `rank` does; nothing where the other side hangs up.
std::string ask(const std::string& name, std::string_view rank) {
  const Result<UniqueFd> socket = connect_abstract(name);
  if (!socket.ok() || !socket->valid()) return "nobody";
  static_cast<void>(send_some(socket->get(), std::as_bytes(std::span(rank))));
  pollfd polled{socket->get(), POLLIN, 0};
  poll(&polled, 1, 10'000);
  std::array<char, 256> text{};
  const SocketTransfer got = receive_some(socket->get(), std::as_writable_bytes(std::span(text)));
  return got.outcome == SocketTransfer::Outcome::done ? std::string(text.data(), got.bytes) : "";
}

// The same in a process of another user.
std::string ask_as_nobody(const std::string& name, std::string_view rank) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const bool other = setgid(65534) == 0 && setuid(65534) == 0;
    const std::string answer = other ? "answer:" + ask(name, rank) : "still the same user";
    _exit(write(ends[1], answer.data(), answer.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string whole;
  std::array<char, 512> text{};
  for (ssize_t got = 0; (got = read(ends[0], text.data(), text.size())) > 0;)
    whole.append(text.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return whole;
}

bool is_free(const std::string& name) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (connect_abstract(name).ok()) {
    if (std::chrono::steady_clock::now() > until) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

TEST_F(LocalMeetingTest, WhoIsEarlyIsWarnedAndThenServed) {
  std::promise<std::string> warned;
  std::atomic<int> warnings{0};
  StartOptions options = test::patient_start();
  options.late_warning = Nanos(1'000'000);
  options.warn = [&](std::string_view words) {
    if (warnings++ == 0) warned.set_value(std::string(words));
  };
  std::future<StartedRank> early = std::async(std::launch::async, [&] { return find_start(environment(1), options); });
  const std::string words = warned.get_future().get();
  EXPECT_TRUE(
      words.starts_with(fmt::format("rank 1 waits for rank 0 of srun (job {}, step 77) at the socket @{}, for "
                                    "1ms so far",
                                    getpid(), name())))
      << words;
  const StartedRank first = find_start(environment(0));
  const StartedRank second = early.get();
  ASSERT_TRUE(first.started.ok()) << words_of(first);
  ASSERT_TRUE(second.started.ok()) << words_of(second);
  EXPECT_EQ(first.started->id, second.started->id);
}

TEST_F(LocalMeetingTest, WhoWaitsForNobodyGivesUpInTime) {
  StartOptions options;
  options.timeout = Nanos(50'000'000);
  const StartedRank rank = find_start(environment(1), options);
  ASSERT_FALSE(rank.started.ok());
  EXPECT_EQ(rank.started.status().code(), Code::timeout);
  EXPECT_TRUE(words_of(rank).ends_with("and 50ms are over")) << words_of(rank);
}

// A program may be followed by another one in the same place.
TEST_F(LocalMeetingTest, TheNameIsFreeOnceAllHaveTheId) {
  const auto ranks = test::find_on_threads(3, [](int rank) { return environment(rank, 3); });
  for (const StartedRank& rank : ranks) ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  EXPECT_TRUE(is_free(name()));
  const auto others = test::find_on_threads(3, [](int rank) { return environment(rank, 3); });
  for (const StartedRank& rank : others) ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  EXPECT_NE(others[0].started->id, ranks[0].started->id);
}

TEST_F(LocalMeetingTest, TheNameIsFreeOnceRank0IsGone) {
  { const StartedRank rank = find_start(environment(0)); }
  EXPECT_TRUE(is_free(name()));
}

TEST_F(LocalMeetingTest, WhoAsksOddlyGetsNothingAndDisturbsNobody) {
  const StartedRank first = find_start(environment(0));
  ASSERT_TRUE(first.started.ok());
  for (const char* rank : {"0", "2", "-1", "x", "1x", "99999999999999999999", ""})
    EXPECT_EQ(ask(name(), rank), "") << rank;
  std::array<UniqueFd, 20> silent;
  for (UniqueFd& guest : silent) guest = std::move(connect_abstract(name()).value());
  const StartedRank second = find_start(environment(1));
  ASSERT_TRUE(second.started.ok()) << words_of(second);
  EXPECT_EQ(first.started->id, second.started->id);
}

TEST_F(LocalMeetingTest, AnotherUserDoesNotLearnTheId) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const StartedRank first = find_start(environment(0));
  ASSERT_TRUE(first.started.ok());
  EXPECT_EQ(ask_as_nobody(name(), "1"), "answer:");
  EXPECT_EQ(ask(name(), "1"), first.started->id.to_text());
}

TEST_F(LocalMeetingTest, AnotherUserAtTheNameIsNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  std::array<int, 2> ready{};
  std::array<int, 2> over{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(over.data()), 0);
  const std::string taken = name();
  const pid_t squatter = fork();
  if (squatter == 0) {
    close(over[1]);
    char byte = 0;
    if (setuid(65534) != 0) _exit(1);
    const Result<UniqueFd> listener = listen_abstract(taken, 8);
    if (!listener.ok() || write(ready[1], &byte, 1) != 1) _exit(1);
    _exit(read(over[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const std::string who = fmt::format("process {} of user 65534 ", squatter);
  const StartedRank first = find_start(environment(0));
  EXPECT_TRUE(words_of(first).starts_with(who + "waits for the ranks of ")) << words_of(first);
  const StartedRank second = find_start(environment(1));
  EXPECT_TRUE(words_of(second).starts_with(who + "is at the socket ")) << words_of(second);
  EXPECT_TRUE(words_of(second).ends_with("and this rank belongs to user 0")) << words_of(second);
  close(over[1]);
  waitpid(squatter, nullptr, 0);
}

TEST_F(LocalMeetingTest, ASecondRank0IsRefused) {
  const StartedRank first = find_start(environment(0));
  ASSERT_TRUE(first.started.ok());
  const StartedRank second = find_start(environment(0));
  EXPECT_EQ(words_of(second),
            fmt::format("process {} of user {} waits for the ranks of srun (job {}, step 77) already, "
                        "at the socket @{}",
                        getpid(), geteuid(), getpid(), name()));
}

TEST_F(LocalMeetingTest, WhoSitsAtTheNameAndSaysNothingIsNotWaitedForLong) {
  const Result<UniqueFd> squatter = squat();
  ASSERT_TRUE(squatter.ok());
  StartOptions options = test::patient_start();
  options.answer = Nanos(20'000'000);
  const StartedRank rank = find_start(environment(1), options);
  EXPECT_NE(words_of(rank).find("does not answer"), std::string::npos) << words_of(rank);
  // Nor longer than any rank waits.
  options.answer = Nanos(3'600'000'000'000);
  options.timeout = Nanos(20'000'000);
  EXPECT_NE(words_of(find_start(environment(1), options)).find("does not answer"), std::string::npos);
}

TEST_F(LocalMeetingTest, WhoSaysSomethingElseIsNotRank0) {
  const Result<UniqueFd> squatter = squat();
  ASSERT_TRUE(squatter.ok());
  std::thread talker([&] {
    pollfd polled{squatter->get(), POLLIN, 0};
    poll(&polled, 1, 10'000);
    const Result<UniqueFd> guest = accept_from(squatter->get());
    if (!guest.ok() || !guest->valid()) return;
    polled.fd = guest->get();  // what hangs up before it is asked is asked again
    poll(&polled, 1, 10'000);
    const std::string_view nonsense = "GET / HTTP/1.1";
    static_cast<void>(send_some(guest->get(), std::as_bytes(std::span(nonsense))));
  });
  const StartedRank rank = find_start(environment(1));
  talker.join();
  EXPECT_NE(words_of(rank).find("says something else than rank 0 would"), std::string::npos) << words_of(rank);
}

// As the socket of a program before this one does, whose ranks have all been answered.
TEST_F(LocalMeetingTest, WhoHangsUpIsAskedAgain) {
  Result<UniqueFd> squatter = squat();
  ASSERT_TRUE(squatter.ok());
  std::future<StartedRank> second = std::async(std::launch::async, [] { return find_start(environment(1)); });
  pollfd polled{squatter->get(), POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 10'000), 1);
  squatter->reset();
  const StartedRank first = find_start(environment(0));
  const StartedRank rank = second.get();
  ASSERT_TRUE(first.started.ok()) << words_of(first);
  ASSERT_TRUE(rank.started.ok()) << words_of(rank);
  EXPECT_EQ(first.started->id, rank.started->id);
}

}  // namespace
}  // namespace tutti::start
