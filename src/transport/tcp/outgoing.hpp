// SPDX-License-Identifier: Apache-2.0
// Messages to one rank: a queue for each kind of traffic, and the half of a connection that sends them, and credits for
// what has come the other way. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/endpoint.hpp"
#include "transport/tcp/ring.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

class Receiver;

// Messages below `taken` are done with; those below `sent` the system has; those below `published` wait. All but those
// that went out of the caller's memory are kept until they are taken.
class OutgoingQueue final : public Outgoing {
 public:
  OutgoingQueue(Link& link, const EndpointShape& shape) : link_(link), shape_(shape), ring_(shape) {}

  [[nodiscard]] bool has_credit() override { return published_ - taken_ < shape_.depth; }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) override;
  void publish(std::uint64_t description) override;
  // Shorter messages are always kept: a copy costs little.
  [[nodiscard]] bool may_borrow(std::uint64_t bytes) const override { return bytes >= kLeastBorrowed; }
  void publish_from(const std::byte* data, std::uint64_t bytes, std::uint64_t description) override;
  [[nodiscard]] bool is_drained() override { return taken_ == published_; }
  [[nodiscard]] bool has_sent() const override { return sent_ == published_; }

 private:
  friend class Sender;

  [[nodiscard]] const std::byte* payload(std::uint64_t number) const {
    return borrowed_ != nullptr && number + 1 == published_ ? borrowed_ : ring_.slot(number);
  }
  // Copies the last message to its slot, but for the bytes that the system has. If there are any, the message cannot be
  // sent again.
  void keep_borrowed(std::uint64_t sent);

  static constexpr std::uint64_t kLeastBorrowed = 16 << 10;

  Link& link_;
  const EndpointShape& shape_;
  Ring ring_;
  std::uint64_t published_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t bytes_ = 0;              // of the message that is being written
  const std::byte* borrowed_ = nullptr;  // where the last message lies while it is being published
};

class Sender {
 public:
  Sender(Link& link, Shared& shared);

  [[nodiscard]] OutgoingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }
  // Of messages.
  [[nodiscard]] bool has_unsent() const;
  [[nodiscard]] bool is_drained() const;
  [[nodiscard]] bool is_within_frame() const { return offset_ != 0; }

  // Without a connection nobody knows what has arrived: until resume(), all that was not taken counts as unsent.
  void disconnect();
  // Over a new connection, behind what has arrived. False for progress that cannot be.
  [[nodiscard]] bool can_resume(const Progress& there) const;
  // Whether the other end lacks a message of which no copy was kept.
  [[nodiscard]] bool has_lost(const Progress& there) const;
  void resume(const Progress& there);

  void owe_credits();
  void note_room() { can_write_ = true; }
  struct Sent {
    bool any = false;
    int error = 0;
  };
  // As much as the system takes.
  Sent send(int socket, Receiver& receiver);
  // How much of the payload of that queue's last message the system has, if it has a part only; else 0.
  [[nodiscard]] std::uint64_t begun_of(const OutgoingQueue& queue) const;

  // The low bits of what the other end has taken. False for what cannot be.
  bool use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits);

 private:
  struct Batch;
  void gather(Batch& batch);
  void count_sent(const Batch& batch, std::size_t bytes, Receiver& receiver);
  void settle_credits();

  Shared& shared_;
  std::array<OutgoingQueue, kNumTraffics> queues_;
  bool can_write_ = false;
  bool owes_credits_ = false;
  std::size_t turn_ = 0;     // whose frame is next: of a traffic, or of credits
  std::size_t offset_ = 0;   // how much of it the system has
  HeaderBytes begun_{};      // its header, where that is not 0
  ByTraffic begun_taken_{};  // what that says
};

}  // namespace tutti::transport::tcp
