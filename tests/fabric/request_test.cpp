// SPDX-License-Identifier: Apache-2.0
#include "fabric/generators/request.hpp"

#include <gtest/gtest.h>

namespace tutti::fabric {
namespace {

TEST(Request, HasAKindSizesAndParameters) {
  const Request request = *parse_request(" torus_2d:2x3, bandwidth = 25GB/s,multicast ");
  EXPECT_EQ(request.kind, "torus_2d");
  EXPECT_EQ(request.sizes, (std::vector<std::uint32_t>{2, 3}));
  ASSERT_EQ(request.parameters.size(), 2U);
  EXPECT_EQ(request.parameters[0].name, "bandwidth");
  EXPECT_EQ(request.parameters[0].value, "25GB/s");
  EXPECT_EQ(request.parameters[1].value, "");
  EXPECT_TRUE(parse_request("h100_node")->sizes.empty());
}

TEST(Request, AllBehindInnerBelongsToTheInnerFabric) {
  const Request request = *parse_request("switch:4,latency=1us,inner=ring:3,latency=2us,inner=ring:2");
  ASSERT_EQ(request.parameters.size(), 2U);
  EXPECT_EQ(request.parameters[1].name, "inner");
  EXPECT_EQ(request.parameters[1].value, "ring:3,latency=2us,inner=ring:2");
}

TEST(Request, WhatIsWrongIsSaid) {
  const auto message = [](std::string_view text) {
    const Result<Request> request = parse_request(text);
    return request.ok() ? "" : request.status().to_string();
  };
  const std::string right = "; write a fabric as KIND:SIZE,NAME=VALUE, such as torus_2d:2x3,bandwidth=25GB/s";
  EXPECT_EQ(message(""), "'': there is nothing" + right);
  EXPECT_EQ(message("ring:x3"), "'ring:x3': '' is no size" + right);
  EXPECT_EQ(message("ring:-3"), "'ring:-3': '-3' is no size" + right);
  EXPECT_EQ(message("ring:0"), "'ring:0': a size is 0, and 1 is the least" + right);
  EXPECT_EQ(message("ring:2000000"),
            "'ring:2000000': the size 2000000 is too large; 1048576 ranks are the most" + right);
  EXPECT_EQ(message("ring:99999999999"),
            "'ring:99999999999': the size 99999999999 is too large; 1048576 ranks are the most" + right);
  EXPECT_EQ(message("a:1x1x1x1x1"), "'a:1x1x1x1x1': it has 5 sizes" + right);
  EXPECT_EQ(message(":3"), "':3': it has no kind" + right);
  EXPECT_EQ(message("ring:3,latency="), "'ring:3,latency=': 'latency' has no value" + right);
  EXPECT_EQ(message("ring:3,=5"), "'ring:3,=5': a parameter has no name" + right);
  EXPECT_EQ(message("ring:3,a=1,A=2"), "'ring:3,a=1,A=2': 'A' is there twice" + right);
  EXPECT_FALSE(parse_request(std::string(5000, 'a')).ok());
}

}  // namespace
}  // namespace tutti::fabric
