// SPDX-License-Identifier: Apache-2.0
// At which addresses of this host a rank listens for ranks of other hosts. Pure, but for interfaces_to_listen_at, which
// asks the system; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"

namespace tutti::transport::tcp {

// An address of an interface.
struct Interface {
  std::string name{};
  std::string label{};  // of the address: eth0:1, or the name
  Address address{};
  bool is_up = true;
  bool is_loopback = false;
};

// Of those that are up, in this order: IPv4, IPv6, link-local IPv6; of each, by the place of the name in `wanted`, and
// then by name. `wanted` is written as NCCL_SOCKET_IFNAME is:
//   eth,ib      interfaces whose names begin so
//   =eth0,=eth1 interfaces with just these names (an = in front of the first counts for all)
//   ^eth1,ib    the choice for an empty wish without interfaces whose names begin so; ^=eth1 without just this name
//   eth0:1      addresses whose labels begin so
// Empty: all but loopback and the bridges of containers and virtual machines, or loopback where nothing else is. If
// nothing remains with ^, all other interfaces that it does not name are chosen.
// An interface with several addresses is there several times.
[[nodiscard]] Result<std::vector<Interface>> choose_interfaces(std::span<const Interface> all, std::string_view wanted);

// Of this host; with port 0.
[[nodiscard]] Result<std::vector<Interface>> interfaces_to_listen_at(std::string_view wanted);

// Whether it is a link-local address of IPv6, which means nothing to another host.
[[nodiscard]] bool is_link_local(const Address& address);

}  // namespace tutti::transport::tcp
