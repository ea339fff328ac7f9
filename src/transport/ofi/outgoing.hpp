// SPDX-License-Identifier: Apache-2.0
// Messages to one rank: a queue for each kind of traffic. The rank is told before the first that they come, and again
// where some have failed. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/system/socket.hpp"
#include "transport/endpoint.hpp"
#include "transport/ofi/ring.hpp"
#include "transport/ofi/shared.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {

// Messages below `taken` are done with. The provider has been given those below `handed`, and is not done with
// `in_flight` of them. Those below `published` wait.
class OutgoingQueue final : public Outgoing {
 public:
  OutgoingQueue(OutgoingLink& link, const EndpointShape& shape) : link_(link), shape_(shape), ring_(shape) {}

  // A message may be taken before the provider says that it is done with the slot.
  [[nodiscard]] bool has_credit() override {
    return published_ - taken_ < shape_.depth && !(ring_.is_reserved() && ring_.entry(published_).is_with_provider);
  }
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) override;
  void publish(std::uint64_t description) override;
  [[nodiscard]] bool is_drained() override { return taken_ == published_; }
  [[nodiscard]] bool has_sent() const override { return handed_ == published_ && in_flight_ == 0; }

 private:
  friend class OutgoingLink;

  OutgoingLink& link_;
  const EndpointShape& shape_;
  Ring ring_;
  std::uint64_t published_ = 0;
  std::uint64_t handed_ = 0;
  std::uint64_t taken_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint64_t bytes_ = 0;  // of the message that is being written
};

class OutgoingLink final : public Owner {
 public:
  // `way_back` has what the same rank sends to this one.
  OutgoingLink(Shared& shared, std::uint32_t rank, IncomingLink& way_back);

  [[nodiscard]] OutgoingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }

  void on_completion(const Completion& completion) override;
  // Whose key is right.
  void on_welcome(const Control& control);
  void on_taken(const ByTraffic& taken);
  void on_bye();
  // The low bits of what the destination has taken, which a message of its own has brought.
  void use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits);

  // Of one that waits: goes on as far as it can. False where it need not be asked again.
  bool go_on(Clock::time_point now, bool& any);
  // Nobody has asked for long, so the time did not count.
  void renew_patience(Clock::time_point now) {
    if (broken_since_) broken_since_ = now;
  }
  // Whether the destination has heard of this rank, and not that it has left.
  [[nodiscard]] bool is_known_there() const { return attempt_ > 0 && state_ != State::closed && !has_left_; }

 private:
  friend class OutgoingQueue;
  // From `closed` it begins when there is something to send; `failed` is for good.
  enum class State : std::uint8_t { closed, saying_hello, greeting, open, broken, failed };

  void reserve(OutgoingQueue& queue);
  void on_publish();
  void wait();
  bool say_hello();
  bool send();
  [[nodiscard]] Begun send_next(OutgoingQueue& queue, std::uint32_t traffic, std::string& why);
  void break_off(std::string words);
  [[nodiscard]] bool is_with_provider() const;
  void set_handed(OutgoingQueue& queue, std::uint64_t handed);

  Shared& shared_;
  const std::uint32_t rank_;
  const std::uint64_t key_;
  IncomingLink& way_back_;
  std::array<OutgoingQueue, kNumTraffics> queues_;
  State state_ = State::closed;
  bool is_waiting_ = false;  // on the list of Shared
  bool has_left_ = false;
  std::uint32_t traffic_ = 0;  // whose message is next
  std::uint32_t attempt_ = 0;
  std::uint32_t hellos_ = 0;  // with the provider
  std::chrono::nanoseconds pause_{};
  Clock::time_point due_{};
  std::optional<Clock::time_point> broken_since_{};
  std::string trouble_{};  // why the last attempt failed
};

}  // namespace tutti::transport::ofi
