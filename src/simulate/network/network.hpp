// SPDX-License-Identifier: Apache-2.0
// How transfers share the links on their way: one rule for all fabrics.
//
// Messages and credits enter the fabric one after another by the first link of their way that limits anything, each for
// as long as its bytes take there, and gap at least: an adapter has one port, and what comes later does not slow what
// has gone before. Messages of a connection follow each other: the next enters when the one before has left whole.
// Loads and stores, which thousands of threads make at once, enter when they begin. What has entered flows: it crosses
// all links of its way at one rate, and rates are max-min fair among all (max_min.hpp); so a message that is held up
// further on leaves its port to others. The last byte is there the latency of the way after it has left.
//
// A network is told when a transfer starts, asks for turns of its own through the event queue, and says when it
// arrives. What shares no link with others costs one event; else the rates of those that share links, directly or by
// way of others, are found again when one begins or ends. One thread at a time; borrows everything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "simulate/engine/event_queue.hpp"
#include "simulate/huge_pages.hpp"
#include "simulate/network/max_min.hpp"
#include "simulate/network/transfer.hpp"

namespace tutti::simulate {

// What an event is for.
struct Turn {
  enum class Of : std::uint8_t {
    lane,
    start,  // of a transfer
    room,
    part,
    core,
    // Of the network: a transfer's last byte is there, it has left whole, the next may enter by a link, rates change.
    arrival,
    end,
    entry,
    rates,
  };
  Of of = Of::lane;
  std::uint16_t version = 0;  // of a transfer's course: one of an earlier course counts no more
  std::uint32_t id = 0;       // which one
};
using Events = EventQueue<Turn>;

// What has crossed a link.
struct LinkUse {
  double bytes = 0;
  double busy = 0;
};

// Called with the time at which the transfer's last byte is there: now.
using Arrival = std::function<void(TransferId id, double time)>;

class Network {
 public:
  // Of stores it also says when they have left whole.
  Network(
      const fabric::Fabric& fabric, Transfers& transfers, Events& events, Arrival arrival,
      Arrival departure = [](TransferId, double) {});

  void start(TransferId id, double now);
  // A turn that it asked for.
  void turn(const Turn& turn, double now);
  // Of each link.
  [[nodiscard]] std::vector<LinkUse> uses() const;

 private:
  // The course of a transfer, by its number.
  struct Course {
    double left = 0;  // bytes, at the time `since`
    double since = 0;
    double rate = 0;   // 0: not known yet
    double end = 0;    // when it has left whole, as things stand
    double alone = 0;  // how long that would take if nothing else were there
    double latency = 0;
    TransferId behind = kNoTransfer;    // the next in the queue for the link
    TransferId follower = kNoTransfer;  // the next of its connection
    std::uint16_t version = 0;
    bool flows = false;
    bool is_seed = false;
    bool is_found = false;
  };
  // What flows over a link, as often as it crosses it. Mostly that is one.
  class Flowing {
   public:
    [[nodiscard]] std::span<const TransferId> all() const { return {count_ <= 1 ? &one_ : several_->data(), count_}; }
    void add(TransferId id);
    void remove(TransferId id);

   private:
    std::uint32_t count_ = 0;
    TransferId one_ = kNoTransfer;
    std::unique_ptr<std::vector<TransferId>> several_;  // where they are, or have been, more than one
  };
  // All that a transfer has to know of a link, in one cache line.
  struct alignas(64) Link {
    double bandwidth = 0;
    double latency = 0;
    double gap = 0;
    double next_entry = 0;
    double crossed = 0;              // bytes
    TransferId first = kNoTransfer;  // that wait to enter
    TransferId last = kNoTransfer;
    Flowing flowing;
  };

  [[nodiscard]] bool is_over(const Course& course, double now) const;
  [[nodiscard]] std::uint32_t entry_of(const Transfer& transfer) const;
  void queue(TransferId id, double now);
  void enter(TransferId id, std::uint32_t entry, double now);
  void leave(TransferId id, double now);
  [[nodiscard]] bool is_end_awaited(TransferId id) const;
  void let_in(std::uint32_t link, double now);
  void let_follow(double now);
  void settle(double now);
  void seed(TransferId id);
  void change_rates(double now);
  [[nodiscard]] bool find_together(TransferId seed, double now);
  void solve(double now);
  void set_rate(TransferId id, double rate, double now);

  HugeVector<Link> links_;
  HugeVector<Course> courses_;
  MaxMin solver_;
  Transfers& transfers_;
  Events& events_;
  Arrival arrival_;
  Arrival departure_;

  std::vector<TransferId> last_of_;  // of each connection: the message that others have to follow
  std::vector<TransferId> free_;     // whose connection is free
  std::vector<TransferId> seeds_;    // that have new neighbours
  bool will_change_rates_ = false;
  // Of one search: what shares links, directly or by way of others.
  std::vector<TransferId> together_;
  std::vector<TransferId> over_;
  std::vector<bool> is_link_found_;  // by link
  std::vector<std::uint32_t> found_links_;
  std::vector<Flow> flows_;
};

}  // namespace tutti::simulate
