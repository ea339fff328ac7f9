// SPDX-License-Identifier: Apache-2.0
// Cut-through with queueing: a transfer's head goes from link to link, and at each waits until those that came before
// it have entered that link whole; its tail follows at the rate of the slowest. A transfer that waits further on does
// not keep the links behind it busy: switches have room for it.
#include <algorithm>
#include <utility>

#include "simulate/network/networks.hpp"

namespace tutti::simulate {

namespace {

class QueueingNetwork final : public Network {
 public:
  QueueingNetwork(const fabric::Fabric& fabric, Transfers& transfers, Events& events, Arrival arrival)
      : Network(fabric.links.size()),
        links_(fabric.links),
        free_(fabric.links.size()),
        transfers_(transfers),
        events_(events),
        arrival_(std::move(arrival)) {}

  void start(TransferId id, double now) override {
    transfers_[id].started = now;
    transfers_[id].head = now;
    transfers_[id].arrives = now;
    enter(id, now);
  }

  void turn(const Turn& turn, double now) override { enter(turn.id, now); }

 private:
  // The head is at the next link.
  void enter(TransferId id, double now) {
    Transfer& transfer = transfers_[id];
    if (transfer.hop == transfer.links.size()) return arrival_(id, transfer.arrives);  // within a node
    const std::uint32_t number = transfer.links[transfer.hop];
    const fabric::Link& link = links_[number];
    const double begin = std::max(now, free_[number]);
    const double crossing = link.bandwidth > 0 ? transfer.bytes / link.bandwidth : 0;
    const double busy = std::max(link.gap, crossing);
    free_[number] = begin + busy;
    uses_[number].bytes += transfer.bytes;
    uses_[number].busy += busy;
    transfer.queueing += begin - now;
    transfer.arrives = std::max(transfer.arrives, begin + crossing) + link.latency;
    transfer.head = begin + link.latency;
    if (++transfer.hop == transfer.links.size()) return arrival_(id, transfer.arrives);
    if (transfer.head > now) {
      events_.push(transfer.head, {Turn::Of::transfer, id});
    } else {
      enter(id, now);
    }
  }

  const std::vector<fabric::Link>& links_;
  std::vector<double> free_;
  Transfers& transfers_;
  Events& events_;
  Arrival arrival_;
};

}  // namespace

std::unique_ptr<Network> make_queueing_network(const fabric::Fabric& fabric, Transfers& transfers, Events& events,
                                               Arrival arrival) {
  return std::make_unique<QueueingNetwork>(fabric, transfers, events, std::move(arrival));
}

}  // namespace tutti::simulate
