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

class Sender;

// Messages below `taken` are done with; those below `received` have arrived whole. The source knows of the first `told`
// that they are taken, and may send `depth` more.
class IncomingQueue final : public Incoming {
 public:
  IncomingQueue(Link& link, const EndpointShape& shape) : link_(link), ring_(shape) {}

  [[nodiscard]] bool has_message() const override { return received_ > taken_; }
  [[nodiscard]] std::uint64_t description() const override { return ring_.entry(taken_).description; }
  [[nodiscard]] std::uint64_t bytes() const override { return ring_.entry(taken_).bytes; }
  [[nodiscard]] const std::byte* data() const override { return ring_.slot(taken_); }
  void take() override;

 private:
  friend class Receiver;

  Link& link_;
  Ring ring_;
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
  [[nodiscard]] bool has_received() const { return queues_[0].received_ + queues_[1].received_ > 0; }
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
