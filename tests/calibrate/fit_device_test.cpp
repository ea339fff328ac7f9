// SPDX-License-Identifier: Apache-2.0
// What is measured of a device's memory and flags predicts algorithms, which were not measured. Without a device: the
// figures are those of an H200 (benches/device, docs/design/device.md).
#include "calibrate/device/fit_device.hpp"

#include <gtest/gtest.h>

#include "calibrate/device/measure_device.hpp"
#include "calibrate/device/predict.hpp"
#include "calibrate/device/walked.hpp"
#include "device/walk/program.hpp"
#include "fabric/files/fabric_file.hpp"
#include "schedule/prove/prove.hpp"
#include "simulate/simulate.hpp"

namespace tutti::calibrate {
namespace {

constexpr std::uint64_t kMega = 1 << 20U;

// Of an H200, in microseconds. Its one-shots out of place stand for sums of what all ranks read: less the flags they
// are nothing else. Copies are of as many bytes as a two-shot of 16 and 128 MB reads and writes: with two ranks as the
// bench had them, with more at the rate that it had at 1 GB. The flags of four ranks are between those of two and
// eight.
struct H200 {
  std::uint32_t ranks;
  double flags;
  double shared_8k, shared_16m, shared_128m;
  double copy_16m, copy_128m;
};
constexpr double kLaunch = 4.9;
constexpr H200 kTwo = {2, 5.4, 5.95, 27.0, 151, 21.0, 140};
constexpr H200 kFour = {4, 5.5, 6.25, 51.0, 408, 34.5, 276};
constexpr H200 kEight = {8, 5.7, 6.7, 124.6, 940, 68.5, 547};

DeviceMeasurements measurements_of(const H200& of) {
  const double flags = of.flags - kLaunch;
  DeviceMeasurements made{.device = "an H200", .date = "2026-11-28", .num_ranks = of.ranks};
  made.launch = kLaunch * 1e3;
  made.flags = of.flags * 1e3;
  // Calls in a row hide what lesser copies take behind their launches: these are taken to be as fast as 16 MB.
  const double least = kLaunch + (of.copy_16m - kLaunch) * 4096 / (16 * kMega);
  made.copies = {{4096, least * 1e3}, {16 * kMega, of.copy_16m * 1e3}, {128 * kMega, of.copy_128m * 1e3}};
  made.shared_folds = {{8192, (of.shared_8k - flags) * 1e3},
                       {16 * kMega, (of.shared_16m - flags) * 1e3},
                       {128 * kMega, (of.shared_128m - flags) * 1e3}};
  return made;
}

double microseconds(const DeviceMeasurements& measured, const DeviceCase& of) {
  const Result<double> time = predicted(fabric_of(measured), of);
  EXPECT_TRUE(time.ok()) << time.status().to_string();
  return time.ok() ? *time / 1e3 : 0;
}

TEST(FitDevice, OneShotTakesItsFlagsAndItsSum) {
  for (const H200& of : {kTwo, kFour, kEight}) {
    SCOPED_TRACE(of.ranks);
    const DeviceMeasurements measured = measurements_of(of);
    const auto time = [&](std::uint64_t bytes) {
      return microseconds(measured, {Collective::all_reduce, "one_shot", bytes, false});
    };
    EXPECT_NEAR(time(8192), of.shared_8k, 0.02);
    EXPECT_NEAR(time(16 * kMega), of.shared_16m, of.shared_16m * 1e-3);
    EXPECT_NEAR(time(128 * kMega), of.shared_128m, of.shared_128m * 1e-3);
  }
}

struct HeldOut {
  H200 of;
  const char* algorithm;
  std::uint64_t bytes;
  bool in_place;
  double measured;  // microseconds
  double error;     // that the prediction may have
};

// In place, a one-shot goes through slots in rounds, which is slower than the copy that is predicted; and a two-shot
// that fits into the cache is faster.
TEST(FitDevice, AlgorithmsThatItHasNotSeenArePredicted) {
  const std::vector<HeldOut> cases = {
      {kTwo, "two_shot", 16 * kMega, false, 24.7, 0.15},  {kTwo, "two_shot", 128 * kMega, false, 147, 0.08},
      {kTwo, "two_shot", 16 * kMega, true, 17.5, 0.25},   {kTwo, "one_shot", 16 * kMega, true, 44.9, 0.08},
      {kTwo, "one_shot", 128 * kMega, true, 320, 0.14},   {kFour, "one_shot", 16 * kMega, true, 94.6, 0.18},
      {kFour, "one_shot", 128 * kMega, true, 711, 0.1},   {kEight, "one_shot", 16 * kMega, true, 235, 0.22},
      {kEight, "one_shot", 128 * kMega, true, 1807, 0.22}};
  std::vector<CheckedCase> checked;
  for (const HeldOut& each : cases) {
    SCOPED_TRACE(testing::Message() << each.algorithm << " of " << each.of.ranks << ", " << each.bytes
                                    << (each.in_place ? " in place" : ""));
    const DeviceCase of = {Collective::all_reduce, each.algorithm, each.bytes, each.in_place};
    checked.push_back({of, each.measured, microseconds(measurements_of(each.of), of)});
    EXPECT_NEAR(checked.back().error(), 0, each.error);
  }
  EXPECT_LT(median_error(checked), 0.15);
}

TEST(FitDevice, TheWalkerTakesLongerByWhatWasMeasuredOfIt) {
  DeviceMeasurements measured = measurements_of(kTwo);
  const DeviceCase gather = {Collective::all_gather, "direct", 8192, false};
  const double written = microseconds(measured, gather);
  measured.walked_bytes = 4096;
  measured.walked = 7900;
  measured.walked_signal = 700;
  EXPECT_GT(microseconds(measured, gather), written + 1);
  // Kernels that are written out do not walk, and there are none of three ranks.
  const DeviceCase shot = {Collective::all_reduce, "one_shot", 8192, false};
  EXPECT_NEAR(microseconds(measured, shot), kTwo.shared_8k, 0.02);
  measured.num_ranks = 3;
  EXPECT_GT(microseconds(measured, shot), kTwo.shared_8k + 1);
}

// What a device refuses is not found out on one.
TEST(FitDevice, WhatTheWalkerIsMeasuredWithIsAProgramForDevices) {
  for (std::uint32_t ranks = 2; ranks <= kMostDeviceRanks; ++ranks)
    for (const std::uint32_t signals : {0U, 4U}) {
      const Schedule schedule = exchange_and_signals(ranks, signals);
      const Proof proof = prove(schedule);
      ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
      EXPECT_EQ(proof.out_of_place.exposure, Exposure::name_safe);
      const auto words = device::make_word_programs(schedule, true);
      EXPECT_TRUE(words.ok()) << words.status().to_string();
    }
}

TEST(FitDevice, AWalkTakesAsLongAsTheDeviceHasTaken) {
  DeviceMeasurements measured = measurements_of(kEight);
  measured.walked_bytes = 4096;
  measured.walked = 10'700;
  measured.walked_signal = 900;
  const fabric::Fabric fabric = fabric_of(measured);
  const auto walked = [&](std::uint32_t signals) {
    const auto answer =
        simulate::simulate(exchange_and_signals(8, signals), fabric, {.count = 4096, .staged = false, .check = false});
    EXPECT_TRUE(answer.ok()) << answer.status().to_string();
    if (!answer.ok()) return 0.0;
    EXPECT_EQ(answer->costs, "direct");
    return answer->time;
  };
  // While the first signal is on its way, what the exchange ends with arrives.
  const double latency = (measured.flags - measured.launch) / 2;
  EXPECT_NEAR(walked(1), 10'700 - latency + 900, 10);
  EXPECT_NEAR(walked(5) - walked(1), 4 * 900, 1);
  // A gather of as many bytes has a step for each rank, in place of the exchange's one.
  measured.walked_step = 2000;
  const DeviceCase gather = {Collective::all_gather, "direct", 4096 * 8, false};
  EXPECT_NEAR(microseconds(measured, gather), 10.7 + 7 * 2.0, 0.5);
}

TEST(FitDevice, FoldsThatWereMeasuredReplaceWhatCopiesSay) {
  DeviceMeasurements measured = measurements_of(kTwo);
  const DeviceCase shot = {Collective::all_reduce, "two_shot", 128 * kMega, false};
  const double before = microseconds(measured, shot);
  // Three ends of 64 MB for each of two ranks, at a fifth less than the copy's rate.
  measured.folds = {{64 * kMega, (kLaunch + 1.25 * 0.75 * (kTwo.copy_128m - kLaunch)) * 1e3}};
  EXPECT_NEAR(microseconds(measured, shot) / before, 1.19, 0.03);
}

TEST(FitDevice, AFileReadsBackAndSaysWhereEachNumberIsFrom) {
  DeviceMeasurements measured = measurements_of(kEight);
  measured.walked_bytes = 4096;
  measured.walked = 10700;
  measured.walked_signal = 900;
  const std::string text = file_of(measured);
  const Result<fabric::Fabric> read = fabric::read_fabric(text, "device.toml", {});
  ASSERT_TRUE(read.ok()) << read.status().to_string() << "\n" << text;
  const fabric::Fabric made = fabric_of(measured);
  EXPECT_EQ(read->num_ranks(), 8U);
  ASSERT_EQ(read->costs.size(), made.costs.size());
  for (std::size_t i = 0; i < made.costs.size(); ++i) {
    EXPECT_EQ(read->costs[i].name, made.costs[i].name);
    EXPECT_EQ(read->costs[i].channels, made.costs[i].channels);
    EXPECT_EQ(read->costs[i].receive_times.points.size(), made.costs[i].receive_times.points.size());
  }
  for (const DeviceCase& each : device_cases()) {
    const Result<double> from_file = predicted(*read, each);
    const Result<double> from_fit = predicted(made, each);
    ASSERT_TRUE(from_file.ok() && from_fit.ok()) << each.algorithm;
    EXPECT_NEAR(*from_file / *from_fit, 1, 1e-6) << each.algorithm << " " << each.bytes;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const bool is_number = line.find(" = \"") != std::string::npos && line.find_first_of("0123456789") < line.size();
    if (!is_number || line.starts_with("about") || line.starts_with("generator")) continue;
    EXPECT_NE(line.find("  # "), std::string::npos) << line;
  }
}

TEST(FitDevice, MedianErrorsHaveNoSign) {
  EXPECT_DOUBLE_EQ(median_error({}), 0);
  EXPECT_NEAR(median_error({{{}, 100, 90}, {{}, 100, 130}, {{}, 100, 102}}), 0.1, 1e-12);
}

TEST(FitDevice, WhatCannotBeMeasuredIsSaidWithTheReason) {
  // On a host with a device there is no reason, but for a device that is not there.
  const Status status = can_measure({.device = 4096, .num_ranks = 2});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("device"), std::string::npos) << status.to_string();
  EXPECT_FALSE(measure({.device = 4096, .num_ranks = 2}).ok());
}

}  // namespace
}  // namespace tutti::calibrate
