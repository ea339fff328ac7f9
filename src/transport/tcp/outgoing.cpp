// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/outgoing.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/units.hpp"
#include "transport/tcp/incoming.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr std::chrono::nanoseconds kFirstPause = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::milliseconds(100);

// How long one address may take before the next is tried.
std::chrono::nanoseconds attempt_limit(std::chrono::nanoseconds restore_within) {
  return std::clamp<std::chrono::nanoseconds>(restore_within / 4, std::chrono::milliseconds(50),
                                              std::chrono::seconds(5));
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

OutgoingLink::OutgoingLink(Shared& shared, std::uint32_t rank, IncomingLink& way_back)
    : shared_(shared),
      rank_(rank),
      way_back_(way_back),
      queues_{OutgoingQueue(*this, shared.options.shape), OutgoingQueue(*this, shared.options.shape)} {}

OutgoingLink::~OutgoingLink() {
  if (state_ != State::open || offset_ != 0) return;
  static_cast<void>(send_some(socket_.get(), encode(FrameHeader{.kind = FrameKind::bye})));
  static_cast<void>(shutdown(socket_.get(), SHUT_WR));
  // To close with something unread would throw away what is still on its way.
  while (receive_some(socket_.get(), answers_).outcome == SocketTransfer::Outcome::done) continue;
}

bool OutgoingLink::has_unsent() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const OutgoingQueue& queue) { return queue.sent_ != queue.published_; });
}

void OutgoingLink::on_publish() {
  ++shared_.unsent;
  if (state_ == State::open) {
    send();
  } else if (state_ == State::closed) {
    broken_since_ = due_ = Clock::now();
    pause_ = kFirstPause;
    state_ = State::waiting;
    list();
  }
}

void OutgoingLink::list() {
  if (!std::exchange(is_listed_, true)) shared_.unconnected.push_back(this);
}

// Connecting.

void OutgoingLink::renew_patience(Clock::time_point now) {
  broken_since_ = now;
  if (state_ == State::connecting) due_ = now + attempt_limit(shared_.options.restore_within);
}

bool OutgoingLink::on_time(Clock::time_point now) {
  if (state_ == State::connecting && now >= due_) fail_attempt("no answer", now);
  if (state_ == State::waiting && now >= due_) try_next_address(now);
  is_listed_ = state_ == State::waiting || state_ == State::connecting;
  return is_listed_;
}

void OutgoingLink::try_next_address(Clock::time_point now) {
  const Address& address = addresses()[attempt_++ % addresses().size()];
  Result<UniqueFd> socket = begin_connect(address);
  if (!socket.ok()) return fail_attempt(std::string(socket.status().message()), now);
  socket_ = std::move(socket).value();
  set_patience(socket_.get(), shared_.options.restore_within);
  const Status watched = shared_.poller.add(socket_.get(), {PollKey::Kind::outgoing, rank_});
  if (!watched.ok()) return fail_attempt(std::string(watched.message()), now);
  state_ = State::connecting;
  due_ = now + attempt_limit(shared_.options.restore_within);
}

void OutgoingLink::fail_attempt(std::string words, Clock::time_point now) {
  socket_.reset();
  trouble_ = std::move(words);
  if (now - broken_since_ >= shared_.options.restore_within) {
    state_ = State::failed;
    const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - broken_since_);
    shared_.give_up(rank_, fmt::format("rank {} could not be reached at {} for {}: {}", rank_, addresses_text(),
                                       to_text(Nanos(std::chrono::nanoseconds(tried).count())), trouble_));
    return;
  }
  state_ = State::waiting;
  due_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

std::string OutgoingLink::addresses_text() const {
  std::string text;
  for (const Address& address : addresses()) text += (text.empty() ? "" : ", ") + to_text(address);
  return text;
}

void OutgoingLink::finish_connecting() {
  const Clock::time_point now = Clock::now();
  const Status outcome = connect_outcome(socket_.get());
  if (!outcome.ok()) return fail_attempt(std::string(outcome.message()), now);
  const TcpOptions& options = shared_.options;
  const HelloBytes hello = encode(Hello{.token = options.token,
                                        .communicator = options.communicator,
                                        .source = options.rank,
                                        .destination = rank_,
                                        .shape = options.shape});
  // A new connection has room for it.
  if (send_some(socket_.get(), hello).bytes != hello.size()) return fail_attempt("it closed the connection", now);
  state_ = State::greeting;
  greeting_since_ = now;
  answered_ = 0;
}

void OutgoingLink::break_off(std::string words) {
  const Clock::time_point now = Clock::now();
  const bool was_greeting = state_ == State::greeting;
  socket_.reset();
  can_write_ = false;
  offset_ = 0;
  answered_ = 0;
  if (was_greeting) {
    // The other end may make no steps for long; that does not count as trouble.
    broken_since_ += now - greeting_since_;
    list();
    return fail_attempt(std::move(words), now);
  }
  // What has arrived nobody knows now.
  for (OutgoingQueue& queue : queues_) {
    shared_.unsent += queue.sent_ - queue.taken_;
    queue.sent_ = queue.taken_;
  }
  trouble_ = std::move(words);
  broken_since_ = now;
  pause_ = kFirstPause;
  due_ = now + pause_;
  state_ = State::waiting;
  list();
}

bool OutgoingLink::on_event(const PollEvent& event) {
  if (state_ == State::connecting && (event.can_write || event.has_ended)) finish_connecting();
  if (state_ != State::greeting && state_ != State::open) return false;
  bool any = event.can_read && read_back();
  if (state_ != State::open) return any;
  can_write_ = can_write_ || event.can_write;
  return send() || any;
}

// Sending.

struct OutgoingLink::Batch {
  static constexpr std::size_t kMostFrames = 16;
  struct Frame {
    std::size_t traffic = 0;
    std::size_t bytes = 0;  // with its header, less what has been sent of it
  };
  std::array<HeaderBytes, kMostFrames> headers;
  std::array<iovec, 2 * kMostFrames> parts;
  std::array<Frame, kMostFrames> frames;
  ByTraffic taken_back{};  // in all headers that have not been begun
  std::size_t num_frames = 0;
  std::size_t num_parts = 0;
  std::size_t bytes = 0;

  void add(std::byte* data, std::size_t length, std::size_t& skipped) {
    const std::size_t skip = std::min(skipped, length);
    skipped -= skip;
    if (length == skip) return;
    parts[num_parts++] = {.iov_base = data + skip, .iov_len = length - skip};
    frames[num_frames].bytes += length - skip;
    bytes += length - skip;
  }
};

// The frames that come next, of both kinds of traffic in turn; the rest of one that has been begun is the first.
void OutgoingLink::gather(Batch& batch) {
  ByTraffic next{};
  for (std::size_t i = 0; i < kNumTraffics; ++i) next[i] = queues_[i].sent_;
  std::size_t traffic = traffic_;
  std::size_t skipped = offset_;
  batch.taken_back = way_back_.taken();
  while (batch.num_frames < Batch::kMostFrames) {
    if (next[traffic] == queues_[traffic].published_) traffic = (traffic + 1) % kNumTraffics;
    const OutgoingQueue& queue = queues_[traffic];
    const std::uint64_t number = next[traffic];
    if (number == queue.published_) return;
    const Ring::Entry& entry = queue.ring_.entry(number);
    HeaderBytes& header = batch.headers[batch.num_frames];
    header = skipped > 0 ? begun_
                         : encode(FrameHeader{.kind = FrameKind::message,
                                              .traffic = static_cast<std::uint8_t>(traffic),
                                              .bytes = entry.bytes,
                                              .number = number,
                                              .description = entry.description,
                                              .taken_back = {static_cast<std::uint32_t>(batch.taken_back[0]),
                                                             static_cast<std::uint32_t>(batch.taken_back[1])}});
    batch.frames[batch.num_frames] = {.traffic = traffic, .bytes = 0};
    batch.add(header.data(), header.size(), skipped);
    batch.add(queue.ring_.slot(number), entry.bytes, skipped);
    ++batch.num_frames;
    ++next[traffic];
    traffic = (traffic + 1) % kNumTraffics;
  }
}

void OutgoingLink::count_sent(const Batch& batch, std::size_t bytes) {
  for (std::size_t i = 0; i < batch.num_frames; ++i) {
    const Batch::Frame& frame = batch.frames[i];
    if (bytes < frame.bytes) {
      // A frame that has not been begun may also give way to another.
      if (bytes > 0) {
        offset_ = i == 0 ? offset_ + bytes : bytes;
        traffic_ = frame.traffic;
        begun_ = batch.headers[i];
      }
      return;
    }
    bytes -= frame.bytes;
    // What a header says that was begun before may be older.
    if (i > 0 || offset_ == 0) way_back_.note_told(batch.taken_back);
    offset_ = 0;
    traffic_ = (frame.traffic + 1) % kNumTraffics;
    ++queues_[frame.traffic].sent_;
    --shared_.unsent;
  }
}

bool OutgoingLink::send() {
  bool any = false;
  while (can_write_ && has_unsent()) {
    Batch batch;
    gather(batch);
    msghdr message{};
    message.msg_iov = batch.parts.data();
    message.msg_iovlen = batch.num_parts;
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {
      break_off(words_of_error(errno));
      return true;
    }
    // Where the system takes less than it was given, it tells when there is room again.
    const std::size_t bytes = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    can_write_ = bytes == batch.bytes;
    count_sent(batch, bytes);
    any = any || bytes > 0;
  }
  return any;
}

bool OutgoingLink::has_delivered() const {
  const bool is_drained = std::all_of(queues_.begin(), queues_.end(),
                                      [](const OutgoingQueue& queue) { return queue.taken_ == queue.published_; });
  if (is_drained) return true;
  if (state_ != State::open || has_unsent()) return false;
  int unacknowledged = 0;
  return ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
}

// What the destination answers.

bool OutgoingLink::read_back() {
  bool any = false;
  for (;;) {
    const Received got = receive_into(socket_.get(), std::span(answers_).subspan(answered_));
    if (got.has_ended) {
      break_off(state_ == State::greeting ? "it closed the connection without an answer" : words_of_error(got.error));
      return true;
    }
    if (got.bytes == 0) return any;
    any = true;
    answered_ += got.bytes;
    if (!use_answers()) return true;
  }
}

// False where the connection is no more.
bool OutgoingLink::use_answers() {
  std::size_t used = 0;
  const std::span<const std::byte> all = std::span<const std::byte>(answers_).first(answered_);
  if (state_ == State::greeting) {
    if (answered_ < kWelcomeBytes) return true;
    const std::optional<Welcome> welcome = decode_welcome(all.first<kWelcomeBytes>());
    if (!welcome || !use_welcome(*welcome)) {
      break_off("what listens there is no rank of this communicator");
      return false;
    }
    used = kWelcomeBytes;
  }
  for (; answered_ - used >= kHeaderBytes; used += kHeaderBytes) {
    const auto header = decode_header(all.subspan(used).first<kHeaderBytes>());
    if (header && header->kind == FrameKind::bye) {
      // It leaves. What it has not taken it will never take; whoever wants to send it more has to find it anew.
      break_off("it has left");
      if (!has_unsent()) state_ = State::closed;
      return false;
    }
    if (!header || !use_credits(*header)) {
      break_off("it sent credits for what it was not sent");
      return false;
    }
  }
  std::memmove(answers_.data(), answers_.data() + used, answered_ - used);
  answered_ -= used;
  return true;
}

// What it says may be older than what a message has brought by now.
bool OutgoingLink::use_welcome(const Welcome& welcome) {
  if (!same_token(welcome.token, shared_.options.token)) return false;
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    const OutgoingQueue& queue = queues_[i];
    const bool is_possible =
        welcome.received[i] >= std::max(queue.taken_, welcome.taken[i]) && welcome.received[i] <= queue.published_;
    if (!is_possible) return false;
  }
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    OutgoingQueue& queue = queues_[i];
    shared_.unsent -= welcome.received[i] - queue.sent_;
    queue.taken_ = std::max(queue.taken_, welcome.taken[i]);
    queue.sent_ = welcome.received[i];
  }
  state_ = State::open;
  can_write_ = true;
  return true;
}

bool OutgoingLink::use_credits(const FrameHeader& header) {
  if (header.kind != FrameKind::credits) return false;
  const ByTraffic taken = {header.number, header.description};
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    if (taken[i] > queues_[i].sent_) return false;
    queues_[i].taken_ = std::max(queues_[i].taken_, taken[i]);
  }
  return true;
}

bool OutgoingLink::use_taken(const std::array<std::uint32_t, kNumTraffics>& low_bits) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    OutgoingQueue& queue = queues_[i];
    const std::uint32_t more = low_bits[i] - static_cast<std::uint32_t>(queue.taken_);
    // An older number: credits have overtaken it on the other connection.
    if (more > std::numeric_limits<std::uint32_t>::max() / 2) continue;
    // Where this connection is open, only what it has carried can be taken; else the last one may have carried more.
    const std::uint64_t most = state_ == State::open ? queue.sent_ : queue.published_;
    if (more > most - queue.taken_) return false;
    queue.taken_ += more;
    if (queue.sent_ < queue.taken_) shared_.unsent -= queue.taken_ - std::exchange(queue.sent_, queue.taken_);
  }
  return true;
}

}  // namespace tutti::transport::tcp
