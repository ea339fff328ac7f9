// SPDX-License-Identifier: Apache-2.0
// `tutti probe --hosts … --calibrate`: measures the network between hosts and makes a fabric of it. Starts processes on
// the hosts; main thread only.
#pragma once

#include <optional>
#include <string>

#include "bench/views/table.hpp"
#include "calibrate/network/network.hpp"
#include "cli/command.hpp"
#include "cli/host_words.hpp"

namespace tutti::cli {

struct HostsProbe {
  HostWords on;
  std::optional<int> num_ranks;
  std::string path;  // of the fabric; empty: none is written
  Format format = Format::table;
};

[[nodiscard]] Exit probe_hosts(const HostsProbe& options, const Context& context);

// What its processes do on the hosts: the hidden `tutti probe --of-network`. Rank 0 prints what was measured.
[[nodiscard]] Exit probe_as_rank(const Context& context);

[[nodiscard]] Table table_of_pairs(const calibrate::NetworkMeasurements& measured);

// What ranks have said of a pair that did not reach each other, by the names of hosts; empty where they have not.
[[nodiscard]] std::string broken_pair_in(std::string_view said, const std::vector<std::string>& host_of_rank);

}  // namespace tutti::cli
