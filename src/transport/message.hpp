// SPDX-License-Identifier: Apache-2.0
// The ends of a queue of messages between two ranks, wherever they are: on one host over shared memory, which costs a
// look at a pointer more than that itself, else over an endpoint. Each role belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/shm/message.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/spread.hpp"
#include "transport/traffic.hpp"

namespace tutti {

class MessageSender {
 public:
  explicit MessageSender(const shm::MessageSender& near) noexcept : near_(near) {}
  explicit MessageSender(transport::Outgoing& far) noexcept : far_(&far) {}

  [[nodiscard]] bool has_credit() { return far_ == nullptr ? near_->has_credit() : far_->has_credit(); }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) {
    return far_ == nullptr ? near_->slot(bytes) : far_->slot(bytes);
  }
  void publish(std::uint64_t description) {
    if (far_ == nullptr) {
      near_->publish(description);
    } else {
      far_->publish(description);
    }
  }
  [[nodiscard]] bool is_far() const { return far_ != nullptr; }
  [[nodiscard]] bool may_borrow(std::uint64_t bytes) const { return far_ != nullptr && far_->may_borrow(bytes); }
  // Of far ones: see Outgoing.
  void publish_from(const std::byte* data, std::uint64_t bytes, std::uint64_t description) {
    far_->publish_from(data, bytes, description);
  }
  // Whether all that was published is on its way by itself.
  [[nodiscard]] bool has_sent() const { return far_ == nullptr || far_->has_sent(); }
  [[nodiscard]] bool is_drained() { return far_ == nullptr ? near_->is_drained() : far_->is_drained(); }

 private:
  std::optional<shm::MessageSender> near_;
  transport::Outgoing* far_ = nullptr;
};

class MessageReceiver {
 public:
  explicit MessageReceiver(const shm::MessageReceiver& near) noexcept : near_(near) {}
  explicit MessageReceiver(transport::Incoming& far) noexcept : far_(&far) {}

  [[nodiscard]] bool has_message() const { return far_ == nullptr ? near_->has_message() : far_->has_message(); }
  [[nodiscard]] std::uint64_t description() const {
    return far_ == nullptr ? near_->description() : far_->description();
  }
  [[nodiscard]] const std::byte* data(std::uint64_t bytes) const {
    return far_ == nullptr ? near_->data(bytes) : far_->data();
  }
  void take() {
    if (far_ == nullptr) {
      near_->take();
    } else {
      far_->take();
    }
  }
  // Of far ones: see Incoming.
  [[nodiscard]] bool is_far() const { return far_ != nullptr; }
  void expect(std::byte* place, std::uint64_t bytes) { far_->expect(place, bytes); }
  void withdraw() { far_->withdraw(); }

 private:
  std::optional<shm::MessageReceiver> near_;
  transport::Incoming* far_ = nullptr;
};

// Those of `rank`, from it to each rank and from each to it. `endpoint` is null where all ranks are on one host; else
// each end is made when it is first used, since a rank of many talks to few.
class Messages {
 public:
  Messages(const shm::Region& region, std::uint32_t rank, transport::Endpoint* endpoint, transport::Traffic traffic,
           const shm::SpreadOver& spread)
      : region_(region), rank_(rank), endpoint_(endpoint), traffic_(traffic), spread_(spread) {
    const std::uint32_t num_ranks = region.shape().num_ranks;
    if (endpoint != nullptr) {
      made_.resize(num_ranks);
      return;
    }
    senders_.reserve(num_ranks);
    receivers_.reserve(num_ranks);
    for (std::uint32_t peer = 0; peer < num_ranks; ++peer) {
      senders_.emplace_back(shm::MessageSender(region.connection(rank, peer, traffic), spread));
      receivers_.emplace_back(shm::MessageReceiver(region.connection(peer, rank, traffic), spread));
    }
  }

  [[nodiscard]] MessageSender& sender(std::uint32_t peer) {
    return endpoint_ == nullptr ? senders_[peer] : ends(peer).sender;
  }
  [[nodiscard]] MessageReceiver& receiver(std::uint32_t peer) {
    return endpoint_ == nullptr ? receivers_[peer] : ends(peer).receiver;
  }
  // The same of who only looks. An end that nobody has used yet has no message, and is made.
  [[nodiscard]] const MessageReceiver& receiver(std::uint32_t peer) const {
    return endpoint_ == nullptr ? receivers_[peer] : ends(peer).receiver;
  }

 private:
  struct Ends {
    MessageSender sender;
    MessageReceiver receiver;
  };
  [[nodiscard]] Ends& ends(std::uint32_t peer) const {
    if (made_[peer] == nullptr) [[unlikely]]
      make(peer);
    return *made_[peer];
  }
  void make(std::uint32_t peer) const {
    if (region_.is_here(peer)) {
      made_[peer].reset(
          new Ends{MessageSender(shm::MessageSender(region_.connection(rank_, peer, traffic_), spread_)),
                   MessageReceiver(shm::MessageReceiver(region_.connection(peer, rank_, traffic_), spread_))});
    } else {
      made_[peer].reset(
          new Ends{MessageSender(endpoint_->to(peer, traffic_)), MessageReceiver(endpoint_->from(peer, traffic_))});
    }
  }

  const shm::Region& region_;
  std::uint32_t rank_;
  transport::Endpoint* endpoint_;
  transport::Traffic traffic_;
  shm::SpreadOver spread_;
  std::vector<MessageSender> senders_;
  std::vector<MessageReceiver> receivers_;
  mutable std::vector<std::unique_ptr<Ends>> made_;  // by rank
};

}  // namespace tutti
