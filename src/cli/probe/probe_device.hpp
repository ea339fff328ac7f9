// SPDX-License-Identifier: Apache-2.0
// `tutti probe --calibrate --device N`: measures a device that ranks share, makes a fabric of it, and compares what
// that predicts with algorithms on the device. Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/views/table.hpp"
#include "calibrate/device/measure_device.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

struct DeviceProbe {
  calibrate::DeviceToMeasure what;
  std::string path;  // of the fabric; empty: none is written
  Format format = Format::table;
};

[[nodiscard]] Exit probe_device(const DeviceProbe& options, const Context& context);

// What was measured, a row for each size, and then what was checked.
[[nodiscard]] Table table_of_device(const calibrate::DeviceMeasurements& measured,
                                    const std::vector<calibrate::CheckedCase>& checked);
// The same for people, who read two tables.
[[nodiscard]] std::vector<Table> tables_of_device(const calibrate::DeviceMeasurements& measured,
                                                  const std::vector<calibrate::CheckedCase>& checked);

}  // namespace tutti::cli
