// SPDX-License-Identifier: Apache-2.0
// Where Tutti is built without CUDA.
#include "calibrate/device/measure_device.hpp"

namespace tutti::calibrate {

Status can_measure(const DeviceToMeasure&) {
  return {Code::unsupported,
          "this build has no kernels for devices, so it measures none; build it with nvcc 12 or newer and "
          "-DTUTTI_CUDA=ON"};
}

Result<DeviceMeasurements> measure(const DeviceToMeasure& what) { return can_measure(what); }

Result<std::vector<CheckedCase>> check(const DeviceToMeasure& what, const fabric::Fabric&) { return can_measure(what); }

}  // namespace tutti::calibrate
