// SPDX-License-Identifier: Apache-2.0
// Measures a CUDA device that several ranks share. One thread at a time; nothing else should run on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "calibrate/device/device_measurements.hpp"
#include "calibrate/device/predict.hpp"

namespace tutti::calibrate {

// Of ranks that share one device.
inline constexpr std::uint32_t kMostDeviceRanks = 8;

struct DeviceToMeasure {
  int device = 0;  // as CUDA numbers them
  std::uint32_t num_ranks = 2;
};

// An error with the reason where nothing can be measured: a build without CUDA, or a host without such a device.
[[nodiscard]] Status can_measure(const DeviceToMeasure& what);

[[nodiscard]] Result<DeviceMeasurements> measure(const DeviceToMeasure& what);

// device_cases() on the device, beside what the fabric predicts. A case that the device's memory has no room for is
// left out.
[[nodiscard]] Result<std::vector<CheckedCase>> check(const DeviceToMeasure& what, const fabric::Fabric& fabric);

}  // namespace tutti::calibrate
