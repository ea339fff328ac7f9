// SPDX-License-Identifier: Apache-2.0
// What calibration has measured on a device whose ranks share it, each with a part of its multiprocessors. Plain
// values; times are nanoseconds and rates bytes a nanosecond. All ranks do the same at once, and a time is that of one
// call of many in a row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::calibrate {

// `bytes` is the length of each source and each destination of a rank.
struct DeviceTime {
  std::uint64_t bytes = 0;
  double time = 0;
};

struct DeviceMeasurements {
  std::string device = {};      // in words
  std::string date = {};        // "2026-11-28"
  std::uint32_t num_ranks = 2;  // that share it
  double memory_rate = 0;       // by the memory's clock and width; 0: unknown
  double stream_launch = 0;     // kernels that do nothing, launched one by one; 0: not measured
  double launch = 0;            // the same, of a graph
  double flags = 0;  // a launch in which all ranks tell each other that they have begun, and that they are done
  // The generic walker: an exchange of `walked_bytes` a rank, and what is added by a further signal that all wait for,
  // and by a further step that copies as many bytes; 0: not measured.
  std::uint64_t walked_bytes = 0;
  double walked = 0;
  double walked_signal = 0;
  double walked_step = 0;
  // By rising size; a launch is part of each time.
  std::vector<DeviceTime> copies = {};      // a source of a rank's own to a destination of its own
  std::vector<DeviceTime> folds = {};       // f32 sums of as many sources as there are ranks, which no other rank reads
  std::vector<DeviceTime> folds_bf16 = {};  // the same in bf16
  std::vector<DeviceTime> shared_folds = {};  // f32 sums of as many sources, which all ranks read
};

}  // namespace tutti::calibrate
