// SPDX-License-Identifier: Apache-2.0
// A peer that says how long its calls would take without making them, as a simulator does: it has no processes, and
// since its time is no measurement, one sample of each case says all.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/measure/measure.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

class Reckoner {
 public:
  virtual ~Reckoner() = default;
  // What its times are of, as far as the peer's name does not tell: equal words, equal times.
  [[nodiscard]] virtual std::string version() const = 0;
  // Likewise of the variables that may decide its times, the group's and those around it, and of the files that they
  // name; what they held when it was first asked.
  [[nodiscard]] virtual std::uint64_t settings_digest(const Group& group) const = 0;
  // How many ranks it has.
  [[nodiscard]] virtual int num_ranks() const = 0;
  // Whether the variable means anything to it.
  [[nodiscard]] virtual bool obeys(std::string_view variable) const = 0;
  // The rest of a row that says already which case of the group it is. After an interrupt, which is
  // also told when the time for an answer is over, it need not be right, and ends within a second.
  virtual void reckon(const Group& group, const MeasureOptions& options, Row& row) const = 0;
};

}  // namespace tutti::harness
