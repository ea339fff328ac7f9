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
#include <string_view>

#include "base/status.hpp"
#include "base/variables/variables.hpp"
#include "fabric/fabric.hpp"
#include "on_fabric/call.hpp"
#include "runtime/communicator/settings.hpp"
#include "schedule/schedule.hpp"

namespace tutti::on_fabric {

struct ChosenWay {
  Schedule schedule;
  std::string algorithm;  // of the catalogue; empty: the schedule is from a file
  bool staged = true;
  std::string why;
  bool is_forced = false;
  bool needs_symmetric = false;
  std::string unfollowed = {};  // what a variable asked for and the call could not have, and why; empty: nothing
};

// What the variables mean there: with the fabric's machine profile, for caches that are the same wherever it is
// simulated, and without this machine's table.
[[nodiscard]] Result<Settings> settings_on(const fabric::Fabric& fabric, const Variables& variables);

// What tells fabrics apart: the words that a generator was asked with say all; what a file holds may change.
[[nodiscard]] std::uint64_t digest_of(std::string_view words, const fabric::Fabric& fabric);

class WayChooser {
 public:
  WayChooser();
  ~WayChooser();
  WayChooser(const WayChooser&) = delete;
  WayChooser& operator=(const WayChooser&) = delete;

  // For the first `num_ranks` of the fabric. An interrupt ends it; null: there is none.
  [[nodiscard]] Result<ChosenWay> choose(const Call& asked, const fabric::Fabric& fabric, std::uint32_t num_ranks,
                                         const Settings& settings, const std::function<bool()>& is_interrupted);
  // Gives its memory back.
  void forget();

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace tutti::on_fabric
