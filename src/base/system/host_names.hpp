// SPDX-License-Identifier: Apache-2.0
// What the system knows of hosts by their names. Asks it, which may ask the network; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unique_id.hpp"

struct sockaddr;

namespace tutti {

// Of a name, or of an address as text, in the system's order and with port 0; empty where it knows none. Without
// link-local addresses, whose scope is a number of one host.
[[nodiscard]] std::vector<Address> addresses_of_host(const std::string& name);

// Nothing where it is none of IPv4 or IPv6, or link-local. With port 0.
[[nodiscard]] std::optional<Address> address_from(const sockaddr& system);

[[nodiscard]] bool is_loopback(const Address& address);

}  // namespace tutti
