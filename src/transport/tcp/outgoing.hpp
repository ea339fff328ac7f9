// SPDX-License-Identifier: Apache-2.0
// Messages to one rank: a queue for each kind of traffic, and the connection that carries them. The connection is made
// for the first message, and again whenever it breaks. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/endpoint.hpp"
#include "transport/tcp/ring.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

// Messages below `taken` are done with; those below `sent` the system has; those below `published` wait.
class OutgoingQueue final : public Outgoing {
 public:
  OutgoingQueue(OutgoingLink& link, const EndpointShape& shape) : link_(link), shape_(shape), ring_(shape) {}

  [[nodiscard]] bool has_credit() override { return published_ - taken_ < shape_.depth; }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) override;
  void publish(std::uint64_t description) override;
  [[nodiscard]] bool is_drained() override { return taken_ == published_; }
  [[nodiscard]] bool has_sent() const override { return sent_ == published_; }

 private:
  friend class OutgoingLink;

  OutgoingLink& link_;
  const EndpointShape& shape_;
  Ring ring_;
  std::uint64_t published_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t bytes_ = 0;  // of the message that is being written
};

class OutgoingLink {
 public:
  // `way_back` is the connection that the same rank makes to this one.
  OutgoingLink(Shared& shared, std::uint32_t rank, IncomingLink& way_back);
  OutgoingLink(const OutgoingLink&) = delete;
  OutgoingLink& operator=(const OutgoingLink&) = delete;
  // Says bye where the connection stands.
  ~OutgoingLink();

  [[nodiscard]] OutgoingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }

  bool on_event(const PollEvent& event);
  // The low bits of what the destination has taken, which a message of its own has brought. False for what cannot be.
  bool use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits);

  // Of one that is to connect: begins where it is time, gives up where patience has ended. False where it need not be
  // asked again.
  bool on_time(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const { return due_; }
  // Nobody has asked for long, so the time did not count.
  void renew_patience(Clock::time_point now);

  void forsake() noexcept { socket_.reset(); }
  // Whether the other host has all that was published.
  [[nodiscard]] bool has_delivered() const;

 private:
  friend class OutgoingQueue;
  // In this order, but for breaks. From `closed` it begins anew when there is something to send; `failed` is for good.
  enum class State : std::uint8_t { closed, waiting, connecting, greeting, open, failed };

  void on_publish();
  void list();
  void try_next_address(Clock::time_point now);
  void fail_attempt(std::string words, Clock::time_point now);
  void finish_connecting();
  void break_off(std::string words);
  bool send();
  struct Batch;
  void gather(Batch& batch);
  void count_sent(const Batch& batch, std::size_t bytes);
  bool read_back();
  bool use_answers();
  bool use_welcome(const Welcome& welcome);
  bool use_credits(const FrameHeader& header);
  [[nodiscard]] bool has_unsent() const;
  [[nodiscard]] std::string addresses_text() const;
  [[nodiscard]] const std::vector<Address>& addresses() const { return shared_.options.addresses[rank_]; }

  Shared& shared_;
  const std::uint32_t rank_;
  IncomingLink& way_back_;
  std::array<OutgoingQueue, kNumTraffics> queues_;
  State state_ = State::closed;
  bool is_listed_ = false;  // among those that are to connect
  UniqueFd socket_{};

  bool can_write_ = false;
  std::size_t traffic_ = 0;  // whose frame is next
  std::size_t offset_ = 0;   // how much of it the system has
  HeaderBytes begun_{};      // its header, where that is not 0
  std::array<std::byte, 512> answers_{};
  std::size_t answered_ = 0;  // bytes of them

  std::size_t attempt_ = 0;
  std::chrono::nanoseconds pause_{};
  Clock::time_point broken_since_{};
  Clock::time_point greeting_since_{};
  Clock::time_point due_{};
  std::string trouble_{};  // why the last attempt failed
};

}  // namespace tutti::transport::tcp
