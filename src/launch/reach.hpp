// SPDX-License-Identifier: Apache-2.0
// Where a rendezvous listens so that other hosts reach it. Asks the system for names, addresses and routes, and sends
// nothing but questions for names. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"

namespace tutti::launch {

// The address of this host from which it would reach the first of `hosts` that the system knows by its name, preferring
// one that is not this host itself. Where it knows none, since an agent has names of its own, the address of the
// default route.
[[nodiscard]] Result<Address> address_towards(const std::vector<std::string>& hosts);

// "10.0.0.1", "10.0.0.1:4711", "[fd00::1]:4711", or a name of this host with or without a port. Port 0: any.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

}  // namespace tutti::launch
