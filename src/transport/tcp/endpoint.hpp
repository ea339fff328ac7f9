// SPDX-License-Identifier: Apache-2.0
// An endpoint over TCP (docs/design/transport.md): two ranks share one connection, which is made when either first has
// something for the other, and made again where it breaks; nothing is lost or doubled by that. Who cannot show the
// token gets in nowhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address_lists.hpp"
#include "base/status.hpp"
#include "base/system/socket.hpp"
#include "base/unique_id.hpp"
#include "transport/endpoint.hpp"

namespace tutti::transport::tcp {

struct TcpOptions {
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 1;
  EndpointShape shape{};
  Token token{};                   // the same on every rank, and known to nobody else
  std::uint64_t communicator = 0;  // tells communicators with the same token apart
  // Connections to each other rank, side by side. Addresses and listeners come in as many equal parts, the first of
  // which is for the first connection.
  std::uint32_t connections = 1;
  AddressLists addresses{};           // by rank: where it listens, of each connection the preferred first
  std::vector<Listener> listeners{};  // of this rank
  // How long a broken connection may take to come back, while somebody steps or sleeps here.
  std::chrono::nanoseconds restore_within = std::chrono::seconds(10);
  std::string congestion{};  // congestion control of the connections, by name; empty: the system's
  // For what a user should know, such as strangers that knock. May be empty.
  std::function<void(std::string_view)> warn{};
};

[[nodiscard]] Result<std::unique_ptr<Endpoint>> make_tcp_endpoint(TcpOptions options);

}  // namespace tutti::transport::tcp
