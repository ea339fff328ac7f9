// SPDX-License-Identifier: Apache-2.0
// Who wants to know everything that happens in a simulation, in the order of its ends. Times are nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "schedule/step.hpp"
#include "simulate/network/transfer.hpp"

namespace tutti::simulate {

// A step as a person reads it; of a trace it is an operation (PreparedTrace::in_words).
using StepWords = std::function<std::string(std::uint32_t rank, std::uint32_t lane, const Step& step)>;
[[nodiscard]] inline std::string words_of_schedule(std::uint32_t, std::uint32_t, const Step& step) {
  return to_string(step);
}

class Recorder {
 public:
  virtual ~Recorder() = default;
  // From when all that the step waits for had come until the lane goes on.
  virtual void step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
                    double end) = 0;
  // From when the sender let it go until its last byte is there.
  virtual void message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) = 0;

  // --- what not all want to know

  // The same of a credit, for a message that `from` has taken.
  virtual void credit(std::uint32_t from, std::uint32_t to, double begin, double end) {
    static_cast<void>(from), static_cast<void>(to), static_cast<void>(begin), static_cast<void>(end);
  }
  // The same of what a step of the rank loads or stores.
  virtual void access(const Transfer& transfer, std::uint32_t rank, double end) {
    static_cast<void>(transfer), static_cast<void>(rank), static_cast<void>(end);
  }
  // Its last lane is over, and its finish. Told behind everything else.
  virtual void done(std::uint32_t rank, double time) { static_cast<void>(rank), static_cast<void>(time); }
};

}  // namespace tutti::simulate
