// SPDX-License-Identifier: Apache-2.0
// Connections by their ends, and the arrays that they lie in.
#include "simulate/engine/connections.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace tutti::simulate {
namespace {

// Regular patterns, as algorithms have them, until table and array have grown many times.
TEST(Connections, BothEndsFindTheSameOne) {
  constexpr std::uint32_t kRanks = 1U << 14U;
  constexpr std::uint32_t kChannels = 3;
  Connections connections(kRanks);
  std::set<std::uint32_t> numbers;
  const auto visit = [&](const auto& each) {
    for (std::uint32_t distance = 1; distance < kRanks; distance *= 2)
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) each(rank, rank ^ distance, distance % kChannels);
  };
  visit([&](std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    const std::uint32_t number = connections.outgoing(from, to, channel);
    EXPECT_TRUE(numbers.insert(number).second) << from << " to " << to;
    connections[number].used = from + to;
  });
  visit([&](std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    const std::uint32_t number = connections.incoming(to, from, channel);
    ASSERT_EQ(number, connections.outgoing(from, to, channel));
    const Connection& connection = connections[number];
    ASSERT_EQ(connection.from, from);
    ASSERT_EQ(connection.to, to);
    ASSERT_EQ(connection.channel, channel);
    ASSERT_EQ(connection.used, from + to);
  });
  EXPECT_EQ(numbers.size(), std::size_t{14} * kRanks);
  EXPECT_EQ(*numbers.rbegin(), numbers.size() - 1);
}

TEST(Connections, ChannelsAndDirectionsAreApart) {
  Connections connections(2);
  const std::set<std::uint32_t> numbers = {connections.outgoing(0, 1, 0), connections.outgoing(0, 1, 1),
                                           connections.outgoing(1, 0, 0), connections.outgoing(1, 0, 1)};
  EXPECT_EQ(numbers.size(), 4U);
  EXPECT_EQ(connections.incoming(1, 0, 1), connections.outgoing(0, 1, 1));
}

// Through the size from which arrays are large.
template <typename T>
void grow() {
  HugeVector<T> vector;
  for (std::uint64_t each = 0; each * sizeof(T) < (std::uint64_t{12} << 20U); ++each) {
    vector.push_back({each});
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(vector.data()) % alignof(T), 0U);
  }
  HugeVector<T> other = std::move(vector);
  HugeVector<T> copy = other;
  copy.resize(7);
  copy.shrink_to_fit();
  std::swap(copy, other);
  for (std::uint64_t each = 0; each < copy.size(); ++each) ASSERT_EQ(copy[each].value, each);
  EXPECT_EQ(other.size(), 7U);
  EXPECT_EQ(other.back().value, 6U);
}

TEST(HugeVector, KeepsWhatItHoldsAsItGrows) {
  struct Small {
    std::uint64_t value;
  };
  struct alignas(64) Aligned {
    std::uint64_t value;
  };
  grow<Small>();
  grow<Aligned>();
}

}  // namespace
}  // namespace tutti::simulate
