// SPDX-License-Identifier: Apache-2.0
#include "fabric/curve.hpp"

#include <string>

#include <gtest/gtest.h>

#include "fabric/files/fabric_file.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::fabric {
namespace {

Curve curve_of(std::vector<CurvePoint> points) { return {std::move(points)}; }

TEST(Curve, TimesAreStraightInLogLogScaleAndGrowWithTheBytesBeyondTheLast) {
  const Curve curve = curve_of({{64, 100}, {1024, 400}, {4096, 400}});
  EXPECT_EQ(time_of(curve, 0), 0);
  EXPECT_EQ(time_of(curve, 1), 100);
  EXPECT_EQ(time_of(curve, 64), 100);
  EXPECT_NEAR(time_of(curve, 256), 200, 1e-9);  // half way from 64 to 1024, and from 100 to 400
  EXPECT_EQ(time_of(curve, 1024), 400);
  EXPECT_NEAR(time_of(curve, 2000), 400, 1e-9);
  EXPECT_EQ(time_of(curve, 4096), 400);
  EXPECT_EQ(time_of(curve, 3 * 4096), 1200);
}

TEST(Curve, RatesStayAsTheyAreOnBothSides) {
  const Curve curve = curve_of({{1024, 80}, {4096, 20}});
  EXPECT_EQ(rate_at(curve, 0), 80);
  EXPECT_EQ(rate_at(curve, 10), 80);
  EXPECT_NEAR(rate_at(curve, 2048), 40, 1e-9);
  EXPECT_EQ(rate_at(curve, 1e9), 20);
}

TEST(Curve, WithoutPointsThereIsNoTimeAndNoLimit) {
  EXPECT_EQ(time_of({}, 100), 0);
  EXPECT_EQ(rate_at({}, 100), 0);
}

TEST(Curve, OnePointIsEnough) {
  const Curve curve = curve_of({{8, 5}});
  EXPECT_EQ(time_of(curve, 4), 5);
  EXPECT_EQ(time_of(curve, 16), 10);
  EXPECT_EQ(rate_at(curve, 16), 5);
}

constexpr const char* kFile =
    "version = 1\n"
    "generator = \"host:2x2\"\n"
    "[[memories]]\n"
    "name = \"memory\"\n"
    "bandwidths = \"32K:80GB/s 4M:20GB/s\"\n"
    "[[costs]]\n"
    "name = \"process\"\n"
    "send_times = \"8:20ns 4K:1.1us\"\n"
    "fold_forward_times = \"8:20ns\"\n";

TEST(Curve, FilesAndParametersSayThem) {
  const Result<Fabric> read = read_fabric(kFile, "my.toml", {});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->costs[0].send_times, curve_of({{8, 20}, {4096, 1100}}));
  EXPECT_EQ(read->costs[0].fold_forward_times, curve_of({{8, 20}}));
  EXPECT_TRUE(read->costs[0].receive_times.empty());
  EXPECT_TRUE(read->costs[0].carries());
  EXPECT_EQ(read->memories[0].bandwidths, curve_of({{32768, 80}, {4 << 20, 20}}));
  const std::string written = write_fabric(*read);
  const Result<Fabric> again = read_fabric(written, "again", {});
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(again->costs[0].send_times, read->costs[0].send_times);
  EXPECT_EQ(again->memories[0].bandwidths, read->memories[0].bandwidths);
  EXPECT_EQ(write_fabric(*again), written);

  const Result<Fabric> in_a_line = generate("switch:2,receive_times=8:20ns 4K:1.1us,memory_beside_bandwidths=1M:5GB/s");
  ASSERT_TRUE(in_a_line.ok()) << in_a_line.status().to_string();
  EXPECT_EQ(in_a_line->costs[0].receive_times, curve_of({{8, 20}, {4096, 1100}}));
  EXPECT_EQ(in_a_line->memories[0].beside_bandwidths, curve_of({{1 << 20, 5}}));
}

std::string curve_error_of(const std::string& times) {
  const Result<Fabric> made =
      read_fabric("version = 1\ngenerator = \"host:2x2\"\n[[costs]]\nsend_times = " + times + "\n", "my.toml", {});
  return made.ok() ? "" : std::string(made.status().message());
}

TEST(Curve, ErrorsSayFileLineKeyAndPoint) {
  const std::string place = "my.toml:4: costs[0].send_times: ";
  EXPECT_EQ(curve_error_of("8"), place +
                                     "this is a whole number without a unit; write sizes with times such as "
                                     "\"64:120ns 4K:1.1us\"");
  EXPECT_EQ(curve_error_of("\"8\""), place + "'8': a point is a size and its time, such as 4K:1.5us");
  EXPECT_EQ(curve_error_of("\"8:1ns 4:2ns\""), place + "'4:2ns': each point has a greater size than the one before");
  EXPECT_EQ(curve_error_of("\"8:1ns 8:2ns\""), place + "'8:2ns': each point has a greater size than the one before");
  EXPECT_EQ(curve_error_of("\"0:1ns\""),
            place + "'0:1ns': sizes, times and rates of points are more than 0, and none is unlimited");
  EXPECT_EQ(curve_error_of("\"8:0ns\""),
            place + "'8:0ns': sizes, times and rates of points are more than 0, and none is unlimited");
  EXPECT_TRUE(curve_error_of("\"x:1ns\"").starts_with(place + "'x:1ns': ")) << curve_error_of("\"x:1ns\"");
  EXPECT_TRUE(curve_error_of("\"8:1GB/s\"").starts_with(place + "'8:1GB/s': ")) << curve_error_of("\"8:1GB/s\"");
  std::string many = "\"";
  for (std::size_t i = 1; i <= kMostCurvePoints + 1; ++i) many += std::to_string(i) + ":1ns ";
  EXPECT_EQ(curve_error_of(many + "\""), place + "'65:1ns': there are more than 64 points");
}

}  // namespace
}  // namespace tutti::fabric
