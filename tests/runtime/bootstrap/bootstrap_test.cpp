// SPDX-License-Identifier: Apache-2.0
// join() and the rendezvous, with threads for ranks and strangers at the door.
#include "runtime/bootstrap/bootstrap.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../ranks.hpp"
#include "base/system/socket.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {
namespace {

using test::on_threads;
using test::patient;
using test::request_of;
using test::start_server;

using Joined = Result<Membership>;

// A connection to the rendezvous that says what it likes.
UniqueFd visit(const UniqueId& id, std::span<const std::byte> words) {
  Result<UniqueFd> socket = begin_connect(id.address());
  EXPECT_TRUE(socket.ok());
  pollfd fd{socket->get(), POLLOUT, 0};
  EXPECT_EQ(poll(&fd, 1, 5000), 1);
  EXPECT_TRUE(connect_outcome(socket->get()).ok());
  EXPECT_EQ(send_some(socket->get(), words).bytes, words.size());
  return std::move(*socket);
}

// What a visitor reads until it is hung up on; nothing if that takes more than ten seconds.
std::optional<std::vector<std::byte>> read_to_end(const UniqueFd& socket) {
  std::vector<std::byte> all;
  std::array<std::byte, 1024> bytes{};
  for (;;) {
    pollfd fd{socket.get(), POLLIN, 0};
    if (poll(&fd, 1, 10'000) != 1) return std::nullopt;
    const SocketTransfer got = receive_some(socket.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::closed) return all;
    all.insert(all.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  }
}

void expect_working(std::vector<std::optional<Joined>>& joined) {
  const int num_ranks = static_cast<int>(joined.size());
  for (int rank = 0; rank < num_ranks; ++rank) {
    Joined& one = *joined[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(one.ok()) << one.status().to_string();
    EXPECT_EQ(one->links.rank, rank);
    EXPECT_EQ(one->links.num_ranks, num_ranks);
    ASSERT_EQ(one->links.peers.size(), rank == 0 ? joined.size() - 1 : 1U);
    for (std::size_t i = 0; i < one->links.peers.size(); ++i) {
      const RankLink& link = one->links.peers[i];
      EXPECT_EQ(link.rank, rank == 0 ? static_cast<int>(i) + 1 : 0);
      EXPECT_EQ(link.pid, getpid());
      EXPECT_TRUE(link.pidfd.valid());
      for (const int fd : {link.socket.get(), link.pidfd.get()}) EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
    EXPECT_EQ(fcntl(one->region.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    // All hold the same memory: each leaves its mark where rank 0 finds it.
    const auto mark = static_cast<char>(rank + 1);
    ASSERT_EQ(pwrite(one->region.get(), &mark, 1, rank), 1);
  }
  for (int rank = 0; rank < num_ranks; ++rank) {
    char mark = 0;
    ASSERT_EQ(pread((*joined[0])->region.get(), &mark, 1, rank), 1);
    EXPECT_EQ(mark, rank + 1);
  }
}

TEST(Bootstrap, ThreadsJoin) {
  for (const int num_ranks : {1, 2, 5, 16}) {
    SCOPED_TRACE(num_ranks);
    const auto server = start_server();
    auto joined =
        on_threads(num_ranks, [&](int rank) { return join(request_of(server->id(), rank, num_ranks), patient()); });
    expect_working(joined);
    EXPECT_EQ(server->finished(), 1U);
  }
}

TEST(Bootstrap, TheRegionMayGrowButNotShrink) {
  const auto server = start_server();
  auto joined = on_threads(2, [&](int rank) { return join(request_of(server->id(), rank, 2), patient()); });
  const int region = (*joined[1])->region.get();
  struct stat found {};
  ASSERT_EQ(fstat(region, &found), 0);
  EXPECT_EQ(found.st_size, 8192);
  EXPECT_EQ(ftruncate(region, 4096), -1);
  EXPECT_EQ(ftruncate(region, 16384), 0);
}

// Rank 1 comes once rank 0 has done so much while it waited.
TEST(Bootstrap, GoesOnWithOtherThingsMeanwhile) {
  constexpr int kMuch = 20;
  const auto server = start_server();
  std::atomic<int> done = 0;
  auto joined = on_threads(2, [&](int rank) {
    JoinOptions options = patient();
    if (rank == 0) options.meanwhile = [&] { return ++done < kMuch; };
    while (rank == 1 && done < kMuch) std::this_thread::yield();
    return join(request_of(server->id(), rank, 2), options);
  });
  for (const auto& each : joined) EXPECT_TRUE(each->ok());
}

TEST(Bootstrap, OneIdServesManyGenerationsEvenAtOnce) {
  constexpr int kGenerations = 4;
  const auto server = start_server();
  auto joined = on_threads(2 * kGenerations, [&](int thread) {
    JoinRequest request = request_of(server->id(), thread % 2, 2);
    Attempt attempt{.generation = static_cast<std::uint64_t>(thread / 2)};
    request.attempt = &attempt;
    return join(request, patient());
  });
  for (const auto& one : joined) EXPECT_TRUE(one->ok()) << one->status().to_string();
  EXPECT_EQ(server->finished(), static_cast<std::uint64_t>(kGenerations));
}

TEST(Bootstrap, TheServerEndsAfterItsGenerations) {
  const auto server = start_server({.most_generations = 1});
  auto joined = on_threads(2, [&](int rank) { return join(request_of(server->id(), rank, 2), patient()); });
  for (const auto& one : joined) EXPECT_TRUE(one->ok()) << one->status().to_string();
  JoinRequest request = request_of(server->id(), 0, 1);
  Attempt second{.generation = 1};
  request.attempt = &second;
  const Joined late = join(request, patient());
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.status().code(), Code::timeout) << late.status().to_string();
}

TEST(Bootstrap, WithoutTheTokenThereIsNoAnswer) {
  const auto server = start_server();
  const UniqueId stranger = *UniqueId::make(server->id().address());
  const Joined refused = join(request_of(stranger, 0, 1), patient());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().to_string().find("the id is not of this rendezvous"), std::string::npos)
      << refused.status().to_string();
  // To the letter: hung up on without a byte.
  wire::Hello hello;
  hello.num_ranks = 1;
  const auto answer = read_to_end(visit(server->id(), wire::encode(hello, stranger.token())));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->empty());
  EXPECT_EQ(server->finished(), 0U);
}

// Each rank gets the same error, and no later than the rank that causes it.
void expect_same_error(std::vector<std::optional<Joined>>& joined, std::string_view words) {
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_NE(one->status().to_string().find(words), std::string::npos) << one->status().to_string();
  }
}

TEST(Bootstrap, AllHearOfADisagreementOnTheNumberOfRanks) {
  const auto server = start_server();
  auto joined =
      on_threads(3, [&](int rank) { return join(request_of(server->id(), rank, rank == 2 ? 4 : 3), patient()); });
  expect_same_error(joined, "says that there are");
}

TEST(Bootstrap, AllHearOfARankThatIsTakenTwice) {
  const auto server = start_server();
  auto joined = on_threads(3, [&](int rank) { return join(request_of(server->id(), rank % 2, 3), patient()); });
  expect_same_error(joined, "two processes join as rank 0");
}

TEST(Bootstrap, AllHearWhichVariableDiffersWhere) {
  const auto server = start_server();
  auto joined = on_threads(3, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 3);
    request.configuration = rank == 1 ? "TUTTI_SPIN=1us\n" : "TUTTI_SPIN=1us\nTUTTI_TIMEOUT=5s\n";
    return join(request, patient());
  });
  expect_same_error(joined, "TUTTI_TIMEOUT is");
  expect_same_error(joined, "unset on rank 1");
}

TEST(Bootstrap, AllHearWhyARankGaveUp) {
  const auto server = start_server();
  auto joined = on_threads(2, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 2);
    if (rank == 1) request.region_bytes = [](const auto&, int) { return Bytes(12288); };
    return join(request, patient());
  });
  expect_same_error(joined, "rank 0 made a shared region of 8K, and this rank needs 12K");
}

TEST(Bootstrap, AllHearWhatARankCouldNotPrepare) {
  const auto server = start_server();
  auto joined = on_threads(3, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 3);
    request.prepare = [rank](Membership& membership) -> Status {
      EXPECT_TRUE(membership.region.valid());
      return rank == 1 ? Status(Code::system, "cannot map it") : Status();
    };
    return join(request, patient());
  });
  expect_same_error(joined, "cannot map it");
}

TEST(Bootstrap, ALateRankHearsHowItsGenerationEnded) {
  const auto server = start_server();
  auto joined = on_threads(2, [&](int rank) { return join(request_of(server->id(), rank, rank + 2), patient()); });
  const std::string first = joined[0]->status().to_string();
  const Joined late = join(request_of(server->id(), 2, 3), patient());
  EXPECT_EQ(late.status().to_string(), first);
}

TEST(Bootstrap, AMissingRankIsNamedInWarningAndTimeout) {
  const auto server = start_server();
  std::vector<std::string> warnings;
  auto joined = on_threads(2, [&](int thread) {
    const int rank = 2 * thread;  // rank 1 of 3 never comes
    JoinOptions options;
    options.late_warning = Nanos(300'000'000);
    options.timeout = Nanos(thread == 0 ? 2'000'000'000 : 20'000'000'000);
    if (thread == 0) options.warn = [&](std::string_view words) { warnings.emplace_back(words); };
    return join(request_of(server->id(), rank, 3), options);
  });
  ASSERT_FALSE(joined[0]->ok());
  EXPECT_EQ(joined[0]->status().code(), Code::timeout);
  EXPECT_EQ(joined[0]->status().to_string(), "rank 1 of 3 has not arrived after 2s");
  expect_same_error(joined, "rank 1 of 3 has not arrived after 2s");
  // A third after 1200 ms, if somebody looks before it is over.
  ASSERT_GE(warnings.size(), 2U);
  EXPECT_LE(warnings.size(), 3U);
  EXPECT_EQ(warnings[0], "rank 0 has waited 300ms for the others: rank 1 of 3 has not arrived");
  EXPECT_EQ(warnings[1], "rank 0 has waited 600ms for the others: rank 1 of 3 has not arrived");
}

// Rank 1 says hello and nothing more.
TEST(Bootstrap, AfterTheTableATimeoutDoesNotBlameTheRendezvous) {
  const auto server = start_server();
  wire::Hello hello;
  hello.rank = 1;
  hello.num_ranks = 2;
  hello.host = this_host("").value();
  const UniqueFd other = visit(server->id(), wire::encode(hello, server->id().token()));
  while (server->arrived() < 1) std::this_thread::yield();
  JoinOptions options;
  options.timeout = Nanos(2'000'000'000);
  Clock::time_point end;
  // Nothing further is heard before the time is over.
  options.on_stage = [&](JoinStage stage) {
    if (stage == JoinStage::connected) end = Clock::now() + to_chrono(options.timeout);
    while (stage == JoinStage::table_received && Clock::now() < end) std::this_thread::yield();
  };
  const Joined joined = join(request_of(server->id(), 0, 2), options);
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.status().code(), Code::timeout);
  EXPECT_EQ(joined.status().to_string(), "all ranks have arrived but not all are connected yet after 2s");
}

TEST(Bootstrap, NobodyAtTheAddressIsAnErrorAtOnce) {
  const UniqueId id = start_server()->id();  // gone again
  const Joined joined = join(request_of(id, 0, 2), patient());
  ASSERT_FALSE(joined.ok());
  EXPECT_NE(joined.status().to_string().find("nobody answers at @tutti-meet-"), std::string::npos)
      << joined.status().to_string();
}

TEST(Bootstrap, AServerThatEndsIsAnErrorForThoseWhoWait) {
  auto server = start_server();
  const UniqueId id = server->id();
  JoinOptions options = patient();
  std::atomic<bool> there{false};
  options.on_stage = [&](JoinStage stage) {
    if (stage == JoinStage::hello_sent) there.store(true);
  };
  std::optional<Joined> joined;
  std::thread rank([&] { joined.emplace(join(request_of(id, 0, 2), options)); });
  while (!there.load()) std::this_thread::yield();
  server.reset();
  rank.join();
  ASSERT_FALSE(joined->ok());
  EXPECT_NE(joined->status().to_string().find("hung up"), std::string::npos) << joined->status().to_string();
}

TEST(Bootstrap, RefusesWhatCannotBeWithoutAskingAnyone) {
  const UniqueId id = *UniqueId::make({.port = 1, .bytes = {127, 0, 0, 1}});
  EXPECT_EQ(join(request_of(id, 0, 0)).status().message(), "the number of ranks is 0; 1 to 65536 can be");
  EXPECT_EQ(join(request_of(id, 2, 2)).status().message(), "the rank is 2; of 2 ranks it can be 0 to 1");
  EXPECT_EQ(join(request_of(id, -1, 2)).status().code(), Code::invalid_argument);
  JoinRequest request = request_of(id, 0, 1);
  request.configuration.assign(20'000, 'x');
  EXPECT_EQ(join(request).status().code(), Code::invalid_argument);
}

// Strangers that are wrong in every way, more of them than the server keeps, while the ranks meet.
TEST(Bootstrap, StrangersHoldUpNobody) {
  const auto server = start_server();
  wire::Hello hello;
  hello.num_ranks = 2;
  const std::vector<std::byte> whole = wire::encode(hello, server->id().token());
  const std::vector<std::byte> foreign = wire::encode(hello, Token{});
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 40; ++i) {
    strangers.push_back(visit(server->id(), {}));                                          // says nothing
    strangers.push_back(visit(server->id(), std::span(whole).first(40)));                  // stops in the token
    strangers.push_back(visit(server->id(), std::span(whole).first(wire::kPrefixBytes)));  // stops before the body
    strangers.push_back(visit(server->id(), foreign));
    strangers.push_back(visit(server->id(), std::as_bytes(std::span("GET / HTTP/1.1\r\n\r\n"))));
  }
  auto joined = on_threads(4, [&](int rank) { return join(request_of(server->id(), rank, 4), patient()); });
  for (const auto& one : joined) EXPECT_TRUE(one->ok()) << one->status().to_string();
}

// More strangers than the server keeps connect between a rank's connection and its hello, so the rank is dropped.
TEST(Bootstrap, ARankDroppedBeforeItsHelloReconnects) {
  const auto server = start_server();
  std::vector<UniqueFd> strangers;
  int connections = 0;
  auto joined = on_threads(2, [&](int rank) {
    JoinOptions options = patient();
    options.on_stage = [&, rank](JoinStage stage) {
      if (rank != 1 || stage != JoinStage::connected || ++connections > 1) return;
      for (int i = 0; i < 200; ++i) strangers.push_back(visit(server->id(), {}));
      // It came after the rank's, and is dropped after it.
      EXPECT_TRUE(read_to_end(strangers.front()));
    };
    return join(request_of(server->id(), rank, 2), options);
  });
  expect_working(joined);
  EXPECT_EQ(connections, 2);
}

// As many strangers come after each of its connections, and none when it says that it gives up.
TEST(Bootstrap, ARankDroppedEachTimeIsNamedToAll) {
  const auto server = start_server();
  int connections = 0;
  auto joined = on_threads(2, [&](int rank) {
    JoinOptions options = patient();
    options.on_stage = [&, rank](JoinStage stage) {
      if (rank != 1 || stage != JoinStage::connected) return;
      ++connections;
      std::vector<UniqueFd> strangers;
      for (int i = 0; i < 200; ++i) strangers.push_back(visit(server->id(), {}));
      EXPECT_TRUE(read_to_end(strangers.front()));
    };
    return join(request_of(server->id(), rank, 2), options);
  });
  EXPECT_EQ(connections, 8);
  for (const auto& one : joined) {
    ASSERT_FALSE(one->ok());
    EXPECT_EQ(one->status().code(), Code::system);
    EXPECT_EQ(one->status().rank(), 1);
  }
  EXPECT_NE(joined[0]->status().to_string().find("rank 1 cannot join: the rendezvous at @tutti-meet-"),
            std::string::npos)
      << joined[0]->status().to_string();
  expect_same_error(joined, "hung up 8 times before it answered");
}

// The next attempt that join() records.
struct Tried {
  Joined joined;
  Attempt next;
};

Tried try_to_join(JoinRequest request, Attempt attempt, const JoinOptions& options = patient()) {
  request.attempt = &attempt;
  Joined joined = join(request, options);
  return {std::move(joined), attempt};
}

TEST(Bootstrap, ARankThatMissedFailuresJoinsTheOthersGeneration) {
  const auto server = start_server();
  // The others have heard of three failures, and rank 1 of none.
  for (std::uint64_t generation = 0; generation < 3; ++generation) {
    const Tried tried = try_to_join(request_of(server->id(), 7, 3), {.generation = generation});
    EXPECT_EQ(tried.next.generation, generation);  // not even asked
    JoinRequest request = request_of(server->id(), 0, 2);
    request.refusal = Status(Code::system, "of no consequence");
    const Tried refused = try_to_join(request, {.generation = generation});
    EXPECT_FALSE(refused.joined.ok());
    EXPECT_EQ(refused.next.generation, generation + 1);
    EXPECT_FALSE(refused.next.is_unsure);
  }
  auto tried = on_threads(2, [&](int rank) {
    return try_to_join(request_of(server->id(), rank, 2),
                       rank == 0 ? Attempt{.generation = 3} : Attempt{.generation = 0, .is_unsure = true});
  });
  for (const auto& each : tried) {
    EXPECT_TRUE(each->joined.ok()) << each->joined.status().to_string();
    EXPECT_EQ(each->next.generation, 4U);
    EXPECT_FALSE(each->next.is_unsure);
  }
}

TEST(Bootstrap, ARankThatGaveUpUnansweredRetriesWithTheOthers) {
  const auto server = start_server();
  auto tried = on_threads(2, [&](int rank) {
    const JoinRequest request = request_of(server->id(), rank, 2);
    JoinOptions options = patient();
    if (rank == 1) options.timeout = Nanos(1);
    const Tried first = try_to_join(request, {}, options);
    EXPECT_FALSE(first.joined.ok());
    return try_to_join(request, first.next);
  });
  for (const auto& each : tried) EXPECT_TRUE(each->joined.ok()) << each->joined.status().to_string();
}

TEST(Bootstrap, OtherAddressFamiliesWork) {
  RendezvousOptions options{.address = Address{.family = Address::Family::ipv4, .bytes = {127, 0, 0, 1}}};
  const auto server = start_server(options);
  auto joined = on_threads(3, [&](int rank) { return join(request_of(server->id(), rank, 3), patient()); });
  expect_working(joined);
}

TEST(Bootstrap, ASilentStrangerIsDroppedAfterItsTime) {
  const auto server = start_server({.hello_deadline = Nanos(50'000'000)});
  const UniqueFd stranger = visit(server->id(), {});
  const auto answer = read_to_end(stranger);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->empty());
}

TEST(Bootstrap, AnotherVersionIsToldToAll) {
  const auto server = start_server();
  std::optional<Joined> joined;
  std::thread rank([&] { joined.emplace(join(request_of(server->id(), 0, 2), patient())); });
  wire::Hello hello;
  hello.version = 77;
  hello.rank = 1;
  hello.num_ranks = 2;
  const UniqueFd other = visit(server->id(), wire::encode(hello, server->id().token()));
  const auto answer = read_to_end(other);
  rank.join();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->empty());
  ASSERT_FALSE(joined->ok());
  EXPECT_NE(joined->status().to_string().find("rank 1 has another version"), std::string::npos)
      << joined->status().to_string();
}

// A member that talks nonsense ends its generation and no other.
TEST(Bootstrap, NonsenseFromAMemberEndsItsGenerationOnly) {
  const auto server = start_server();
  wire::Hello hello;
  hello.rank = 1;
  hello.num_ranks = 2;
  hello.host = this_host("").value();
  hello.generation = 5;
  std::vector<std::byte> words = wire::encode(hello, server->id().token());
  words.insert(words.end(), 100, std::byte{0xee});
  const auto answer = read_to_end(visit(server->id(), words));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->empty());
  auto joined = on_threads(2, [&](int rank) { return join(request_of(server->id(), rank, 2), patient()); });
  for (const auto& one : joined) EXPECT_TRUE(one->ok()) << one->status().to_string();
}

}  // namespace
}  // namespace tutti
