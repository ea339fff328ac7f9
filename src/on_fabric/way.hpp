// SPDX-License-Identifier: Apache-2.0
// Which schedule a call on a simulated fabric runs: the one that is forced, else what a decision table of the fabric
// says, else what Tutti's library would choose with the same settings. A forced algorithm runs there even if the
// library could not follow it on this host. A name without a grid takes the fabric's. A schedule from a file is proven
// first, and must fit the region that the settings give, as in the library.
//
// A chooser keeps what it has found for one number of ranks. One thread at a time.
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
#include "runtime/selection/table_choice.hpp"
#include "schedule/schedule.hpp"

namespace tutti::on_fabric {

struct ChosenWay {
  Schedule schedule;
  std::string algorithm;  // of the catalogue; empty: the schedule is from a file
  bool staged = true;
  bool by_name = false;  // others read in place what the algorithm would stage elsewhere
  std::string why;
  bool is_forced = false;
  bool is_of_table = false;
  bool is_of_ring_variable = false;  // TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE has changed what the table says
  bool needs_symmetric = false;
  std::string unfollowed = {};  // which variable could not be followed, and why; empty: none
};

// Why the schedule cannot do the call: "is not for calls in place". Empty: it can.
[[nodiscard]] std::string objection_to(const ChosenWay& way, const Call& asked);

// Tells fabrics apart. A generator's words say all; of a file, the contents count, since they may change.
[[nodiscard]] std::uint64_t digest_of(std::string_view words, const fabric::Fabric& fabric);
// The same digest, as decision tables write it.
[[nodiscard]] std::string fingerprint_of(std::string_view words, const fabric::Fabric& fabric);

// The decision table that calls obey on the fabric that TUTTI_FABRIC names. An error where there is no such fabric.
[[nodiscard]] Result<TableChoice> table_of_named_fabric(const Variables& variables);

// What the variables mean on the fabric of this digest. Its machine profile applies, so that caches are the same
// wherever it is simulated, and its own table if TUTTI_TABLE names one, but never this machine's table.
[[nodiscard]] Result<Settings> settings_on(const fabric::Fabric& fabric, std::uint64_t digest,
                                           const Variables& variables);

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
