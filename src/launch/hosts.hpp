// SPDX-License-Identifier: Apache-2.0
// Which ranks run on which hosts: what `--hosts` and a file of hosts say. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "launch/rank_processes.hpp"

namespace tutti::launch {

// One entry of the list. A host may stand there several times.
struct HostRanks {
  std::string host;
  RankRange ranks;

  // It is reached without an agent.
  [[nodiscard]] bool is_this_host() const { return host == "localhost"; }
};

// "a:2,b,[::1]:4": ranks are numbered in this order. A host without a number has one rank. With `num_ranks` they are
// places that are filled in order; where no host has a number, the ranks are spread evenly, in blocks.
[[nodiscard]] Result<std::vector<HostRanks>> place_ranks(std::string_view hosts, std::optional<int> num_ranks);

// The same for the text of a file: a host a line, as "a", "a:2" or "a slots=2"; # begins a comment. `path` is for
// messages.
[[nodiscard]] Result<std::vector<HostRanks>> place_ranks_of_file(std::string_view text, std::string_view path,
                                                                 std::optional<int> num_ranks);

// "a and b", "a, b and 3 more": for messages.
[[nodiscard]] std::string host_list(const std::vector<std::string>& hosts);

}  // namespace tutti::launch
