// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/fit.hpp"

#include <gtest/gtest.h>

#include "fabric/files/quantity.hpp"
#include "simulate/references/losses.hpp"

namespace tutti::simulate {
namespace {

// A ring of four makes six steps: 6 · (2 us + n/4 / (2 B/ns)).
TEST(Fit, FindsTheParametersThatFiguresWereMadeWith) {
  const Result<References> references = read_references(
      "version = 1\nid = \"x\"\nsource = \"y\"\ndate = \"z\"\nleft_out = [40000]\n"
      "[[fits]]\nname = \"f\"\nfabrics = [\"ring_1d\"]\nparameters = [{name = \"latency\", start = \"1us\", value = "
      "\"2us\"}, "
      "{name = \"bandwidth\", start = \"9GB/s\", value = \"2GB/s\"}]\n"
      "[[series]]\nid = \"a\"\nbytes = [400, 4000, 40000, 400000]\nvalues = [12.3, 15, 9999, 312]\n"
      "ways = [{ fabric = \"ring_1d:4\", algorithm = \"ring\" }]\n"
      "[[series]]\nid = \"b\"\nbytes = [400]\nvalues = [1]\nways = [{ fabric = \"switch:4\", algorithm = \"ring\" }]\n",
      "f.toml");
  ASSERT_TRUE(references.ok()) << references.status().to_string();
  const Result<Fitted> fitted = fit(*references, references->fits[0], [](const Fitted&) {});
  ASSERT_TRUE(fitted.ok()) << fitted.status().to_string();
  EXPECT_EQ(fitted->cells, 3U);
  EXPECT_LT(fitted->loss, fitted->loss_before / 20);
  ASSERT_EQ(fitted->parameters.size(), 2U);
  EXPECT_NEAR(*fabric::parse_time(fitted->parameters[0].value), 2000, 60);
  EXPECT_NEAR(*fabric::parse_rate(fitted->parameters[1].value), 2, 0.06);
}

TEST(Fit, ParametersGoWhereTheyAreFor) {
  const std::vector<ParameterValue> parameters = {
      {"launch", "1us"}, {"ll:launch", "2us"}, {"inner:cube_latency", "3ns"}};
  EXPECT_EQ(with_parameters("a:2", parameters), "a:2,launch=1us");
  EXPECT_EQ(with_parameters("a:2,costs=ll", parameters), "a:2,costs=ll,launch=2us");
  EXPECT_EQ(with_parameters("a:2,inner=b:1", parameters), "a:2,launch=1us,inner=b:1,cube_latency=3ns");
}

}  // namespace
}  // namespace tutti::simulate
