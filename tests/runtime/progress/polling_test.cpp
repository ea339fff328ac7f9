// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/polling.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Tests that are so far apart, without progress; what was asked meanwhile.
class Poll {
 public:
  explicit Poll(nanoseconds apart) : apart_(apart) {}

  std::vector<nanoseconds> test(int times, std::uint64_t progress = 0) {
    std::vector<nanoseconds> asked;
    for (int each = 0; each < times; ++each) {
      present_ += apart_;
      const auto stuck = polling_.stuck_for(progress, [this] {
        ++clocks_;
        return present_;
      });
      if (stuck) asked.push_back(*stuck);
    }
    return asked;
  }
  [[nodiscard]] int clocks() const { return clocks_; }
  void forget() { polling_.forget(); }

 private:
  nanoseconds apart_;
  nanoseconds present_{12345};
  Polling polling_;
  int clocks_ = 0;
};

TEST(Polling, AsksAfterAMillisecondAndThenNowAndThen) {
  Poll poll(nanoseconds(100));
  const std::vector<nanoseconds> asked = poll.test(1'000'000);
  ASSERT_EQ(asked.size(), 5U);  // in a tenth of a second
  EXPECT_LT(asked.front(), milliseconds(2));
  EXPECT_GT(asked.back(), milliseconds(80));
  EXPECT_LT(poll.clocks(), 1'000'000 / 200);
}

TEST(Polling, AsksAlsoWhereTestsAreRare) {
  Poll poll(milliseconds(10));
  const std::vector<nanoseconds> asked = poll.test(120);
  EXPECT_GT(asked.size(), 30U);
  EXPECT_GT(asked.back(), milliseconds(900));
}

TEST(Polling, CountsNoTimeWithoutTests) {
  Poll poll(std::chrono::hours(1));
  const std::vector<nanoseconds> asked = poll.test(40);
  ASSERT_FALSE(asked.empty());
  EXPECT_LT(asked.back(), std::chrono::seconds(41));
}

TEST(Polling, BeginsAnewWithEveryStep) {
  Poll poll(nanoseconds(1000));
  for (std::uint64_t progress = 1; progress < 100; ++progress) EXPECT_TRUE(poll.test(900, progress).empty());
  EXPECT_FALSE(poll.test(3000, 100).empty());
  poll.forget();
  EXPECT_TRUE(poll.test(900, 100).empty());
}

}  // namespace
}  // namespace tutti
