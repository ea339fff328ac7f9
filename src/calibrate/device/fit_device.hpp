// SPDX-License-Identifier: Apache-2.0
// The fabric that measurements of a device are of. Pure; thread-safe.
#pragma once

#include <string>

#include "calibrate/device/device_measurements.hpp"
#include "fabric/fabric.hpp"

namespace tutti::calibrate {

// A fabric of as many ranks as were measured, no more and no less, since each has its share of one device. Ranks are
// cores that carry the bytes themselves, as on a host: all that they read and write is in the one memory. Every number
// follows from the measurements alone:
//  - latency: half of what an exchange of flags takes beside a launch;
//  - bandwidths and beside_bandwidths: a rank's share of the copy's rate, by its working set;
//  - kind `exchange` (one_shot): reading what all ranks read at once, which comes out of the cache for most of them;
//  - kinds `stores` (two_shot) and `direct`: reading what nobody else reads at that time;
//  - launch and posts: those of kernels that are written out, where there are any for that number of ranks; else, and
//    in `direct`, the generic walker's.
// No algorithm of the catalogue is measured for it.
[[nodiscard]] fabric::Fabric fabric_of(const DeviceMeasurements& measured);

// The same as a file, behind each number where it is from.
[[nodiscard]] std::string file_of(const DeviceMeasurements& measured);

}  // namespace tutti::calibrate
