// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/incoming.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "base/units.hpp"
#include "transport/tcp/outgoing.hpp"

namespace tutti::transport::tcp {
namespace {

// After so much of a connection the caller gets to see what has arrived.
constexpr std::size_t kMostAtOnce = 64 << 10;
constexpr int kMostLastReads = 64;

}  // namespace

void IncomingQueue::take() {
  TUTTI_ASSERT_SLOW(has_message(), "only a message that is there can be taken");
  ++taken_;
  link_.note_credits(*this);
}

IncomingLink::IncomingLink(Shared& shared, std::uint32_t rank)
    : shared_(shared),
      rank_(rank),
      queues_{IncomingQueue(*this, shared.options.shape), IncomingQueue(*this, shared.options.shape)} {}

IncomingLink::~IncomingLink() {
  if (!is_open()) return;
  tell();
  if (!is_open() || telling_left_ != 0) return;
  static_cast<void>(send_some(socket_.get(), encode(FrameHeader{.kind = FrameKind::bye})));
  static_cast<void>(shutdown(socket_.get(), SHUT_WR));
  // To close with something unread would throw away what is still on its way.
  for (int i = 0; i < kMostLastReads && receive_into(socket_.get(), buffer_).bytes > 0; ++i) continue;
}

// Half of the depth is told soon. So is the last credit without which the source can send nothing. What stays owed
// leaves the source more than half of the depth.
void IncomingLink::note_credits(const IncomingQueue& queue) {
  const std::uint64_t owed = queue.taken_ - queue.told_;
  if (owed == 0) return;
  const std::uint64_t depth = shared_.options.shape.depth;
  const bool is_due = owed >= std::max<std::uint64_t>(depth / 2, 1) || queue.received_ - queue.told_ >= depth;
  if (is_due && !std::exchange(is_due_, true)) shared_.due.push_back(this);
  if (!std::exchange(is_owing_, true)) shared_.owing.push_back(this);
}

void IncomingLink::note_told(const ByTraffic& taken) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) queues_[i].told_ = std::max(queues_[i].told_, taken[i]);
}

bool IncomingLink::tell() {
  if (!is_open()) return false;
  bool any = false;
  const auto is_told = [](const IncomingQueue& queue) { return queue.told_ == queue.taken_; };
  while (telling_left_ > 0 || !std::all_of(queues_.begin(), queues_.end(), is_told)) {
    if (telling_left_ == 0) {
      telling_ = encode(
          FrameHeader{.kind = FrameKind::credits, .number = queues_[0].taken_, .description = queues_[1].taken_});
      telling_left_ = telling_.size();
      for (IncomingQueue& queue : queues_) queue.told_ = queue.taken_;
    }
    const SocketTransfer sent = send_some(socket_.get(), std::span(telling_).last(telling_left_));
    if (sent.outcome == SocketTransfer::Outcome::closed) {
      // What is still to be read goes first; the end shows behind it.
      telling_left_ = 0;
      list_unread();
      break;
    }
    telling_left_ -= sent.bytes;
    any = any || sent.bytes > 0;
    set_stuck(telling_left_ > 0);
    if (is_stuck_) return any;
  }
  set_stuck(false);
  return any;
}

void IncomingLink::set_stuck(bool is_stuck) {
  if (is_stuck == is_stuck_) return;
  is_stuck_ = is_stuck;
  shared_.num_stuck += is_stuck ? 1U : static_cast<std::uint32_t>(-1);
}

// The connection.

void IncomingLink::adopt(UniqueFd socket) {
  socket_ = std::move(socket);
  begin_ = end_ = payload_at_ = payload_left_ = telling_left_ = 0;
  was_large_ = has_ended_ = has_said_bye_ = false;
  set_stuck(false);
  if (buffer_.empty()) buffer_.resize(kBufferBytes);
  // Only credits go back, of which few are on their way.
  set_patience_with_acknowledgement(socket_.get(), shared_.options.restore_within);
  Welcome welcome{.token = shared_.options.token};
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    welcome.received[i] = queues_[i].received_;
    welcome.taken[i] = queues_[i].told_ = queues_[i].taken_;
  }
  const WelcomeBytes raw = encode(welcome);
  // A new connection has room for it.
  if (send_some(socket_.get(), raw).bytes != raw.size()) return break_off("it did not take the answer");
  const Status watched = shared_.poller.change(socket_.get(), {PollKey::Kind::incoming, rank_});
  if (!watched.ok()) break_off(std::string(watched.message()));
}

void IncomingLink::break_off(std::string words) {
  socket_.reset();
  set_stuck(false);
  telling_left_ = 0;
  if (has_said_bye_) return;
  trouble_ = std::move(words);
  broken_since_ = Clock::now();
  if (!std::exchange(is_lost_, true)) shared_.lost.push_back(this);
}

bool IncomingLink::on_time(Clock::time_point now) {
  if (!is_open() && now >= due()) {
    const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - broken_since_);
    shared_.give_up(rank_, fmt::format("the connection of rank {} broke ({}) and has not come back for {}", rank_,
                                       trouble_, to_text(Nanos(std::chrono::nanoseconds(tried).count()))));
    is_lost_ = false;
  } else if (is_open()) {
    is_lost_ = false;
  }
  return is_lost_;
}

bool IncomingLink::on_event(const PollEvent& event) {
  if (!is_open()) return false;
  bool any = false;
  if (event.can_write && is_stuck_) any = tell();
  has_ended_ = has_ended_ || event.has_ended;
  return (event.can_read && receive()) || any;
}

void IncomingLink::list_unread() {
  if (!std::exchange(is_unread_, true)) shared_.unread.push_back(this);
}

// Receiving.

bool IncomingLink::receive() {
  is_unread_ = false;
  std::size_t total = 0;
  while (is_open()) {
    std::size_t asked = 0;
    const Received got = receive_once(asked);
    if (got.has_ended) {
      break_off(words_of_error(got.error));
      return true;
    }
    if (got.bytes == 0) break;
    total += got.bytes;
    if (!use_buffer()) {
      break_off("it sent what is no message");
      return true;
    }
    if (has_said_bye_) {
      socket_.reset();
      set_stuck(false);
      return true;
    }
    // Less than was asked for is all that there is, but for the end.
    if (got.bytes < asked && !has_ended_) break;
    if (total >= kMostAtOnce) {
      list_unread();
      break;
    }
  }
  return total > 0;
}

Received IncomingLink::receive_once(std::size_t& asked) {
  std::array<iovec, 2> parts{};
  std::size_t count = 0;
  if (payload_left_ > 0) {
    IncomingQueue& queue = queues_[traffic_];
    parts[count++] = {.iov_base = queue.ring_.slot(queue.received_) + payload_at_, .iov_len = payload_left_};
    begin_ = end_ = 0;
  } else if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  // Behind a large message only the next header, so that what follows goes straight to its slot.
  const std::size_t most = was_large_ ? kHeaderBytes : buffer_.size();
  parts[count++] = {.iov_base = buffer_.data() + end_, .iov_len = most - end_};
  for (std::size_t i = 0; i < count; ++i) asked += parts[i].iov_len;
  const Received got = receive_into(socket_.get(), std::span(parts).first(count));
  const std::size_t to_slot = std::min(got.bytes, payload_left_);
  end_ += got.bytes - to_slot;
  if (to_slot > 0) {
    payload_at_ += to_slot;
    payload_left_ -= to_slot;
    if (payload_left_ == 0) finish_message();
  }
  return got;
}

// False for what no source sends.
bool IncomingLink::use_buffer() {
  while (payload_left_ == 0 && end_ - begin_ >= kHeaderBytes && !has_said_bye_) {
    const auto raw = std::span<const std::byte>(buffer_).subspan(begin_).first<kHeaderBytes>();
    const std::optional<FrameHeader> header = decode_header(raw);
    if (!header) return false;
    begin_ += kHeaderBytes;
    if (header->kind == FrameKind::bye) {
      has_said_bye_ = true;
    } else if (header->kind != FrameKind::message || !begin_message(*header)) {
      return false;
    }
  }
  return true;
}

bool IncomingLink::begin_message(const FrameHeader& header) {
  const EndpointShape& shape = shared_.options.shape;
  IncomingQueue& queue = queues_[header.traffic];
  // It has a credit, too: what it was told has been taken before.
  const bool is_next = header.number == queue.received_ && header.number - queue.told_ < shape.depth;
  if (!is_next || header.bytes > shape.slot) return false;
  if (way_back_ != nullptr && !way_back_->use_taken(header.taken_back)) return false;
  queue.ring_.reserve();
  queue.ring_.entry(header.number) = {.description = header.description, .bytes = header.bytes};
  traffic_ = header.traffic;
  was_large_ = header.bytes >= kBufferBytes / 2;
  payload_at_ = std::min<std::size_t>(header.bytes, end_ - begin_);
  payload_left_ = header.bytes - payload_at_;
  std::memcpy(queue.ring_.slot(header.number), buffer_.data() + begin_, payload_at_);
  begin_ += payload_at_;
  if (payload_left_ == 0) finish_message();
  return true;
}

void IncomingLink::finish_message() {
  IncomingQueue& queue = queues_[traffic_];
  ++queue.received_;
  payload_at_ = 0;
  note_credits(queue);
}

}  // namespace tutti::transport::tcp
