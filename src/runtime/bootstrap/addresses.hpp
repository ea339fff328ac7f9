// SPDX-License-Identifier: Apache-2.0
// Where this process can be reached from other hosts. Asks the system each time; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/variables/variables.hpp"

namespace tutti {

// Of the interfaces of TUTTI_SOCKET_IFNAME, with port 0; empty where that is not set.
[[nodiscard]] Result<std::vector<Address>> addresses_of_interfaces(const Variables& variables);

// The first of these, or where they are not set of any interface.
[[nodiscard]] Result<Address> address_for_hosts(const Variables& variables);

// Of a rank with several connections to each other one, each with a listener at each of these addresses, those of a
// family together: in which order others try them for the connection of that number, as places in the list. Connections
// begin with the addresses of the first one's family in turn.
[[nodiscard]] std::vector<std::size_t> places_of_part(std::span<const Address> addresses, std::size_t part);

}  // namespace tutti
