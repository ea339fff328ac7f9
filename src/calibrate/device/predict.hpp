// SPDX-License-Identifier: Apache-2.0
// Calls that no calibration has seen: what a calibrated fabric predicts for them beside what a device takes. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "fabric/fabric.hpp"

namespace tutti::calibrate {

// Sums of f32 where something is folded.
struct DeviceCase {
  Collective collective = Collective::all_reduce;
  std::string_view algorithm;
  std::uint64_t bytes = 0;  // as benchmarks count them: of all blocks
  bool in_place = false;
};
struct CheckedCase {
  DeviceCase of;
  double measured = 0;  // nanoseconds
  double predicted = 0;
  // How much longer than measured was predicted: 0.1 is a tenth.
  [[nodiscard]] double error() const { return predicted / measured - 1; }
};

// What is checked on a device.
[[nodiscard]] const std::vector<DeviceCase>& device_cases();

// The algorithm, with its usual parameters; an error where there is none of that name.
[[nodiscard]] Result<const Algorithm*> algorithm_of(const DeviceCase& of);
// Elements of a block.
[[nodiscard]] std::uint64_t count_of(const DeviceCase& of, std::uint32_t ranks);

// Nanoseconds, for all ranks of the fabric. As on the device, what a rank exposes is read where it lies, unless the
// algorithm is not right so.
[[nodiscard]] Result<double> predicted(const fabric::Fabric& fabric, const DeviceCase& of);

// The median of how far predictions are off, whatever the direction.
[[nodiscard]] double median_error(const std::vector<CheckedCase>& checked);

}  // namespace tutti::calibrate
