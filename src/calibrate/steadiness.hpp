// SPDX-License-Identifier: Apache-2.0
// Which passes of a measurement were of one and the same machine. A virtual machine's cores may be neighbours in one
// second and far from each other in the next, and what is measured partly here and partly there describes neither.
// Pure; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tutti::calibrate {

// What the same short thing took when a pass began and when it ended.
struct Mark {
  double before = 0;
  double after = 0;
};

// Marks so far from each other are of different machines.
inline constexpr double kSteady = 1.25;

struct Steadiness {
  // By number: those that kept still, around the same mark, of which there are the most; of as many the quickest.
  // Where none kept still, all.
  std::vector<std::size_t> passes;
  bool is_steady = false;
  double mark = 0;   // of the pass that they are around
  double least = 0;  // of all passes
  double greatest = 0;
};

[[nodiscard]] Steadiness steadiness_of(std::span<const Mark> marks);

}  // namespace tutti::calibrate
