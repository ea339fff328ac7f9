// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/machine_load.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace tutti::cli {

MachineLoad::MachineLoad() : begin_(read()) {}

MachineLoad::Reading MachineLoad::read() {
  Reading reading;
  reading.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  // "cpu user nice system idle iowait irq softirq steal": in ticks.
  std::ifstream file("/proc/stat");
  std::string word;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double io = 0;
  double irq = 0;
  double softirq = 0;
  double steal = 0;
  if (file >> word >> user >> nice >> system >> idle >> io >> irq >> softirq >> steal) {
    const auto ticks = static_cast<double>(std::max(::sysconf(_SC_CLK_TCK), 1L));
    reading.busy = (user + nice + system + irq + softirq) / ticks;
    reading.stolen = steal / ticks;
  }
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      reading.own += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  return reading;
}

MachineLoad::Used MachineLoad::used() const {
  const Reading now = read();
  const double seconds = std::max(now.seconds - begin_.seconds, 1e-3);
  const double others = (now.busy - begin_.busy) - (now.own - begin_.own);
  return {.cores_of_others = std::max(others / seconds, 0.0),
          .cores_stolen = std::max((now.stolen - begin_.stolen) / seconds, 0.0)};
}

}  // namespace tutti::cli
