// SPDX-License-Identifier: Apache-2.0
// The fabric that measurements are of. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/measurements.hpp"
#include "fabric/fabric.hpp"

namespace tutti::calibrate {

// `ranks` processes that take turns on the machine's cores. Every number follows from the measurements alone, so that
// the simulator's ping-pong takes on it what the machine's has taken (fit_test.cpp):
//  - latency: the least hop of the shortest message less its two steps;
//  - send_times and receive_times: what a copying hop of more bytes takes beside that, half of it at each end, which
//    a ping-pong cannot tell apart;
//  - fold_times, forward_times, fold_forward_times: what such a hop takes beside latency, steps and sending;
//  - bandwidths: own memory by the working set; beside_bandwidths: how much longer messages take from and to a large
//    working set than from and to a small one, by own byte.
[[nodiscard]] fabric::Fabric fabric_of(const Measurements& measured, std::uint32_t ranks);

// How still the machine kept meanwhile, in words; nothing where it did.
[[nodiscard]] std::string unsteadiness_in_words(const Measurements& measured);

// The same as a file, behind each number where it is from.
[[nodiscard]] std::string file_of(const Measurements& measured, std::uint32_t ranks);

}  // namespace tutti::calibrate
