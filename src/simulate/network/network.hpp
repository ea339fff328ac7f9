// SPDX-License-Identifier: Apache-2.0
// How transfers share the links on their way. A network is told when one starts, asks for turns of its own through the
// event queue, and says when it arrives. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "fabric/fabric.hpp"
#include "simulate/engine/event_queue.hpp"
#include "simulate/network/transfer.hpp"

namespace tutti::simulate {

// What an event is for.
struct Turn {
  enum class Of : std::uint8_t { lane, start, transfer, network, room, part, core };
  Of of = Of::lane;
  std::uint32_t id = 0;  // which one
};
using Events = EventQueue<Turn>;

// What has crossed a link.
struct LinkUse {
  double bytes = 0;
  double busy = 0;
};

enum class Sharing : std::uint8_t {
  queueing,  // cut-through; what comes first has the link to itself until its last byte has entered it
  fair,      // max-min fair: all that cross a link at a time share it
};

// Called with the time at which the transfer's last byte is there: now, or later.
using Arrival = std::function<void(TransferId id, double time)>;

class Network {
 public:
  virtual ~Network() = default;
  virtual void start(TransferId id, double now) = 0;
  // A turn that it asked for.
  virtual void turn(const Turn& turn, double now) = 0;
  [[nodiscard]] const std::vector<LinkUse>& uses() const { return uses_; }

 protected:
  explicit Network(std::size_t num_links) : uses_(num_links) {}
  std::vector<LinkUse> uses_;
};

// Everything given is borrowed.
[[nodiscard]] std::unique_ptr<Network> make_network(Sharing sharing, const fabric::Fabric& fabric, Transfers& transfers,
                                                    Events& events, Arrival arrival);

}  // namespace tutti::simulate
