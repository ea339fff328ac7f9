// SPDX-License-Identifier: Apache-2.0
// Messages from one rank: a queue for each kind of traffic, and the half of a connection that receives them, and
// credits for what has gone the other way. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/tcp/ring.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/wire.hpp"

namespace tutti::transport::tcp {

class Receiver;
class Sender;

// Messages below `taken` are done with; those below `received` have arrived whole. The source knows of the first `told`
// that they are taken, and may send `depth` more. The next message that is to be taken may be expected at a place of
// the caller's.
class IncomingQueue final : public Incoming {
 public:
  IncomingQueue(Link& link, Receiver& receiver, const EndpointShape& shape)
      : link_(link), receiver_(receiver), ring_(shape) {}

  [[nodiscard]] bool has_message() const override { return received_ > taken_; }
  [[nodiscard]] std::uint64_t description() const override { return ring_.entry(taken_).description; }
  [[nodiscard]] std::uint64_t bytes() const override { return ring_.entry(taken_).bytes; }
  [[nodiscard]] const std::byte* data() const override { return is_at_place_ ? place_ : ring_.slot(taken_); }
  void take() override;
  void expect(std::byte* place, std::uint64_t bytes) override;
  void withdraw() override;

 private:
  friend class Receiver;

  [[nodiscard]] bool is_expected(std::uint64_t bytes) const {
    return place_ != nullptr && received_ == taken_ && bytes == place_bytes_;
  }
  // Where the payload of the message that is coming begins.
  [[nodiscard]] std::byte* coming() const {
    return is_at_place_ && received_ == taken_ ? place_ : ring_.slot(received_);
  }

  Link& link_;
  Receiver& receiver_;
  Ring ring_;
  std::byte* place_ = nullptr;  // null: nothing is expected
  std::uint64_t place_bytes_ = 0;
  bool is_at_place_ = false;  // the message that is to be taken next, whole or in part
  std::uint64_t received_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;
};

class Receiver {
 public:
  Receiver(Link& link, const EndpointShape& shape, Sender& sender);

  [[nodiscard]] IncomingQueue& queue(Traffic traffic) { return queues_[static_cast<std::size_t>(traffic)]; }

  [[nodiscard]] ByTraffic taken() const { return {queues_[0].taken_, queues_[1].taken_}; }
  [[nodiscard]] std::uint64_t num_pieces() const { return num_pieces_; }
  // How much has come of that queue's message that is coming; nothing where none is.
  [[nodiscard]] std::optional<std::size_t> come_of(const IncomingQueue& queue) const {
    if (payload_left_ == 0 || &queues_[traffic_] != &queue) return std::nullopt;
    return payload_at_;
  }
  void note_told(const ByTraffic& taken);
  [[nodiscard]] bool has_told_all() const;
  // Whether the source may be waiting for credits: they are half of the depth, or the last ones without which it can
  // send nothing. What stays owed leaves it more than half of the depth.
  [[nodiscard]] bool is_telling_due() const;

  // A new connection. A message of which only a part has come will come again.
  void connect();
  // For the other end, which then knows it.
  [[nodiscard]] Progress tell_progress();

  // From the socket once; `asked` says for how many bytes.
  Received receive(int socket, std::size_t& asked);
  // What comes first on a connection that this rank has made; nothing where not all of it has come.
  [[nodiscard]] std::optional<WelcomeBytes> take_welcome();
  enum class Frames : std::uint8_t { used, wrong, bye };
  // Of what has been received.
  Frames use_frames();

 private:
  // What small messages come through. What is behind the header of a large one is received where it belongs.
  static constexpr std::size_t kBufferBytes = 32 << 10;

  bool begin_message(const FrameHeader& header);
  void finish_message();

  const EndpointShape& shape_;
  Sender& sender_;
  std::array<IncomingQueue, kNumTraffics> queues_;
  std::vector<std::byte> buffer_{};
  std::size_t begin_ = 0;  // of what the buffer holds
  std::size_t end_ = 0;
  std::size_t traffic_ = 0;     // of the message that has come in part
  std::size_t payload_at_ = 0;  // what has come of its payload
  std::size_t payload_left_ = 0;
  std::uint64_t num_pieces_ = 0;
  bool was_large_ = false;  // whether the last message was: then the next probably is
};

}  // namespace tutti::transport::tcp
