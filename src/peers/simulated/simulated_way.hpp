// SPDX-License-Identifier: Apache-2.0
// Which schedule a call on a simulated fabric runs: what Tutti's library would take for it, told by the same settings;
// but an algorithm that is forced runs there whether or not the library could follow it on this host, and on the grid
// of the fabric where none is named. A schedule from a file is proven first, and must fit the region that the settings
// give, as in the library.
//
// A chooser keeps what it has found out about one number of ranks. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "peers/simulated/simulated_case.hpp"
#include "runtime/communicator/settings.hpp"
#include "schedule/schedule.hpp"

namespace tutti::simulated {

struct SimulatedWay {
  Schedule schedule;
  std::string algorithm;  // of the catalogue; empty: the schedule is from a file
  bool staged = true;
  std::string why;
  bool is_forced = false;
  bool needs_symmetric = false;
  std::string unfollowed = {};  // what a variable asked for and the call could not have, and why; empty: nothing
};

class WayChooser {
 public:
  WayChooser();
  ~WayChooser();
  WayChooser(const WayChooser&) = delete;
  WayChooser& operator=(const WayChooser&) = delete;

  // For the first `num_ranks` of the fabric. `symmetric`: the buffers are in symmetric memory.
  [[nodiscard]] Result<SimulatedWay> choose(const SimulatedCase& asked, const fabric::Fabric& fabric,
                                            std::uint32_t num_ranks, const Settings& settings, bool symmetric,
                                            const std::function<bool()>& is_interrupted);
  // Gives its memory back.
  void forget();

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace tutti::simulated
