// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peers/null/misbehaviour.hpp"
#include "peers/null/orders.hpp"

namespace tutti::peers {
namespace {

TEST(NullOrders, NothingIsToldUnlessItIs) {
  const auto orders = null_orders({{"PATH", "/bin"}});
  ASSERT_TRUE(orders.ok());
  EXPECT_EQ(orders->work, 0);
  EXPECT_FALSE(orders->crash.has_value());
  EXPECT_FALSE(misbehaves(*orders, 0));
}

TEST(NullOrders, AreReadFromTheEnvironment) {
  const auto orders = null_orders({{"TUTTI_NULL_WORK", "1us"},
                                   {"TUTTI_NULL_FACTOR", "1.05"},
                                   {"TUTTI_NULL_DELAY", "2ms"},
                                   {"TUTTI_NULL_SPIN", "1"},
                                   {"TUTTI_NULL_CRASH", "1@50"},
                                   {"TUTTI_NULL_HANG", "0"},
                                   {"TUTTI_NULL_GARBAGE", "1"}});
  ASSERT_TRUE(orders.ok()) << orders.status().to_string();
  EXPECT_EQ(orders->work, 1000);
  EXPECT_DOUBLE_EQ(orders->factor, 1.05);
  EXPECT_EQ(orders->delay, 2'000'000);
  EXPECT_TRUE(orders->spins);
  EXPECT_EQ(orders->crash->rank, 1);
  EXPECT_EQ(orders->crash->call, 50U);
  EXPECT_EQ(orders->hang->call, 1U);
  EXPECT_TRUE(misbehaves(*orders, 1));
  EXPECT_FALSE(misbehaves(*orders, 0));
}

TEST(NullOrders, WhatIsWrongIsNamed) {
  for (const auto& [name, value] : {Environment::Pair{"TUTTI_NULL_CRUSH", "1"},
                                    {"TUTTI_NULL_CRASH", "one"},
                                    {"TUTTI_NULL_CRASH", "1@"},
                                    {"TUTTI_NULL_WORK", "fast"},
                                    {"TUTTI_NULL_SPIN", "2"},
                                    {"TUTTI_NULL_FACTOR", "nan"}}) {
    const auto orders = null_orders({{name, value}});
    ASSERT_FALSE(orders.ok()) << name << "=" << value;
    EXPECT_NE(orders.status().to_string().find(name), std::string::npos) << orders.status().to_string();
  }
}

}  // namespace
}  // namespace tutti::peers
