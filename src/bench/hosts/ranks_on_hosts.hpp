// SPDX-License-Identifier: Apache-2.0
// Which ranks of a group are on which hosts: as it was asked for, and as the ranks themselves say. Values and pure
// functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/system/host.hpp"
#include "base/unique_id.hpp"
#include "bench/measure/meeting_place.hpp"
#include "bench/process/connection.hpp"
#include "bench/process/cores.hpp"

namespace tutti::harness {

// One entry of the list of hosts; ranks are numbered in the order of entries.
struct HostEntry {
  std::string host;
  int num_ranks = 1;
};
// "2x4": four ranks on each of two hosts; "1+2+3"; "on 0 1 0": the host of each rank, if those of one are no
// neighbours.
[[nodiscard]] std::string placement_text(const std::vector<HostEntry>& entries);
// In such a text; 1 where it is none.
[[nodiscard]] std::uint32_t num_hosts_in(std::string_view text);
// How many each host has; hosts in the order of their first ranks.
[[nodiscard]] std::vector<std::uint32_t> ranks_by_host(const std::vector<HostEntry>& entries);
// The name of the axis that shows it.
inline constexpr std::string_view kHostsAxis = "hosts";

// How the processes of a group get to other hosts.
struct OverHosts {
  std::vector<HostEntry> entries;
  std::string agent;          // runs a command on another host, as ssh
  bool by_slurm = false;      // the agent is srun; an mpirun uses srun too
  std::string launcher;       // the tutti that starts what no mpirun does
  std::string tutti;          // its path on other hosts; empty: the same
  Address address;            // of the runner, as other hosts reach it; port 0: any
  std::string address_given;  // as the user gave it; empty: by itself
};

// What a rank says of where it is.
struct Here {
  std::string name;         // of the host, for people
  std::string host;         // equal for ranks that share memory
  std::string machine;      // equal for ranks that share cores
  std::string clock;        // equal for ranks whose monotonic clocks are one
  std::vector<Core> cores;  // on which it may run
};
[[nodiscard]] Here here_of(const Host& host);
[[nodiscard]] Json to_json(const Here& here);
// An error where it is malformed.
[[nodiscard]] Result<Here> here_in(const Json& said);

// What follows for all.
struct RanksOnHosts {
  std::vector<int> host_of;        // by rank; hosts in the order of their first ranks
  std::vector<std::string> names;  // by host
  bool has_common_clock = true;
  bool shares_cores = false;
  std::vector<Core> cores;  // by rank; empty where somebody knows of none

  [[nodiscard]] int num_hosts() const { return static_cast<int>(names.size()); }
};
[[nodiscard]] RanksOnHosts ranks_on_hosts(const std::vector<Here>& ranks);
// Whether ranks are where they were to be; an error says who is not.
[[nodiscard]] Status check_placement(const RanksOnHosts& found, const std::vector<HostEntry>& wanted);
// "2 hosts with their ranks: a (4), b (4)"; of many hosts the first.
[[nodiscard]] std::string in_words(const RanksOnHosts& ranks);

[[nodiscard]] Seat seat_of(int rank, std::vector<int> host_of);

}  // namespace tutti::harness
