// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/incoming.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <sys/uio.h>

#include "transport/tcp/link.hpp"
#include "transport/tcp/outgoing.hpp"

namespace tutti::transport::tcp {

void IncomingQueue::take() {
  TUTTI_ASSERT_SLOW(has_message(), "only a message that is there can be taken");
  ++taken_;
  place_ = nullptr;
  is_at_place_ = false;
  link_.note_credits();
}

// What has come of it already goes there too.
void IncomingQueue::expect(std::byte* place, std::uint64_t bytes) {
  if (has_message()) return;
  TUTTI_ASSERT(place_ == nullptr, "one message is expected at one place");
  place_ = place;
  place_bytes_ = bytes;
  const std::optional<std::size_t> come = receiver_.come_of(*this);
  if (!come || ring_.entry(taken_).bytes != bytes) return;
  std::memcpy(place, ring_.slot(taken_), *come);
  is_at_place_ = true;
}

void IncomingQueue::withdraw() {
  if (has_message() && is_at_place_) return;
  if (is_at_place_) std::memcpy(ring_.slot(taken_), place_, receiver_.come_of(*this).value_or(0));
  place_ = nullptr;
  is_at_place_ = false;
}

Receiver::Receiver(Link& link, const EndpointShape& shape, Sender& sender)
    : shape_(shape), sender_(sender), queues_{IncomingQueue(link, *this, shape), IncomingQueue(link, *this, shape)} {}

void Receiver::note_told(const ByTraffic& taken) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) queues_[i].told_ = taken[i];
}

bool Receiver::has_told_all() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const IncomingQueue& queue) { return queue.told_ == queue.taken_; });
}

bool Receiver::is_telling_due() const {
  return std::any_of(queues_.begin(), queues_.end(), [this](const IncomingQueue& queue) {
    const std::uint64_t owed = queue.taken_ - queue.told_;
    return owed > 0 &&
           (owed >= std::max<std::uint64_t>(shape_.depth / 2, 1) || queue.received_ - queue.told_ >= shape_.depth);
  });
}

void Receiver::connect() {
  begin_ = end_ = payload_at_ = payload_left_ = 0;
  was_large_ = false;
  if (buffer_.empty()) buffer_.resize(kBufferBytes);
}

Progress Receiver::tell_progress() {
  note_told(taken());
  return {.received = {queues_[0].received_, queues_[1].received_}, .taken = taken()};
}

Received Receiver::receive(int socket, std::size_t& asked) {
  std::array<iovec, 2> parts{};
  std::size_t count = 0;
  if (payload_left_ > 0) {
    IncomingQueue& queue = queues_[traffic_];
    parts[count++] = {.iov_base = queue.coming() + payload_at_, .iov_len = payload_left_};
    begin_ = end_ = 0;
  } else if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  // Behind a large message only the next header, so that what follows goes straight to its slot.
  const std::size_t most = was_large_ ? kHeaderBytes : buffer_.size();
  parts[count++] = {.iov_base = buffer_.data() + end_, .iov_len = most - end_};
  asked = 0;
  for (std::size_t i = 0; i < count; ++i) asked += parts[i].iov_len;
  const Received got = receive_into(socket, std::span(parts).first(count));
  const std::size_t to_slot = std::min(got.bytes, payload_left_);
  end_ += got.bytes - to_slot;
  if (to_slot > 0) {
    ++num_pieces_;
    payload_at_ += to_slot;
    payload_left_ -= to_slot;
    if (payload_left_ == 0) finish_message();
  }
  return got;
}

std::optional<WelcomeBytes> Receiver::take_welcome() {
  if (end_ - begin_ < kWelcomeBytes) return std::nullopt;
  WelcomeBytes welcome{};
  std::memcpy(welcome.data(), buffer_.data() + begin_, welcome.size());
  begin_ += welcome.size();
  return welcome;
}

Receiver::Frames Receiver::use_frames() {
  while (payload_left_ == 0 && end_ - begin_ >= kHeaderBytes) {
    const auto raw = std::span<const std::byte>(buffer_).subspan(begin_).first<kHeaderBytes>();
    const std::optional<FrameHeader> header = decode_header(raw);
    if (!header || !sender_.use_taken(header->taken)) return Frames::wrong;
    begin_ += kHeaderBytes;
    if (header->kind == FrameKind::bye) return Frames::bye;
    if (header->kind == FrameKind::message && !begin_message(*header)) return Frames::wrong;
  }
  return Frames::used;
}

bool Receiver::begin_message(const FrameHeader& header) {
  ++num_pieces_;
  IncomingQueue& queue = queues_[header.traffic];
  const bool has_slot = header.number == queue.received_ && header.number - queue.taken_ < shape_.depth;
  if (!has_slot || header.bytes > shape_.slot) return false;
  queue.ring_.reserve();
  queue.ring_.entry(header.number) = {.description = header.description, .bytes = header.bytes};
  traffic_ = header.traffic;
  was_large_ = header.bytes >= kBufferBytes / 2;
  payload_at_ = std::min<std::size_t>(header.bytes, end_ - begin_);
  payload_left_ = header.bytes - payload_at_;
  if (queue.received_ == queue.taken_) queue.is_at_place_ = queue.is_expected(header.bytes);
  std::memcpy(queue.coming(), buffer_.data() + begin_, payload_at_);
  begin_ += payload_at_;
  if (payload_left_ == 0) finish_message();
  return true;
}

void Receiver::finish_message() {
  IncomingQueue& queue = queues_[traffic_];
  ++queue.received_;
  payload_at_ = 0;
  queue.link_.note_credits();
}

}  // namespace tutti::transport::tcp
