// SPDX-License-Identifier: Apache-2.0
// Where this process can be reached from other hosts. Asks the system each time; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/variables/variables.hpp"

namespace tutti {

// Where a rank can be reached. Ranks of a host take its interfaces in turn.
struct HostAddresses {
  std::vector<std::vector<Address>> of_interfaces;  // by interface, at least one each, all of one family
  std::vector<Address> others;                      // of the other family, which are tried when those fail
};

// Of the interfaces of TUTTI_SOCKET_IFNAME, with port 0; empty where that is not set. None is a link-local one of IPv6.
[[nodiscard]] Result<HostAddresses> addresses_of_interfaces(const Variables& variables);

// The names of those interfaces that ranks of a host take in turn.
[[nodiscard]] Result<std::vector<std::string>> names_of_interfaces(const Variables& variables);

// The first of the addresses, or where they are not set of any interface.
[[nodiscard]] Result<Address> address_for_hosts(const Variables& variables);

// Leaves out what would be more: of the other family first, then further addresses of interfaces, then the last ones.
void keep_at_most(HostAddresses& addresses, std::size_t most);

// Puts another rank's addresses into the order in which this rank tries them. They are `num_parts` equal parts, one for
// each connection. In each, those of an interface stand together, and so do those of the other family; bit i of
// `begins` says that address i is the first of such a group. Part i is to begin with interface `first` + i, counted
// round and round among the first `num_common`, the smaller of both ranks' numbers; the others follow in their order.
void prefer_interface(std::span<Address> addresses, std::uint32_t begins, std::size_t num_parts, std::size_t first,
                      std::size_t num_common);

}  // namespace tutti
