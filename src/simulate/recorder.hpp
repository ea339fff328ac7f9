// Who wants to know everything that happens in a simulation, in the order of its ends. Times are nanoseconds.
#pragma once

#include <cstdint>

#include "schedule/step.hpp"

namespace tutti::simulate {

class Recorder {
 public:
  virtual ~Recorder() = default;
  // From when all that the step waits for had come until the lane goes on.
  virtual void step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
                    double end) = 0;
  // From when the sender let it go until its last byte is there.
  virtual void message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) = 0;
};

}  // namespace tutti::simulate
