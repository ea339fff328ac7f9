// SPDX-License-Identifier: Apache-2.0
// Max-min fair sharing: once a transfer's first byte has come all the way it is a flow, and its bytes cross all links
// of its way at one rate. Rates change whenever a flow begins or ends (max_min.hpp).
#include <algorithm>
#include <limits>
#include <utility>

#include "simulate/network/max_min.hpp"
#include "simulate/network/networks.hpp"

namespace tutti::simulate {

namespace {

// Bytes; what a flow has left at the end that was computed for it is a rounding error.
constexpr double kNothing = 1e-6;

std::vector<double> capacities_of(const fabric::Fabric& fabric) {
  std::vector<double> capacities;
  capacities.reserve(fabric.links.size());
  for (const fabric::Link& link : fabric.links) capacities.push_back(link.bandwidth);
  return capacities;
}

class FairNetwork final : public Network {
 public:
  FairNetwork(const fabric::Fabric& fabric, Transfers& transfers, Events& events, Arrival arrival)
      : Network(fabric.links.size()),
        links_(fabric.links),
        solver_(capacities_of(fabric)),
        transfers_(transfers),
        events_(events),
        arrival_(std::move(arrival)) {}

  void start(TransferId id, double now) override {
    transfers_[id].started = now;
    const double head = now + latency_of(transfers_[id]);
    if (head > now) {
      events_.push(head, {Turn::Of::transfer, id});
    } else {
      begin(id, now);
    }
  }

  void turn(const Turn& turn, double now) override {
    if (turn.of == Turn::Of::transfer) return begin(turn.id, now);
    if (turn.id != turn_) return;  // something has changed since it was asked for
    drain(now);
    finish(now);
    // What has come because of an arrival begins in a turn of its own.
    if (!under_way_.empty()) share(now);
  }

 private:
  struct UnderWay {
    TransferId id = 0;
    double left = 0;
  };

  [[nodiscard]] double latency_of(const Transfer& transfer) const {
    double latency = 0;
    double beside = 0;
    for (const std::uint32_t link : transfer.links) {
      if (transfer.is_tree && link != transfer.links.front()) {
        beside = std::max(beside, links_[link].latency);
      } else {
        latency += links_[link].latency;
      }
    }
    return latency + beside;
  }
  // How long its bytes would take if it were alone.
  [[nodiscard]] double crossing_of(const Transfer& transfer) const {
    double crossing = 0;
    for (const std::uint32_t link : transfer.links)
      if (links_[link].bandwidth > 0) crossing = std::max(crossing, transfer.bytes / links_[link].bandwidth);
    return crossing;
  }

  void begin(TransferId id, double now) {
    if (crossing_of(transfers_[id]) == 0) return arrival_(id, now);
    drain(now);
    under_way_.push_back({id, transfers_[id].bytes});
    flows_.push_back({.links = transfers_[id].links});
    // Others may begin at the same time: the rates are found once for all.
    events_.push(now, {Turn::Of::network, ++turn_});
  }

  // Lets flow what has flowed since the rates were set.
  void drain(double now) {
    const double time = now - drained_;
    drained_ = now;
    if (time <= 0) return;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const double bytes = std::min(under_way_[i].left, flows_[i].rate * time);
      under_way_[i].left -= bytes;
      for (const std::uint32_t link : flows_[i].links) {
        uses_[link].bytes += bytes;
        if (links_[link].bandwidth > 0) uses_[link].busy += bytes / links_[link].bandwidth;
      }
    }
  }

  // Those that are over arrive, in the order in which they began.
  void finish(double now) {
    std::vector<TransferId> over;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      // Or what is left takes no time that a number of this size can still show.
      const double left = under_way_[i].left;
      if (left <= kNothing || now + left / flows_[i].rate <= now) {
        over.push_back(under_way_[i].id);
        continue;
      }
      under_way_[kept] = under_way_[i];
      flows_[kept++] = flows_[i];
    }
    under_way_.resize(kept);
    flows_.resize(kept);
    for (const TransferId id : over) {
      Transfer& transfer = transfers_[id];
      transfer.queueing = std::max(0.0, now - transfer.started - latency_of(transfer) - crossing_of(transfer));
      arrival_(id, now);
    }
  }

  void share(double now) {
    solver_.solve(flows_);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < flows_.size(); ++i) next = std::min(next, under_way_[i].left / flows_[i].rate);
    events_.push(now + next, {Turn::Of::network, ++turn_});
  }

  const std::vector<fabric::Link>& links_;
  MaxMin solver_;
  std::vector<UnderWay> under_way_;
  std::vector<Flow> flows_;  // of the same number
  Transfers& transfers_;
  Events& events_;
  Arrival arrival_;
  double drained_ = 0;
  std::uint32_t turn_ = 0;  // the one that counts: the last that was asked for
};

}  // namespace

std::unique_ptr<Network> make_fair_network(const fabric::Fabric& fabric, Transfers& transfers, Events& events,
                                           Arrival arrival) {
  return std::make_unique<FairNetwork>(fabric, transfers, events, std::move(arrival));
}

}  // namespace tutti::simulate
