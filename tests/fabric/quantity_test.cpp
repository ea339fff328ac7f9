// SPDX-License-Identifier: Apache-2.0
#include "fabric/files/quantity.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tutti::fabric {
namespace {

TEST(Quantity, RatesCountInPowersOfThousandAndBitsAreEighths) {
  EXPECT_EQ(*parse_rate("25GB/s"), 25);
  EXPECT_EQ(*parse_rate("400Gb/s"), 50);
  EXPECT_EQ(*parse_rate(" 1.8 TB/s "), 1800);
  EXPECT_EQ(*parse_rate("500MB/s"), 0.5);
  EXPECT_EQ(*parse_rate("1GiB/s"), 1.073741824);
  EXPECT_EQ(*parse_rate("unlimited"), 0);
}

TEST(Quantity, TimesAreNanoseconds) {
  EXPECT_EQ(*parse_time("1.5us"), 1500);
  EXPECT_EQ(*parse_time("0.25ns"), 0.25);
  EXPECT_EQ(*parse_time("250ps"), 0.25);
  EXPECT_EQ(*parse_time("2ms"), 2e6);
  EXPECT_EQ(*parse_time("1s"), 1e9);
  EXPECT_EQ(*parse_time("0ns"), 0);
}

TEST(Quantity, WhatIsWrongIsSaid) {
  const auto message = [](const auto& result) { return result.ok() ? "" : result.status().to_string(); };
  EXPECT_EQ(message(parse_time("5")),
            "'5' is not a time: it has no unit; write a number and ns, us, ms or s, such as 1.5us");
  EXPECT_EQ(message(parse_time("-1us")),
            "'-1us' is not a time: it is negative; write a number and ns, us, ms or s, such as 1.5us");
  EXPECT_EQ(message(parse_rate("25GBs")),
            "'25GBs' is not a rate: 'GBs' is not a unit; write a number and a unit, such "
            "as 25GB/s or 400Gb/s, or unlimited");
  for (const char* wrong : {"", "nan", "nanns", "inf", "infns", "1e999ns", "1e30s", "us", "1 1us", "0x1ns", "5GB/s"})
    EXPECT_FALSE(parse_time(wrong).ok()) << wrong;
  for (const char* wrong : {"0GB/s", "1e-300GB/s", "25", "25GB", "25gb/s", "-1GB/s", "1us", "unlimited GB/s"})
    EXPECT_FALSE(parse_rate(wrong).ok()) << wrong;
}

TEST(Quantity, IsWrittenInTheGreatestUnitThatReadsBack) {
  EXPECT_EQ(rate_to_text(25), "25GB/s");
  EXPECT_EQ(rate_to_text(1800), "1.8TB/s");
  EXPECT_EQ(rate_to_text(0.5), "500MB/s");
  EXPECT_EQ(rate_to_text(0), "unlimited");
  EXPECT_EQ(time_to_text(1500), "1.5us");
  EXPECT_EQ(time_to_text(0.25), "0.25ns");
  EXPECT_EQ(time_to_text(0), "0ns");
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-8, 11);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::pow(10.0, exponent(random));
    ASSERT_EQ(*parse_rate(rate_to_text(value)), value) << rate_to_text(value);
    ASSERT_EQ(*parse_time(time_to_text(value)), value) << time_to_text(value);
  }
}

}  // namespace
}  // namespace tutti::fabric
