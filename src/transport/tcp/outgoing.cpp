// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/outgoing.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>

#include "transport/tcp/incoming.hpp"
#include "transport/tcp/link.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr std::size_t kCreditsTurn = kNumTraffics;

std::array<std::uint32_t, kNumTraffics> low_bits_of(const ByTraffic& taken) {
  return {static_cast<std::uint32_t>(taken[0]), static_cast<std::uint32_t>(taken[1])};
}

}  // namespace

std::byte* OutgoingQueue::slot(std::uint64_t bytes) {
  TUTTI_ASSERT(bytes <= shape_.slot, "a message must fit a slot");
  ring_.reserve();
  bytes_ = bytes;
  return ring_.slot(published_);
}

void OutgoingQueue::publish(std::uint64_t description) {
  TUTTI_ASSERT_SLOW(has_credit(), "a message needs a credit");
  ring_.reserve();
  ring_.entry(published_) = {.description = description, .bytes = static_cast<std::uint32_t>(bytes_)};
  bytes_ = 0;
  ++published_;
  link_.on_publish();
}

void OutgoingQueue::publish_from(const std::byte* data, std::uint64_t bytes, std::uint64_t description) {
  if (!may_borrow(bytes)) return Outgoing::publish_from(data, bytes, description);
  TUTTI_ASSERT(bytes <= shape_.slot, "a message must fit a slot");
  bytes_ = bytes;
  borrowed_ = data;
  publish(description);
  if (sent_ == published_)
    ring_.entry(published_ - 1).is_kept = false;
  else
    keep_borrowed(link_.begun_of(*this));
  borrowed_ = nullptr;
}

void OutgoingQueue::keep_borrowed(std::uint64_t sent) {
  const std::uint64_t last = published_ - 1;
  Ring::Entry& entry = ring_.entry(last);
  entry.is_kept = sent == 0;
  if (entry.bytes > sent) std::memcpy(ring_.slot(last) + sent, borrowed_ + sent, entry.bytes - sent);
}

Sender::Sender(Link& link, Shared& shared)
    : shared_(shared), queues_{OutgoingQueue(link, shared.options.shape), OutgoingQueue(link, shared.options.shape)} {}

bool Sender::has_unsent() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const OutgoingQueue& queue) { return queue.sent_ != queue.published_; });
}

bool Sender::is_drained() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const OutgoingQueue& queue) { return queue.taken_ == queue.published_; });
}

void Sender::disconnect() {
  can_write_ = false;
  turn_ = offset_ = 0;
  settle_credits();
  for (OutgoingQueue& queue : queues_) {
    shared_.unsent += queue.sent_ - queue.taken_;
    queue.sent_ = queue.taken_;
  }
}

bool Sender::can_resume(const Progress& there) const {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    const OutgoingQueue& queue = queues_[i];
    const bool is_possible = there.taken[i] <= there.received[i] && there.received[i] >= queue.taken_ &&
                             there.received[i] <= queue.published_;
    if (!is_possible) return false;
  }
  return true;
}

bool Sender::has_lost(const Progress& there) const {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    const OutgoingQueue& queue = queues_[i];
    for (std::uint64_t number = there.received[i]; number < queue.published_; ++number)
      if (!queue.ring_.entry(number).is_kept) return true;
  }
  return false;
}

void Sender::resume(const Progress& there) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    OutgoingQueue& queue = queues_[i];
    shared_.unsent -= there.received[i] - queue.sent_;
    queue.sent_ = there.received[i];
    queue.taken_ = std::max(queue.taken_, there.taken[i]);
  }
  can_write_ = true;
}

void Sender::owe_credits() {
  if (!std::exchange(owes_credits_, true)) ++shared_.unsent;
}

void Sender::settle_credits() {
  if (std::exchange(owes_credits_, false)) --shared_.unsent;
}

struct Sender::Batch {
  static constexpr std::size_t kMostFrames = 16;
  struct Frame {
    std::size_t turn = 0;
    std::size_t bytes = 0;  // with its header, less what has been sent of it
  };
  std::array<HeaderBytes, kMostFrames> headers;
  std::array<iovec, 2 * kMostFrames> parts;
  std::array<Frame, kMostFrames> frames;
  ByTraffic taken{};  // as all headers say that have not been begun
  std::size_t num_frames = 0;
  std::size_t num_parts = 0;
  std::size_t bytes = 0;

  // Less what the system has of it, `skipped`.
  void add(std::size_t turn, const HeaderBytes& header, const std::byte* payload, std::size_t length,
           std::size_t skipped) {
    headers[num_frames] = header;
    frames[num_frames] = {.turn = turn};
    add_part(headers[num_frames].data(), kHeaderBytes, skipped);
    add_part(payload, length, skipped);
    bytes += frames[num_frames].bytes;
    ++num_frames;
  }

 private:
  void add_part(const std::byte* data, std::size_t length, std::size_t& skipped) {
    const std::size_t skip = std::min(skipped, length);
    skipped -= skip;
    if (length == skip) return;
    // sendmsg() only reads it.
    parts[num_parts++] = {.iov_base = const_cast<std::byte*>(data) + skip, .iov_len = length - skip};
    frames[num_frames].bytes += length - skip;
  }
};

// The frames that come next: the rest of one that has been begun, then messages of both kinds of traffic in turn.
// Credits go alone only where no message brings them along.
void Sender::gather(Batch& batch) {
  const std::array<std::uint32_t, kNumTraffics> taken = low_bits_of(batch.taken);
  std::size_t skipped = offset_;
  std::size_t turn = turn_;
  bool says_taken = false;
  if (turn == kCreditsTurn) {
    batch.add(turn, begun_, nullptr, 0, std::exchange(skipped, 0));
    turn = 0;
  }
  ByTraffic next{};
  for (std::size_t i = 0; i < kNumTraffics; ++i) next[i] = queues_[i].sent_;
  while (batch.num_frames < Batch::kMostFrames) {
    if (next[turn] == queues_[turn].published_) turn = (turn + 1) % kNumTraffics;
    const OutgoingQueue& queue = queues_[turn];
    const std::uint64_t number = next[turn];
    if (number == queue.published_) break;
    const Ring::Entry& entry = queue.ring_.entry(number);
    const bool is_begun = skipped > 0;
    const HeaderBytes header = is_begun ? begun_
                                        : encode(FrameHeader{.kind = FrameKind::message,
                                                             .traffic = static_cast<std::uint8_t>(turn),
                                                             .bytes = entry.bytes,
                                                             .number = number,
                                                             .description = entry.description,
                                                             .taken = taken});
    batch.add(turn, header, queue.payload(number), entry.bytes, std::exchange(skipped, 0));
    says_taken = says_taken || !is_begun;
    ++next[turn];
    turn = (turn + 1) % kNumTraffics;
  }
  if (owes_credits_ && !says_taken)
    batch.add(kCreditsTurn, encode(FrameHeader{.kind = FrameKind::credits, .taken = taken}), nullptr, 0, 0);
}

void Sender::count_sent(const Batch& batch, std::size_t bytes, Receiver& receiver) {
  for (std::size_t i = 0; i < batch.num_frames; ++i) {
    const Batch::Frame& frame = batch.frames[i];
    if (bytes < frame.bytes) {
      // A frame that has not been begun may also give way to another.
      if (bytes == 0) return;
      if (offset_ == 0) {
        begun_ = batch.headers[i];
        begun_taken_ = batch.taken;
      }
      offset_ += bytes;
      turn_ = frame.turn;
      return;
    }
    bytes -= frame.bytes;
    receiver.note_told(offset_ == 0 ? batch.taken : begun_taken_);
    if (receiver.has_told_all()) settle_credits();
    offset_ = 0;
    turn_ = 0;
    if (frame.turn == kCreditsTurn) continue;
    turn_ = (frame.turn + 1) % kNumTraffics;
    ++queues_[frame.turn].sent_;
    --shared_.unsent;
  }
}

Sender::Sent Sender::send(int socket, Receiver& receiver) {
  Sent result;
  while (can_write_ && (owes_credits_ || has_unsent())) {
    Batch batch;
    batch.taken = receiver.taken();
    gather(batch);
    msghdr message{};
    message.msg_iov = batch.parts.data();
    message.msg_iovlen = batch.num_parts;
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {
      can_write_ = false;
      result.error = errno;
      return result;
    }
    // Where the system takes less than it was given, it tells when there is room again.
    const std::size_t bytes = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    can_write_ = bytes == batch.bytes;
    count_sent(batch, bytes, receiver);
    result.any = result.any || bytes > 0;
  }
  return result;
}

std::uint64_t Sender::begun_of(const OutgoingQueue& queue) const {
  const bool is_begun = offset_ > kHeaderBytes && turn_ != kCreditsTurn && &queues_[turn_] == &queue &&
                        queue.sent_ + 1 == queue.published_;
  return is_begun ? offset_ - kHeaderBytes : 0;
}

bool Sender::use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    OutgoingQueue& queue = queues_[i];
    const std::uint32_t more = low_bits[i] - static_cast<std::uint32_t>(queue.taken_);
    if (more > queue.sent_ - queue.taken_) return false;
    queue.taken_ += more;
  }
  return true;
}

}  // namespace tutti::transport::tcp
