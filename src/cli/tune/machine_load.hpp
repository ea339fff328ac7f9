// SPDX-License-Identifier: Apache-2.0
// How much of the machine others used meanwhile: what the system says of all processors, less what this process and
// the children that it has waited for have used. One thread.
#pragma once

namespace tutti::cli {

class MachineLoad {
 public:
  MachineLoad();

  struct Used {
    double cores_of_others = 0;  // by other programs, on average
    double cores_stolen = 0;     // by the host of a virtual machine
  };
  // Since it was made. Children must have been waited for.
  [[nodiscard]] Used used() const;

 private:
  struct Reading {
    double seconds = 0;  // of the clock
    double busy = 0;     // of all processors
    double stolen = 0;
    double own = 0;
  };
  [[nodiscard]] static Reading read();

  Reading begin_;
};

// So much of a core used by others makes times of little worth.
inline constexpr double kMostOfOthers = 0.15;

}  // namespace tutti::cli
