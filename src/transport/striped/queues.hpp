// SPDX-License-Identifier: Apache-2.0
// A queue of messages that several queues carry. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/endpoint.hpp"

namespace tutti::transport::striped {

// Whose turn it is, as both ends count it.
class Turn {
 public:
  Turn(std::size_t parts, std::uint64_t long_from) : parts_(parts), long_from_(long_from) {}
  [[nodiscard]] std::size_t now() const { return now_; }
  void pass(std::uint64_t bytes) {
    if (bytes >= long_from_) now_ = now_ + 1 == parts_ ? 0 : now_ + 1;
  }

 private:
  std::size_t parts_;
  std::uint64_t long_from_;
  std::size_t now_ = 0;
};

class StripedOutgoing final : public Outgoing {
 public:
  StripedOutgoing(std::vector<Outgoing*> parts, std::uint64_t long_from)
      : parts_(std::move(parts)), turn_(parts_.size(), long_from) {}

  [[nodiscard]] bool has_credit() override { return part().has_credit(); }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) override {
    bytes_ = bytes;
    return part().slot(bytes);
  }
  void publish(std::uint64_t description) override {
    part().publish(description);
    turn_.pass(std::exchange(bytes_, 0));
  }
  [[nodiscard]] bool may_borrow(std::uint64_t bytes) const override { return part().may_borrow(bytes); }
  void publish_from(const std::byte* data, std::uint64_t bytes, std::uint64_t description) override {
    part().publish_from(data, bytes, description);
    turn_.pass(bytes);
  }
  [[nodiscard]] bool is_drained() override {
    return std::all_of(parts_.begin(), parts_.end(), [](Outgoing* each) { return each->is_drained(); });
  }
  [[nodiscard]] bool has_sent() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const Outgoing* each) { return each->has_sent(); });
  }

 private:
  [[nodiscard]] Outgoing& part() const { return *parts_[turn_.now()]; }

  std::vector<Outgoing*> parts_;
  Turn turn_;
  std::uint64_t bytes_ = 0;
};

class StripedIncoming final : public Incoming {
 public:
  StripedIncoming(std::vector<Incoming*> parts, std::uint64_t long_from)
      : parts_(std::move(parts)), turn_(parts_.size(), long_from) {}

  [[nodiscard]] bool has_message() const override { return part().has_message(); }
  [[nodiscard]] std::uint64_t description() const override { return part().description(); }
  [[nodiscard]] std::uint64_t bytes() const override { return part().bytes(); }
  [[nodiscard]] const std::byte* data() const override { return part().data(); }
  void take() override {
    const std::uint64_t bytes = part().bytes();
    part().take();
    turn_.pass(bytes);
  }
  void expect(std::byte* place, std::uint64_t bytes) override { part().expect(place, bytes); }
  void withdraw() override { part().withdraw(); }

 private:
  [[nodiscard]] Incoming& part() const { return *parts_[turn_.now()]; }

  std::vector<Incoming*> parts_;
  Turn turn_;
};

}  // namespace tutti::transport::striped
