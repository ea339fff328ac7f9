// SPDX-License-Identifier: Apache-2.0
// Which schedule runs a call on devices: the one that is asked for, else what the decision table says, else the first
// of the catalogue that can do the call. Equal rules and calls give equal answers on every rank. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/device_rank.hpp"
#include "schedule/schedule.hpp"
#include "table/decision_table.hpp"

namespace tutti::device {

struct DeviceRules {
  struct Wanted {
    std::string name;                  // a full name, or the file that the schedule is from
    std::optional<Schedule> schedule;  // a user's
  };
  std::map<Collective, Wanted> wanted;
  DecisionTable table;
  std::uint64_t digest = 0;  // of all that; ranks compare it

  // "all_reduce=two_shot,broadcast=direct", where a name may be file:PATH, and the text of a table at `place`.
  [[nodiscard]] static Result<DeviceRules> read(std::string_view wanted, std::string_view table,
                                                std::string_view place);
};

struct DeviceChoice {
  const LoadedSchedule* schedule = nullptr;
  std::string_view name;
  std::string_view why;  // lives as long as the chooser
};

class Chooser {
 public:
  Chooser(DeviceRank& ranks, DeviceRules rules) : ranks_(ranks), rules_(std::move(rules)) {}

  // `call` is complete except for its schedule. An error if no schedule can do it from or to `root`.
  // Bytes of the message are counted as nccl-tests does: of all blocks together.
  [[nodiscard]] Result<DeviceChoice> choose(Collective collective, std::uint32_t root, const DeviceCall& call,
                                            std::uint64_t message_bytes, bool is_symmetric);

 private:
  struct Known {
    Result<const LoadedSchedule*> loaded;
    std::string name;
  };
  const Known& known(Collective collective, std::uint32_t root, const std::string& name);
  const Known& wanted(Collective collective, std::uint32_t root, const DeviceRules::Wanted& wanted);
  // The schedule, if it can do the call.
  [[nodiscard]] Result<DeviceChoice> try_out(const Known& known, DeviceCall call, bool is_symmetric,
                                             std::string_view why) const;

  DeviceRank& ranks_;
  DeviceRules rules_;
  std::map<std::string, Known> known_;  // by collective, root and name
};

}  // namespace tutti::device
