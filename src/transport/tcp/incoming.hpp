// SPDX-License-Identifier: Apache-2.0
// Messages from one rank: a queue for each kind of traffic, and the connection that its source makes. What arrives goes
// to the queues' slots; credits go back on the same connection. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "transport/endpoint.hpp"
#include "transport/tcp/ring.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

// Messages below `taken` are done with; those below `received` have arrived whole. The source knows of the first `told`
// that they are taken, and may send `depth` more.
class IncomingQueue final : public Incoming {
 public:
  IncomingQueue(IncomingLink& link, const EndpointShape& shape) : link_(link), ring_(shape) {}

  [[nodiscard]] bool has_message() const override { return received_ > taken_; }
  [[nodiscard]] std::uint64_t description() const override { return ring_.entry(taken_).description; }
  [[nodiscard]] std::uint64_t bytes() const override { return ring_.entry(taken_).bytes; }
  [[nodiscard]] const std::byte* data() const override { return ring_.slot(taken_); }
  void take() override;

 private:
  friend class IncomingLink;

  IncomingLink& link_;
  Ring ring_;
  std::uint64_t received_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;
};

class IncomingLink {
 public:
  // Messages to the same rank bring news of what it has taken, and so do its messages of what was sent to it.
  IncomingLink(Shared& shared, std::uint32_t rank);
  void set_way_back(OutgoingLink& way_back) { way_back_ = &way_back; }
  IncomingLink(const IncomingLink&) = delete;
  IncomingLink& operator=(const IncomingLink&) = delete;
  // Says bye where the connection stands.
  ~IncomingLink();

  [[nodiscard]] IncomingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }

  // A new connection of the source, which replaces the one before.
  void adopt(UniqueFd socket);
  [[nodiscard]] bool is_open() const { return socket_.valid(); }
  void forsake() noexcept { socket_.reset(); }

  bool on_event(const PollEvent& event);
  // Takes what has come, but not much more than one large message at a time.
  bool receive();
  // Tells the source all that has been taken: of one that is on the list of those where it is due, or of those that
  // owe.
  bool tell_due() {
    is_due_ = false;
    return tell();
  }
  bool tell_owed() {
    is_owing_ = false;
    return tell();
  }

  [[nodiscard]] ByTraffic taken() const { return {queues_[0].taken_, queues_[1].taken_}; }
  // A message to the source has said so.
  void note_told(const ByTraffic& taken);

  // Of one that is lost: false where it need not be asked again.
  bool on_time(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const { return broken_since_ + shared_.options.restore_within; }
  void renew_patience(Clock::time_point now) { broken_since_ = now; }

 private:
  friend class IncomingQueue;

  // What small messages come through. What is behind the header of a large one is received where it belongs.
  static constexpr std::size_t kBufferBytes = 32 << 10;

  void note_credits(const IncomingQueue& queue);
  bool tell();
  void break_off(std::string words);
  Received receive_once(std::size_t& asked);
  bool use_buffer();
  bool begin_message(const FrameHeader& header);
  void finish_message();
  void list_unread();
  void set_stuck(bool is_stuck);

  Shared& shared_;
  const std::uint32_t rank_;
  std::array<IncomingQueue, kNumTraffics> queues_;
  OutgoingLink* way_back_ = nullptr;
  UniqueFd socket_{};

  std::vector<std::byte> buffer_{};
  std::size_t begin_ = 0;  // of what the buffer holds
  std::size_t end_ = 0;
  std::size_t traffic_ = 0;     // of the message that has come in part
  std::size_t payload_at_ = 0;  // what has come of its payload
  std::size_t payload_left_ = 0;
  bool was_large_ = false;  // whether the last message was: then the next probably is
  bool has_ended_ = false;  // an event has said so: read to the end
  bool has_said_bye_ = false;

  HeaderBytes telling_{};  // credits that a socket has taken in part
  std::size_t telling_left_ = 0;
  bool is_stuck_ = false;
  bool is_owing_ = false;  // on the lists of Shared
  bool is_due_ = false;
  bool is_unread_ = false;
  bool is_lost_ = false;
  Clock::time_point broken_since_{};
  std::string trouble_{};
};

}  // namespace tutti::transport::tcp
