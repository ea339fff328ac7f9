// SPDX-License-Identifier: Apache-2.0
// `tutti probe --hosts … --calibrate`: measures the network between hosts and makes a fabric of it. Starts processes on
// the hosts; main thread only.
#pragma once

#include <optional>
#include <string>

#include "bench/views/table.hpp"
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

}  // namespace tutti::cli
