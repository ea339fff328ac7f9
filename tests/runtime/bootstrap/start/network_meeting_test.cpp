// SPDX-License-Identifier: Apache-2.0
// Meeting at a port: who is early, who sits at the port, who asks without right. The host is this one, by a name that
// it has for itself.
#include "runtime/bootstrap/start/network_meeting.hpp"

#include <array>
#include <future>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "ranks_of_start.hpp"
#include "runtime/bootstrap/addresses.hpp"

namespace tutti::start {
namespace {

using test::find_start;
using test::StartedRank;
using test::words_of;

// A start that no other test has.
class NetworkMeetingTest : public testing::Test {
 protected:
  [[nodiscard]] static Environment environment(int rank, int num_ranks = 2) {
    return {{"SLURM_PROCID", fmt::format("{}", rank)},
            {"SLURM_STEP_NUM_TASKS", fmt::format("{}", num_ranks)},
            {"SLURM_JOB_ID", fmt::format("{}", getpid())},
            {"SLURM_STEP_ID", "78"},
            {"SLURM_STEP_NUM_NODES", "2"},
            {"SLURM_STEP_NODELIST", "localhost"}};
  }
  static LocalMeeting meeting() {
    return {.by = "srun", .ranks = {}, .key = fmt::format("srun (job {}, step 78)", getpid())};
  }
  static Address address() {
    Address address = address_for_hosts(Variables()).value();
    address.port = port_of(meeting());
    return address;
  }
  static Result<Listener> squat() { return listen_at(address()); }
};

// What one gets that connects and says this; nothing where the other side hangs up.
std::string ask(const Address& address, std::string_view question) {
  const Result<UniqueFd> socket = begin_connect(address);
  if (!socket.ok()) return "nobody";
  pollfd polled{socket->get(), POLLOUT, 0};
  poll(&polled, 1, 10'000);
  static_cast<void>(send_some(socket->get(), std::as_bytes(std::span(question))));
  polled.events = POLLIN;
  poll(&polled, 1, 10'000);
  std::array<char, 512> text{};
  const SocketTransfer got = receive_some(socket->get(), std::as_writable_bytes(std::span(text)));
  return got.outcome == SocketTransfer::Outcome::done ? std::string(text.data(), got.bytes) : "";
}

TEST_F(NetworkMeetingTest, RanksMeetAndMayDoSoAgain) {
  for (int turn = 0; turn < 2; ++turn) {
    const auto ranks = test::find_on_threads(4, [](int rank) { return environment(rank, 4); });
    test::expect_one_start(ranks, "srun");
    EXPECT_NE(ranks[0].started->id.address().family, Address::Family::local);
  }
}

TEST_F(NetworkMeetingTest, OneRankMeetsNobody) {
  const StartedRank rank = find_start(environment(0, 1));
  ASSERT_TRUE(rank.started.ok()) << words_of(rank);
}

TEST_F(NetworkMeetingTest, WhoIsEarlyIsWarnedWhyAndThenServed) {
  std::promise<std::string> warned;
  StartOptions options = test::patient_start();
  options.late_warning = Nanos(1'000'000);
  options.warn = [&, is_first = true](std::string_view words) mutable {
    if (std::exchange(is_first, false)) warned.set_value(std::string(words));
  };
  std::future<StartedRank> early = std::async(std::launch::async, [&] { return find_start(environment(1), options); });
  const std::string words = warned.get_future().get();
  EXPECT_TRUE(
      words.starts_with(fmt::format("rank 1 waits for rank 0 of srun (job {}, step 78) at port {} of "
                                    "SLURM_STEP_NODELIST 'localhost' (",
                                    getpid(), port_of(meeting()))))
      << words;
  EXPECT_NE(words.find("Connection refused"), std::string::npos) << words;
  const StartedRank first = find_start(environment(0));
  const StartedRank second = early.get();
  ASSERT_TRUE(first.started.ok()) << words_of(first);
  ASSERT_TRUE(second.started.ok()) << words_of(second);
  EXPECT_EQ(first.started->id, second.started->id);
}

TEST_F(NetworkMeetingTest, WhoWaitsForNobodyGivesUpInTime) {
  StartOptions options;
  options.timeout = Nanos(50'000'000);
  const StartedRank rank = find_start(environment(1), options);
  ASSERT_FALSE(rank.started.ok());
  EXPECT_EQ(rank.started.status().code(), Code::timeout);
  EXPECT_TRUE(words_of(rank).ends_with("and 50ms are over")) << words_of(rank);
}

TEST_F(NetworkMeetingTest, ANameThatMeansNothingIsSaid) {
  Environment unknown = environment(1);
  unknown.set("SLURM_STEP_NODELIST", "no-such-host.invalid");
  StartOptions options;
  options.timeout = Nanos(50'000'000);
  const std::string second = words_of(find_start(unknown, options));
  EXPECT_NE(second.find("'no-such-host.invalid' (the system does not know that name)"), std::string::npos) << second;
  unknown.set("SLURM_PROCID", "0");
  const std::string first = words_of(find_start(unknown));
  EXPECT_TRUE(first.starts_with("rank 0 cannot wait for the ranks of ")) << first;
  EXPECT_NE(first.find("the system does not know that name"), std::string::npos) << first;
}

TEST_F(NetworkMeetingTest, WhoAsksOddlyGetsNothingAndDisturbsNobody) {
  const StartedRank first = find_start(environment(0));
  ASSERT_TRUE(first.started.ok()) << words_of(first);
  const std::string greeting = greeting_of(meeting());
  LocalMeeting other = meeting();
  other.key += " restarted";
  for (const std::string& question :
       {std::string("\n"), std::string("1\n"), greeting + "0\n", greeting + "2\n", greeting + "x\n", greeting + "\n",
        greeting_of(other) + "1\n", std::string(1000, 'x')})
    EXPECT_EQ(ask(address(), question), "") << question;
  std::vector<UniqueFd> silent;
  for (int guest = 0; guest < 20; ++guest) silent.push_back(std::move(begin_connect(address()).value()));
  // It may come in parts.
  const Result<UniqueFd> slow = begin_connect(address());
  ASSERT_TRUE(slow.ok());
  pollfd polled{slow->get(), POLLOUT, 0};
  ASSERT_EQ(poll(&polled, 1, 10'000), 1);
  static_cast<void>(send_some(slow->get(), std::as_bytes(std::span(greeting))));
  const StartedRank second = find_start(environment(1));
  ASSERT_TRUE(second.started.ok()) << words_of(second);
  EXPECT_EQ(first.started->id, second.started->id);
}

TEST_F(NetworkMeetingTest, ASecondRank0IsRefused) {
  const StartedRank first = find_start(environment(0));
  ASSERT_TRUE(first.started.ok());
  const std::string words = words_of(find_start(environment(0)));
  EXPECT_TRUE(words.starts_with("rank 0 cannot wait for the ranks of ")) << words;
  EXPECT_NE(words.find("Address already in use"), std::string::npos) << words;
  EXPECT_TRUE(words.ends_with("; TUTTI_START_PORT names another port")) << words;
}

TEST_F(NetworkMeetingTest, WhoSitsAtThePortAndSaysNothingIsNotRank0) {
  const Result<Listener> squatter = squat();
  ASSERT_TRUE(squatter.ok());
  StartOptions options;
  options.answer = Nanos(10'000'000);
  options.timeout = Nanos(50'000'000);
  const std::string words = words_of(find_start(environment(1), options));
  EXPECT_NE(words.find("(who listens there does not answer)"), std::string::npos) << words;
}

TEST_F(NetworkMeetingTest, WhoSaysSomethingElseIsNotRank0) {
  const Result<Listener> squatter = squat();
  ASSERT_TRUE(squatter.ok());
  std::thread talker([&] {
    pollfd polled{squatter->socket.get(), POLLIN, 0};
    poll(&polled, 1, 10'000);
    const Result<UniqueFd> guest = accept_from(squatter->socket.get());
    if (!guest.ok() || !guest->valid()) return;
    polled.fd = guest->get();
    poll(&polled, 1, 10'000);
    std::array<std::byte, 128> question{};
    static_cast<void>(receive_some(guest->get(), question));
    const std::string_view nonsense = "HTTP/1.1 400 Bad Request\r\n";
    static_cast<void>(send_some(guest->get(), std::as_bytes(std::span(nonsense))));
  });
  const StartedRank rank = find_start(environment(1));
  talker.join();
  EXPECT_TRUE(words_of(rank).starts_with("something else than rank 0 of srun (")) << words_of(rank);
}

TEST(NetworkMeeting, PortsFollowFromTheStart) {
  const auto port = [](int step) {
    return port_of({.by = "srun", .ranks = {}, .key = fmt::format("srun (job 1, step {})", step)});
  };
  EXPECT_EQ(port(1), port(1));
  EXPECT_NE(port(1), port(2));
  for (int step = 0; step < 1000; ++step) {
    EXPECT_GE(port(step), 20'000);
    EXPECT_LE(port(step), 27'999);
  }
}

}  // namespace
}  // namespace tutti::start
