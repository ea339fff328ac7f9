// SPDX-License-Identifier: Apache-2.0
// Long messages over TCP that go out of the caller's memory and come to the place that the caller has told.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transport/relayed_pair.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {
namespace {

using std::chrono::milliseconds;

constexpr EndpointShape kShape = {.depth = 8, .slot = 256 << 10};
constexpr std::uint64_t kLong = 200'000;

std::vector<std::byte> bytes_of(std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  for (std::uint64_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 >> 3);
  return bytes;
}

class LentMessages : public testing::Test {
 protected:
  [[nodiscard]] Outgoing& to() { return pair_->world->endpoint(0).to(1, Traffic::schedules); }
  [[nodiscard]] Incoming& from() { return pair_->world->endpoint(1).from(0, Traffic::schedules); }
  void step() { pair_->step(); }

  // The first connection is cut after so many bytes, or never if that is 0; later ones are not cut.
  void begin(std::uint64_t first) {
    const auto limit = [first, number = 0]() mutable { return number++ == 0 ? first : 0; };
    pair_.emplace(std::function<std::uint64_t()>(limit), milliseconds(500), kShape);
    // The connection stands.
    to().publish(1);
    ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
    from().take();
  }

  std::optional<RelayedPair> pair_;
};

TEST_F(LentMessages, ComeToThePlaceThatWasTold) {
  begin(0);
  const std::vector<std::byte> sent = bytes_of(kLong);
  std::vector<std::byte> lent = sent;
  std::vector<std::byte> place(kLong);
  from().expect(place.data(), place.size());
  to().publish_from(lent.data(), lent.size(), 7);
  std::fill(lent.begin(), lent.end(), std::byte{});
  ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
  EXPECT_EQ(from().data(), place.data());
  EXPECT_EQ(from().description(), 7U);
  EXPECT_EQ(place, sent);
  // One that is whole stays there, whatever is told about the next.
  from().withdraw();
  EXPECT_EQ(from().data(), place.data());
  std::vector<std::byte> other(kLong);
  from().expect(other.data(), other.size());
  from().withdraw();
  EXPECT_EQ(from().data(), place.data());
}

TEST_F(LentMessages, ThatAreNotWholeLeaveThePlaceWhenItIsTakenBack) {
  begin(0);
  const std::vector<std::byte> sent = bytes_of(kLong);
  std::vector<std::byte> place(kLong, std::byte{0xaa});
  from().expect(place.data(), place.size());
  to().publish_from(sent.data(), sent.size(), 7);
  // A part has come.
  ASSERT_TRUE(until([&] { return place[100] == sent[100] && place[0] == sent[0]; }, [&] { step(); }));
  ASSERT_FALSE(from().has_message());
  from().withdraw();
  std::fill(place.begin(), place.end(), std::byte{0xbb});
  ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
  ASSERT_NE(from().data(), place.data());
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), from().data()));
  EXPECT_EQ(std::count(place.begin(), place.end(), std::byte{0xbb}), static_cast<std::ptrdiff_t>(kLong));
}

TEST_F(LentMessages, OfAnotherSizeDoNotComeThere) {
  begin(0);
  const std::vector<std::byte> sent = bytes_of(kLong);
  std::vector<std::byte> place(kLong - 1, std::byte{0xaa});
  from().expect(place.data(), place.size());
  to().publish_from(sent.data(), sent.size(), 7);
  ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), from().data()));
  EXPECT_EQ(std::count(place.begin(), place.end(), std::byte{0xaa}), static_cast<std::ptrdiff_t>(place.size()));
}

// Who lent it may have changed it since. Rank 0 says why it gives up; rank 1 gives up when it has tried for long
// enough.
TEST_F(LentMessages, CannotBeSentAgain) {
  begin(100'000);
  const std::vector<std::byte> sent = bytes_of(kLong);
  to().publish_from(sent.data(), sent.size(), 7);
  const auto both_know = [&] {
    return pair_->world->endpoint(0).unreachable().has_value() && pair_->world->endpoint(1).unreachable().has_value();
  };
  ASSERT_TRUE(until(both_know, [&] { step(); }));
  const Unreachable& lost = *pair_->world->endpoint(0).unreachable();
  EXPECT_EQ(lost.rank, 1U);
  EXPECT_NE(lost.words.find("before a long message had arrived"), std::string::npos) << lost.words;
  EXPECT_EQ(pair_->world->endpoint(1).unreachable()->rank, 0U);
  EXPECT_FALSE(from().has_message());
}

// The same of one that the other rank has: there is nothing to be sent again.
TEST_F(LentMessages, ThatHaveComeLetTheConnectionBreak) {
  begin(kLong + 10'000);
  const std::vector<std::byte> sent = bytes_of(kLong);
  to().publish_from(sent.data(), sent.size(), 7);
  ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), from().data()));
  from().take();
  const auto num_cuts = [&] { return pair_->relays[0].num_cuts() + pair_->relays[1].num_cuts(); };
  // Two more after the cut.
  for (std::uint64_t i = 0, after = 0; after < 3; ++i) {
    if (num_cuts() > 0) ++after;
    std::byte* const slot = to().slot(4000);
    std::fill_n(slot, 4000, static_cast<std::byte>(i));
    to().publish(i);
    ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
    EXPECT_EQ(from().description(), i);
    EXPECT_EQ(from().data()[3999], static_cast<std::byte>(i));
    from().take();
    ASSERT_TRUE(until([&] { return to().has_credit(); }, [&] { step(); }));
  }
  EXPECT_FALSE(pair_->world->endpoint(0).unreachable().has_value());
}

// Such as one of an attempt to connect that the other rank has given up.
TEST(LentMessagesOnOpenConnections, AreNotLostToAHelloFromBeforeThem) {
  TcpWorld world({.num_ranks = 2, .shape = kShape});
  const auto step = [&] {
    world.endpoint(0).step();
    world.endpoint(1).step();
  };
  Outgoing& to = world.endpoint(0).to(1, Traffic::schedules);
  Incoming& from = world.endpoint(1).from(0, Traffic::schedules);
  to.publish(1);
  ASSERT_TRUE(until([&] { return from.has_message(); }, step));
  from.take();
  const std::vector<std::byte> sent = bytes_of(kLong);
  to.publish_from(sent.data(), sent.size(), 2);
  // Rank 0 has heard of no message that was taken.
  Result<UniqueFd> socket = begin_connect(world.address(0));
  ASSERT_TRUE(socket.ok());
  Hello hello{.token = token_of_test(), .communicator = 42, .source = 1, .destination = 0, .shape = kShape};
  ASSERT_EQ(send_some(socket->get(), encode(hello)).bytes, kHelloBytes);
  const auto end = Clock::now() + milliseconds(50);
  while (Clock::now() < end) world.endpoint(0).step();
  EXPECT_FALSE(world.endpoint(0).unreachable().has_value());
  ASSERT_TRUE(until([&] { return from.has_message(); }, step));
  EXPECT_EQ(from.description(), 2U);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), from.data()));
}

// It is as good as one that was copied: nothing has gone out of the caller's memory.
TEST_F(LentMessages, AreCopiedWhereThereIsNoConnection) {
  pair_.emplace(std::function<std::uint64_t()>([] { return std::uint64_t{0}; }), milliseconds(500), kShape);
  const std::vector<std::byte> sent = bytes_of(kLong);
  std::vector<std::byte> lent = sent;
  to().publish_from(lent.data(), lent.size(), 7);
  std::fill(lent.begin(), lent.end(), std::byte{});
  ASSERT_TRUE(until([&] { return from().has_message(); }, [&] { step(); }));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), from().data()));
}

}  // namespace
}  // namespace tutti::transport::tcp
