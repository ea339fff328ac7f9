// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/units.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr std::chrono::nanoseconds kFirstPause = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kLongestPause = std::chrono::milliseconds(100);
// Who refuses for so long is gone, and not only on a way that some machine in the middle closes for a moment.
constexpr std::chrono::nanoseconds kRefusesFor = 5 * kLongestPause;
// Several looks for silence in a row, and what is too long between two.
constexpr std::chrono::nanoseconds kLeastSilence = std::chrono::milliseconds(1500);
constexpr std::chrono::nanoseconds kLongestBetweenLooks = std::chrono::seconds(2);
// After so much of a connection the caller gets to see what has arrived.
constexpr std::size_t kMostAtOnce = 64 << 10;
constexpr int kMostLastReads = 64;

// How long one address may take before the next is tried: so long that each has its chance.
std::chrono::nanoseconds attempt_limit(std::chrono::nanoseconds restore_within, std::size_t num_addresses) {
  const auto parts = static_cast<std::int64_t>(std::max<std::size_t>(num_addresses + 1, 4));
  return std::clamp<std::chrono::nanoseconds>(restore_within / parts, std::chrono::milliseconds(50),
                                              std::chrono::seconds(5));
}

std::string to_text(std::span<const Address> addresses) {
  std::string text;
  for (const Address& address : addresses) text += (text.empty() ? "" : ", ") + tutti::to_text(address);
  return text;
}

}  // namespace

Link::Link(Shared& shared, std::uint32_t rank)
    : shared_(shared), rank_(rank), sender_(*this, shared), receiver_(*this, shared.options.shape, sender_) {}

Link::~Link() {
  if (!is_open() || sender_.is_within_frame()) return;
  FrameHeader bye{.kind = FrameKind::bye};
  const ByTraffic taken = receiver_.taken();
  for (std::size_t i = 0; i < kNumTraffics; ++i) bye.taken[i] = static_cast<std::uint32_t>(taken[i]);
  static_cast<void>(send_some(socket_.get(), encode(bye)));
  static_cast<void>(shutdown(socket_.get(), SHUT_WR));
  // To close with something unread would throw away what is still on its way.
  std::array<std::byte, 4096> unread{};
  for (int i = 0; i < kMostLastReads && receive_into(socket_.get(), unread).bytes > 0; ++i) continue;
}

bool Link::has_delivered() const {
  const auto refuses = [this] { return refused_ >= addresses().size() && Clock::now() - broken_since_ >= kRefusesFor; };
  if (sender_.is_drained() || refuses()) return true;
  if (!is_open() || sender_.has_unsent()) return false;
  int unacknowledged = 0;
  return ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
}

void Link::on_publish() {
  ++shared_.unsent;
  if (is_open()) {
    send();
  } else if (state_ == State::closed) {
    const Clock::time_point now = Clock::now();
    begin_waiting(now);
    due_ = now;
  }
}

// Connecting.

void Link::begin_waiting(Clock::time_point now) {
  state_ = State::waiting;
  broken_since_ = now;
  pause_ = kFirstPause;
  due_ = now + pause_;
  if (!std::exchange(is_unconnected_, true)) shared_.unconnected.push_back(this);
}

void Link::renew_attempt(Clock::time_point now) {
  if (state_ == State::connecting) due_ = now + attempt_limit(shared_.options.restore_within, addresses().size());
}

// The system sends no keep-alive probes while sent bytes are unacknowledged.
void Link::look_for_silence(Clock::time_point now) {
  if (!is_open() && state_ != State::greeting) return;
  const Clock::time_point before = std::exchange(looked_at_, now);
  const std::optional<Acknowledgement> last = last_acknowledgement(socket_.get());
  // Of a rank that did not look for long, what is on its way may be new.
  const bool was_away = now - before > kLongestBetweenLooks;
  if (!last || !last->is_awaited || last->age <= now - before || was_away) heard_at_ = now;
  if (now - heard_at_ > std::max(shared_.options.restore_within, kLeastSilence))
    break_off("its host acknowledges nothing", Way::silent);
}

bool Link::on_time(Clock::time_point now) {
  if (state_ == State::connecting && now >= due_) fail_attempt("no answer", now);
  if (state_ == State::waiting && now >= due_) try_next_address(now);
  is_unconnected_ = state_ == State::waiting || state_ == State::connecting;
  return is_unconnected_;
}

void Link::try_next_address(Clock::time_point now) {
  const Address& address = addresses()[attempt_++ % addresses().size()];
  Result<UniqueFd> socket = make_socket_for(address);
  if (!socket.ok()) return fail_attempt(std::string(socket.status().message()), now);
  socket_ = std::move(socket).value();
  set_patience(socket_.get(), shared_.options.restore_within);
  // Before the handshake, in which some kinds of congestion control agree on marks.
  set_congestion(socket_.get(), shared_.options.congestion);
  const Result<bool> begun = begin_connect(socket_.get(), address);
  if (!begun.ok()) return fail_attempt(std::string(begun.status().message()), now);
  const Status watched = shared_.poller.add(socket_.get(), {PollKey::Kind::link, rank_});
  if (!watched.ok()) return fail_attempt(std::string(watched.message()), now);
  state_ = State::connecting;
  due_ = now + attempt_limit(shared_.options.restore_within, addresses().size());
}

void Link::fail_attempt(std::string words, Clock::time_point now) {
  socket_.reset();
  trouble_ = std::move(words);
  refused_ = trouble_.ends_with(words_of_error(ECONNREFUSED)) ? refused_ + 1 : 0;
  if (adopt_offered()) return;
  if (now - broken_since_ >= shared_.options.restore_within) return give_up(now);
  state_ = State::waiting;
  due_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  if (!std::exchange(is_unconnected_, true)) shared_.unconnected.push_back(this);
}

void Link::give_up(Clock::time_point now) {
  state_ = State::failed;
  set_restoring(false);
  const auto tried = std::chrono::duration_cast<std::chrono::milliseconds>(now - broken_since_);
  const std::string before =
      break_.empty() ? "" : fmt::format("the connection with rank {} broke ({}), and ", rank_, break_);
  shared_.give_up(rank_,
                  fmt::format("{}rank {} could not be reached at {} for {}: {}", before, rank_, to_text(addresses()),
                              tutti::to_text(Nanos(std::chrono::nanoseconds(tried).count())), trouble_));
}

void Link::lose() {
  disconnect();
  state_ = State::failed;
  set_restoring(false);
  shared_.give_up(rank_, fmt::format("the connection with rank {} broke{} before a long message had arrived; such "
                                     "messages are sent without a copy, and cannot be sent again",
                                     rank_, break_.empty() ? "" : fmt::format(" ({})", break_)));
}

void Link::finish_connecting() {
  const Clock::time_point now = Clock::now();
  const Status outcome = connect_outcome(socket_.get());
  if (!outcome.ok()) return fail_attempt(std::string(outcome.message()), now);
  receiver_.connect();
  const TcpOptions& options = shared_.options;
  const HelloBytes hello = encode(Hello{.token = options.token,
                                        .communicator = options.communicator,
                                        .source = options.rank,
                                        .destination = rank_,
                                        .shape = options.shape,
                                        .progress = receiver_.tell_progress()});
  // A new connection has room for it.
  if (send_some(socket_.get(), hello).bytes != hello.size()) return fail_attempt("it closed the connection", now);
  state_ = State::greeting;
  greeting_since_ = looked_at_ = heard_at_ = now;
}

// If both ranks connect at once, each says hello before it has seen the other's. The higher rank drops its own
// connection and adopts that of the lower rank. The lower rank holds the other's connection until its own attempt has
// succeeded or failed. If that goes wrong, both connections break and are made again.
void Link::offer(Admitted offered) {
  const bool is_trying = state_ == State::connecting || state_ == State::greeting;
  if (!is_trying || shared_.options.rank > rank_) {
    static_cast<void>(adopt(std::move(offered)));
    return;
  }
  shared_.poller.remove(offered.socket.get());
  offered_ = std::move(offered);
}

bool Link::adopt_offered() {
  if (!offered_) return false;
  Admitted offered = std::move(*offered_);
  offered_.reset();
  if (has_been_closed(offered.socket.get())) return false;
  return shared_.poller.add(offered.socket.get(), {PollKey::Kind::link, rank_}).ok() && adopt(std::move(offered));
}

// False for one that stands for nothing any more.
bool Link::adopt(Admitted offered) {
  // One that has waited until now may be older than the present connection.
  if (state_ == State::failed || !sender_.can_resume(offered.hello.progress)) return false;
  if (sender_.has_lost(offered.hello.progress)) {
    // While this connection stands, the hello may be older than messages that have arrived since. If the other end has
    // lost the connection, this end will notice it as well.
    if (is_open()) return false;
    lose();
    return true;
  }
  if (is_open()) set_restoring(true);
  disconnect();
  socket_ = std::move(offered.socket);
  set_patience(socket_.get(), shared_.options.restore_within);
  receiver_.connect();
  const WelcomeBytes welcome = encode(Welcome{.token = shared_.options.token, .progress = receiver_.tell_progress()});
  open(offered.hello.progress);
  // A new connection has room for it.
  if (send_some(socket_.get(), welcome).bytes != welcome.size()) {
    break_off("it did not take the answer");
    return true;
  }
  const Status watched = shared_.poller.change(socket_.get(), {PollKey::Kind::link, rank_});
  if (!watched.ok()) break_off(std::string(watched.message()));
  return true;
}

void Link::open(const Progress& there) {
  state_ = State::open;
  offered_.reset();
  refused_ = 0;
  looked_at_ = heard_at_ = Clock::now();
  sender_.resume(there);
  if (!sender_.has_unsent()) set_restoring(false);
  // What has been taken while there was no connection.
  note_credits();
}

void Link::close() {
  state_ = State::closed;
  set_restoring(false);
}

void Link::disconnect() {
  socket_.reset();
  sender_.disconnect();
  has_ended_ = false;
  send_error_ = 0;
}

void Link::break_off(std::string words, Way way) {
  const Clock::time_point now = Clock::now();
  const bool was_greeting = state_ == State::greeting;
  if (is_open()) set_restoring(true);
  disconnect();
  if (was_greeting) {
    // The other end may make no steps for long; that does not count as trouble.
    broken_since_ += now - greeting_since_;
    return fail_attempt(std::move(words), now);
  }
  trouble_ = break_ = std::move(words);
  if (way == Way::open) attempt_ = 0;
  // Also where nothing has gone or come: the first message may have been on its way.
  begin_waiting(now);
}

void Link::set_restoring(bool is_restoring) {
  if (std::exchange(is_restoring_, is_restoring) == is_restoring) return;
  shared_.restoring += is_restoring ? 1U : -1U;
}

// Sending.

bool Link::send() {
  const Sender::Sent sent = sender_.send(socket_.get(), receiver_);
  if (sent.error != 0) {
    // What is still to be read goes first; the end shows behind it.
    send_error_ = sent.error;
    list_unread();
  } else if (is_restoring_ && !sender_.has_unsent()) {
    set_restoring(false);
  }
  return sent.any;
}

void Link::note_credits() {
  if (receiver_.has_told_all()) return;
  if (!std::exchange(is_owing_, true)) shared_.owing.push_back(this);
  if (receiver_.is_telling_due() && !std::exchange(is_due_, true)) shared_.due.push_back(this);
}

bool Link::tell_due() {
  is_due_ = false;
  return tell();
}

bool Link::tell_owed() {
  is_owing_ = false;
  return tell();
}

bool Link::tell() {
  if (!is_open() || receiver_.has_told_all()) return false;
  sender_.owe_credits();
  return send();
}

// Receiving.

bool Link::on_event(const PollEvent& event) {
  if (state_ == State::connecting && (event.can_write || event.has_ended)) {
    finish_connecting();
    // What has happened to an attempt that failed says nothing of a connection in its place.
    if (state_ != State::greeting) return is_open();
  }
  if (state_ != State::greeting && state_ != State::open) return false;
  has_ended_ = has_ended_ || event.has_ended;
  const bool any = event.can_read && receive();
  if (!is_open()) return any;
  if (event.can_write) sender_.note_room();
  return send() || any;
}

void Link::list_unread() {
  if (!std::exchange(is_unread_, true)) shared_.unread.push_back(this);
}

bool Link::read_on() {
  is_unread_ = false;
  return receive();
}

bool Link::receive() {
  std::size_t total = 0;
  while (socket_.valid() && state_ != State::connecting) {
    std::size_t asked = 0;
    const Received got = receiver_.receive(socket_.get(), asked);
    if (got.has_ended || (got.bytes == 0 && send_error_ != 0)) {
      const bool was_greeting = state_ == State::greeting;
      break_off(was_greeting ? "it closed the connection without an answer"
                             : words_of_error(got.error != 0 ? got.error : send_error_),
                got.error == ETIMEDOUT ? Way::silent : Way::open);
      return true;
    }
    if (got.bytes == 0) break;
    total += got.bytes;
    if (!use_received()) return true;
    // Less than was asked for is all that there is, but for the end.
    if (got.bytes < asked && !has_ended_) break;
    if (total >= kMostAtOnce) {
      list_unread();
      break;
    }
  }
  return total > 0;
}

// False where the connection is no more.
bool Link::use_received() {
  if (state_ == State::greeting && !use_welcome()) {
    break_off("what listens there is no rank of this communicator");
    return false;
  }
  if (!is_open()) return true;
  switch (receiver_.use_frames()) {
    case Receiver::Frames::used: return true;
    case Receiver::Frames::wrong: break_off("it sent what is no message"); return false;
    case Receiver::Frames::bye: break;
  }
  // It leaves. What it has not taken it will never take; whoever wants to send it more has to find it anew.
  break_off("it has left");
  if (!sender_.has_unsent()) close();
  return false;
}

// False for what no rank answers.
bool Link::use_welcome() {
  const std::optional<WelcomeBytes> raw = receiver_.take_welcome();
  if (!raw) return true;
  const std::optional<Welcome> welcome = decode_welcome(*raw);
  if (!welcome || !same_token(welcome->token, shared_.options.token) || !sender_.can_resume(welcome->progress))
    return false;
  if (sender_.has_lost(welcome->progress))
    lose();
  else
    open(welcome->progress);
  return true;
}

}  // namespace tutti::transport::tcp
