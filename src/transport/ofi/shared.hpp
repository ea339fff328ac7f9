// SPDX-License-Identifier: Apache-2.0
// What the links of one endpoint share: options, the provider, and lists of who has something to do. The endpoint owns
// it; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/socket.hpp"
#include "transport/endpoint.hpp"
#include "transport/ofi/controls.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {

class OutgoingLink;
class IncomingLink;

struct Shared {
  Shared(std::unique_ptr<Fabric> of, OfiOptions given)
      : options(std::move(given)),
        tags(options.token, options.communicator),
        fabric(std::move(of)),
        controls(*fabric, tags, options.num_ranks),
        addresses(options.num_ranks) {}

  OfiOptions options;
  Tags tags;
  std::unique_ptr<Fabric> fabric;
  Controls controls;
  std::vector<std::optional<fi_addr_t>> addresses;  // by rank
  std::uint64_t unsent = 0;                         // messages that the provider is not done with
  std::vector<OutgoingLink*> waiting;               // to send, where they could not yet
  std::vector<IncomingLink*> unposted;              // that have receives to post, or a welcome to send
  std::vector<IncomingLink*> owing;                 // that owe any credit
  std::vector<IncomingLink*> due;                   // that owe so many that the other end may be waiting
  std::optional<Unreachable> unreachable{};

  void give_up(std::uint32_t rank, std::string words) {
    if (!unreachable) unreachable = Unreachable{rank, std::move(words)};
  }
  void warn(std::string_view words);
  // The key of what this rank sends there, and of what it is sent from there.
  [[nodiscard]] std::uint64_t key_to(std::uint32_t rank) const {
    return key_of(options.token, options.communicator, options.rank, rank);
  }
  [[nodiscard]] std::uint64_t key_from(std::uint32_t rank) const {
    return key_of(options.token, options.communicator, rank, options.rank);
  }
  // Where the rank can be sent to.
  [[nodiscard]] Result<fi_addr_t> address_of(std::uint32_t rank);
  // With key and source; its outcome comes to the owner.
  [[nodiscard]] Begun send_control(std::uint32_t to, Control control, Owner& owner, std::string& why);

 private:
  std::optional<Clock::time_point> warned_at_{};
};

}  // namespace tutti::transport::ofi
