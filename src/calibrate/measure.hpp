// SPDX-License-Identifier: Apache-2.0
// Measures this machine: ping-pong between two ranks over the runtime's own messages, swaps by direct channels, small
// all-reduces of two ranks, kernels on own memory, and changes from one process of a core to the next. Takes some
// seconds, and its threads are pinned to cores while it does. One thread at a time.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/variables/variables.hpp"
#include "calibrate/measurements.hpp"

namespace tutti::calibrate {

struct Thoroughness {
  std::uint32_t passes = 7;          // over everything, in which the machine is to be the same; their median counts
  std::uint32_t most_passes = 28;    // made to get those
  std::uint64_t block_ns = 400'000;  // how long each is measured in a pass, about
  std::uint64_t most_working_set = std::uint64_t{64} << 20U;
};

// The processors that this process may run on, by number.
[[nodiscard]] std::vector<int> usable_cores();

// The processor in words: "Intel(R) Xeon(R) Processor, 2 cores, L2 2M, L3 480M".
[[nodiscard]] std::string machine_in_words();

// "2026-11-27", wherever this machine is.
[[nodiscard]] std::string today();

// Whether there are two cores to measure.
[[nodiscard]] Status can_measure();

// Of two cores as near each other as there are, and how much farther others are; best while nothing else is at work on
// them. The variables are those that a rank's settings would be from.
[[nodiscard]] Result<Measurements> measure(const Variables& variables, const Thoroughness& thoroughness = {});

// --- parts

// Nanoseconds from one process of a core to the next; nothing where no process can be made.
[[nodiscard]] double measure_core_switch(int core, const Thoroughness& thoroughness);

// Bytes a nanosecond of a kernel with two sources and a destination that make up the working set, on both cores at
// once.
[[nodiscard]] double measure_own_memory(const std::vector<int>& cores, std::uint64_t working_set, bool streams,
                                        const Thoroughness& thoroughness);

// The calling thread stays on this core.
void pin_to(int core);

// Zeroes that begin with a page, as programs' buffers do, and are there.
struct Freed {
  void operator()(float* memory) const { std::free(memory); }
};
using Zeroes = std::unique_ptr<float[], Freed>;
[[nodiscard]] Zeroes make_zeroes(std::size_t count);

// 0 where there is none.
[[nodiscard]] double median_of(std::vector<double> values);
// The one that so large a share of the others is below.
[[nodiscard]] double quantile_of(std::vector<double> values, double share);

}  // namespace tutti::calibrate
