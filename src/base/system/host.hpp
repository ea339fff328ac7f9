// SPDX-License-Identifier: Apache-2.0
// Which host a process is on, told apart by more than its name: containers may share one, and a host may have several
// networks. And what the system knows of hosts by their names, for which it may ask the network. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"

struct sockaddr;

namespace tutti {

// Two processes are on one host, and may share memory, if `id`, `boot` and `network` are the same.
struct Host {
  std::string name;            // for messages
  std::string id = {};         // what the user calls it (TUTTI_HOST_ID)
  std::string boot;            // the kernel's boot id: no two machines have the same
  std::string network;         // the network namespace, in which abstract sockets live
  std::string processes = {};  // the pid namespace, in which numbers of processes mean something
  std::string clock = {};      // the time namespace, in which monotonic clocks agree

  [[nodiscard]] bool is_same(const Host& other) const {
    return id == other.id && boot == other.boot && network == other.network;
  }
};
// An error only where descriptors have run out: what the system does not tell stays empty.
[[nodiscard]] Result<Host> this_host(std::string_view id);

// Of a name, or of an address as text, in the system's order and with port 0; empty where it knows none. Without
// link-local addresses, whose scope is a number of one host.
[[nodiscard]] std::vector<Address> addresses_of_host(const std::string& name);

// Nothing where it is none of IPv4 or IPv6, or link-local. With port 0.
[[nodiscard]] std::optional<Address> address_from(const sockaddr& system);

[[nodiscard]] bool is_loopback(const Address& address);

}  // namespace tutti
