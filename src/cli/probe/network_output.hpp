// SPDX-License-Identifier: Apache-2.0
// What `tutti probe --hosts --calibrate` measured, as tables and in words. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/views/table.hpp"
#include "calibrate/network/network.hpp"

namespace tutti::cli {

// A row for each interface, pair of hosts, and direction.
[[nodiscard]] Table table_of_pairs(const std::vector<calibrate::NetworkMeasurements>& measured);
// A row for each interface and host.
[[nodiscard]] Table table_of_hosts(const std::vector<calibrate::NetworkMeasurements>& measured);

// A line of what all hosts do at once.
[[nodiscard]] std::string words_of_all(const calibrate::NetworkMeasurements& measured);

}  // namespace tutti::cli
