// SPDX-License-Identifier: Apache-2.0
// An endpoint over libfabric (docs/design/transport_ofi.md), for any provider that has reliable datagrams and tagged
// messages. It is made in two steps, since others must be told its address before all addresses are known: a Door is
// opened, its name travels, and the endpoint takes the door and the names of all. libfabric is opened at run time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "transport/endpoint.hpp"

namespace tutti::transport::ofi {

// How long a door's name is at most.
inline constexpr std::size_t kMostNameBytes = 512;

struct DoorOptions {
  std::string provider{};  // as libfabric calls it ("tcp;ofi_rxm"); empty: the first that reaches other hosts
  Address address{};  // of the interface to use, where the provider has addresses of that kind; its port is ignored
  std::uint32_t num_ranks = 1;
  EndpointShape shape{};
};

// libfabric's part of an endpoint, which others can send to. One owner, one thread.
class Door {
 public:
  Door() = default;
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  virtual ~Door() = default;

  // What the others need to reach it: the provider, and its address.
  [[nodiscard]] virtual const std::string& name() const = 0;
};

// An error (Code::unsupported) says what is missing: libfabric, the provider, or an interface.
[[nodiscard]] Result<std::unique_ptr<Door>> open_door(const DoorOptions& options);

// The provider of a door's name, for people.
[[nodiscard]] std::string provider_of(std::string_view name);
// An error that says whose provider differs from rank 0's.
[[nodiscard]] Status check_names(const std::vector<std::string>& names);

struct OfiOptions {
  std::uint32_t rank = 0;
  std::uint32_t num_ranks = 1;
  EndpointShape shape{};             // that of the door
  Token token{};                     // the same on every rank, and known to nobody else
  std::uint64_t communicator = 0;    // tells communicators with the same token apart
  std::vector<std::string> names{};  // of all doors, by rank
  // How long errors may go on, while somebody steps or sleeps here, before a rank is taken for lost.
  std::chrono::nanoseconds restore_within = std::chrono::seconds(10);
  // For what a user should know, such as strangers that knock. May be empty.
  std::function<void(std::string_view)> warn{};
};

// The door is one of open_door().
[[nodiscard]] Result<std::unique_ptr<Endpoint>> make_ofi_endpoint(std::unique_ptr<Door> door, OfiOptions options);

}  // namespace tutti::transport::ofi
