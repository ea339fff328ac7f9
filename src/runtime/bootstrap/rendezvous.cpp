// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/rendezvous.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/system/take_fd.hpp"
#include "runtime/bootstrap/rendezvous/state.hpp"

namespace tutti {
namespace {

// Connections that have not said who they are: of this user, and as many of others.
constexpr std::size_t kMostStrangers = 128;
// In the network many hosts' ranks may come at once. From so many strangers on, or ranks on their way to others, the
// next ones stay in the system's queue for a while, but no longer than that: strangers may never speak.
constexpr std::size_t kCrowd = 16;
constexpr std::chrono::milliseconds kCrowdPatience{200};
constexpr std::chrono::milliseconds kCrowdPause{2};
constexpr std::size_t kMostReceived = 4096;
constexpr std::chrono::milliseconds kAcceptPause{50};  // where descriptors have run out
constexpr std::chrono::seconds kAcceptPatience{1};     // how long they may have run out before that is an error

}  // namespace

void RendezvousServer::State::run(int wake_fd) {
  while (!is_over()) {
    try {
      if (!serve_once(wake_fd)) break;
    } catch (const std::bad_alloc&) {
      fail_for_memory();
    }
  }
  // shutdown also reaches copies of these descriptors in children that were forked meanwhile.
  for (Connection& connection : connections) shutdown(connection.socket.get(), SHUT_RDWR);
  connections.clear();
  if (listener.valid()) shutdown(listener.get(), SHUT_RDWR);
  listener.reset();
}

bool RendezvousServer::State::serve_once(int wake_fd) {
  now = Clock::now();
  prepare_poll(wake_fd);
  if (poll(polled.data(), polled.size(), poll_timeout(next_deadline(), now)) < 0) return true;  // EINTR, ENOMEM
  now = Clock::now();
  // By index and for those that were polled: accept_all adds to the end.
  const std::size_t count = polled.size() - 2;
  for (std::size_t i = 0; i < count; ++i) {
    if ((polled[i + 2].revents & POLLOUT) != 0) connections[i].flush();
    if ((polled[i + 2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) receive(connections[i]);
  }
  if (polled[1].revents != 0) accept_all();
  push_progress();
  expire_and_sweep();
  if (is_done() && listener.valid() && (!failure_until || now >= *failure_until)) {
    shutdown(listener.get(), SHUT_RDWR);
    listener.reset();
  }
  return !is_done() || listener.valid() || !connections.empty();
}

// An exception left the state half-changed, so nothing of it is kept.
void RendezvousServer::State::fail_for_memory() noexcept {
  const auto fail = [this](std::uint64_t generation) {
    if (ended.find(generation) != nullptr) return;
    finished.fetch_add(1, std::memory_order_relaxed);
    ended.add({generation, no_memory, kMostRanks});
    failure_until = now + RendezvousConnection::kClosingTime;
  };
  for (const auto& [generation, entry] : open) fail(generation);
  open.clear();
  for (const Connection& connection : connections)
    if (connection.phase == Connection::Phase::member) fail(connection.generation);
  // As in end_generation(), ranks of this process hear of it last.
  for (Connection& connection : connections) {
    if (connection.phase == Connection::Phase::held) continue;
    const bool is_member = connection.phase == Connection::Phase::member;
    if (is_member && connection.pid == getpid()) {
      connection.hold(no_memory_words, now + kFarewell);
      continue;
    }
    // After half a frame, no other frame would be understood.
    if (is_member && connection.out.empty()) static_cast<void>(send_some(connection.socket.get(), *no_memory_words));
    shutdown(connection.socket.get(), SHUT_RDWR);
    connection.phase = Connection::Phase::gone;
  }
  std::erase_if(connections, [](const Connection& each) { return each.phase == Connection::Phase::gone; });
}

void RendezvousServer::State::prepare_poll(int wake_fd) {
  polled.clear();
  polled.push_back({farewell_until ? -1 : wake_fd, POLLIN, 0});
  const bool accepting = listener.valid() && now >= accept_from_then;
  polled.push_back({accepting ? listener.get() : -1, POLLIN, 0});  // poll ignores negative descriptors
  for (const Connection& connection : connections) {
    polled.push_back(
        {connection.socket.get(), static_cast<short>(connection.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  }
}

std::optional<Clock::time_point> RendezvousServer::State::next_deadline() const {
  std::optional<Clock::time_point> next = next_progress;
  const auto consider = [&next](Clock::time_point time) { next = next ? std::min(*next, time) : time; };
  if (now < accept_from_then) consider(accept_from_then);
  if (failure_until && is_done() && listener.valid()) consider(*failure_until);
  if (farewell_until) consider(*farewell_until);
  for (const Connection& connection : connections) {
    if (connection.phase != Connection::Phase::member) consider(connection.deadline);
  }
  return next;
}

void RendezvousServer::State::accept_all() {
  for (std::size_t i = 0; i < kMostStrangers; ++i) {
    if (is_crowded()) {
      accept_from_then = now + kCrowdPause;
      return;
    }
    Result<UniqueFd> socket = accept_from(listener.get());
    if (!socket.ok()) {
      if (make_room(socket.status())) continue;
      accept_from_then = now + kAcceptPause;
      return;
    }
    short_since.reset();
    if (!socket->valid()) return;
    Connection connection;
    connection.socket = std::move(*socket);
    watch_silence(connection.socket.get());
    if (id.address().family == Address::Family::local) {
      const Result<PeerCredentials> who = peer_credentials(connection.socket.get());
      connection.is_foreign = !who.ok() || who->uid != geteuid();
    }
    drop_a_stranger(connection.is_foreign);
    connection.deadline = now + to_chrono(options.hello_deadline);
    connections.push_back(std::move(connection));
  }
}

bool RendezvousServer::State::is_crowded() {
  if (id.address().family == Address::Family::local) return false;
  const auto num_of = [this](auto condition) {
    return static_cast<std::size_t>(std::count_if(connections.begin(), connections.end(), condition));
  };
  const auto holds_up = [this](const Connection& each) {
    return each.phase == Connection::Phase::member && each.on_its_way_until && now < *each.on_its_way_until;
  };
  if (num_of(holds_up) >= kCrowd) return true;
  if (num_of([](const Connection& each) { return each.phase == Connection::Phase::stranger; }) < kCrowd) {
    crowded_since.reset();
    return false;
  }
  if (!crowded_since) crowded_since = now;
  return now < *crowded_since + kCrowdPatience;
}

// The longest silent connection, unless its hello is there by now; connections stand in order of arrival. Other users'
// connections are counted separately, so they cannot displace a rank of this user. They are not refused: root may serve
// the ranks of another user.
void RendezvousServer::State::drop_a_stranger(bool is_foreign) {
  const auto is_of_kind = [is_foreign](const Connection& each) {
    return each.phase == Connection::Phase::stranger && each.is_foreign == is_foreign;
  };
  const auto strangers = std::count_if(connections.begin(), connections.end(), is_of_kind);
  if (static_cast<std::size_t>(strangers) < kMostStrangers) return;
  Connection& oldest = *std::find_if(connections.begin(), connections.end(), is_of_kind);
  bool is_unread = true;
  while (is_unread && oldest.phase == Connection::Phase::stranger) {
    const std::size_t before = oldest.in.size();
    receive(oldest);
    is_unread = oldest.in.size() != before;
  }
  if (oldest.phase == Connection::Phase::stranger) oldest.phase = Connection::Phase::gone;
}

// Descriptors or memory have run out. That may pass, and strangers are ranks that have yet to speak, or are sent away
// when their time is over. Else the ranks at the door cannot come in, and all are told: those who wait for them, whose
// connections then make room, and where nobody is in yet the next one, for whom there is the spare descriptor.
bool RendezvousServer::State::make_room(const Status& shortage) {
  if (!short_since) short_since = now;
  const bool may_pass = std::any_of(connections.begin(), connections.end(), [this](const Connection& each) {
    return each.phase != Connection::Phase::member || (each.on_its_way_until && now < *each.on_its_way_until);
  });
  if (may_pass || now < *short_since + kAcceptPatience) return false;
  const Status words = shortage.with_context(
      fmt::format("process {}, which serves the rendezvous, cannot let another rank in", getpid()));
  std::vector<std::uint64_t> waiting;
  for (const auto& [generation, entry] : open)
    if (!entry.gathering.all_arrived()) waiting.push_back(generation);
  for (const std::uint64_t generation : waiting) end_generation(generation, words);
  short_since.reset();
  return waiting.empty() && std::exchange(spare, UniqueFd()).valid();
}

void RendezvousServer::State::receive(Connection& connection) {
  if (connection.phase == Connection::Phase::gone) return;
  // A stranger gets no room beyond the prefix until its token is right.
  std::size_t room = kMostReceived;
  if (connection.phase == Connection::Phase::stranger) {
    const std::size_t whole = wire::kPrefixBytes + (connection.prefix ? connection.prefix->body_bytes : 0);
    room = std::min(room, whole - connection.in.size());
  }
  std::array<std::byte, kMostReceived> bytes{};
  const SocketTransfer got = receive_some(connection.socket.get(), std::span(bytes).first(room));
  if (got.outcome == SocketTransfer::Outcome::would_block) return;
  if (got.outcome == SocketTransfer::Outcome::closed) return hung_up(connection);
  if (connection.phase == Connection::Phase::closing || connection.phase == Connection::Phase::held) return;
  connection.in.insert(connection.in.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  if (connection.phase == Connection::Phase::stranger) {
    greet(connection);
  } else {
    obey_frames(connection);
  }
}

void RendezvousServer::State::greet(Connection& connection) {
  if (!wire::may_be_hello(connection.in)) {
    connection.phase = Connection::Phase::gone;
    return;
  }
  if (connection.in.size() < wire::kPrefixBytes) return;
  const std::span<const std::byte> in = connection.in;
  if (!connection.prefix) {
    connection.prefix = wire::parse_prefix(in.first<wire::kPrefixBytes>(), id.token());
    if (!connection.prefix) {
      connection.phase = Connection::Phase::gone;
      return;
    }
  }
  const wire::Prefix prefix = *connection.prefix;
  if (prefix.version != wire::kVersion) {
    // Its body cannot be read, but all who wait for it can be told.
    wire::Hello hello;
    hello.version = prefix.version;
    hello.generation = prefix.generation;
    hello.rank = static_cast<int>(prefix.rank);
    return admit(connection, std::move(hello));
  }
  if (prefix.body_bytes > wire::kMostHelloBytes) {
    connection.phase = Connection::Phase::gone;
    return;
  }
  if (in.size() < wire::kPrefixBytes + prefix.body_bytes) return;
  Result<wire::Hello> hello = wire::parse_body(prefix, in.subspan(wire::kPrefixBytes));
  if (!hello.ok()) {
    connection.phase = Connection::Phase::gone;
    return;
  }
  connection.in.clear();
  admit(connection, std::move(*hello));
}

void RendezvousServer::State::expire_and_sweep() {
  for (Connection& connection : connections) {
    const bool bounded = connection.phase != Connection::Phase::member;
    if (connection.phase == Connection::Phase::held && now >= connection.deadline) connection.release(now);
    if (bounded && now >= connection.deadline) connection.phase = Connection::Phase::gone;
    if (connection.phase == Connection::Phase::gone) shutdown(connection.socket.get(), SHUT_RDWR);
  }
  std::erase_if(connections, [](const Connection& c) { return c.phase == Connection::Phase::gone; });
  if (!spare.valid() && !short_since) spare = take_fd(eventfd(0, EFD_CLOEXEC));
}

bool RendezvousServer::State::is_over() {
  if (!stopping.load(std::memory_order_relaxed)) return false;
  now = Clock::now();
  if (!failure_until || now >= *failure_until) return true;
  if (!farewell_until) farewell_until = now + kFarewell;
  return now >= *farewell_until;
}

RendezvousServer::RendezvousServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<RendezvousServer>> RendezvousServer::start(const RendezvousOptions& options) {
  TUTTI_TRY_ASSIGN(const Address address, options.address ? *options.address : make_local_address());
  Result<Listener> listener = listen_at(address);
  if (!listener.ok()) return listener.status().with_context("cannot start the rendezvous");
  TUTTI_TRY_ASSIGN(UniqueId id, UniqueId::make(listener->address));
  auto state = std::make_unique<State>(id, std::move(listener->socket), options);
  state->spare = take_fd(eventfd(0, EFD_CLOEXEC));
  if (!state->spare.valid()) return Status::from_errno("cannot start the rendezvous", errno);
  State* const work = state.get();
  // Nothing may fail between the thread's start and the existence of the owner that ends it, so the owner comes first.
  std::unique_ptr<RendezvousServer> server(new RendezvousServer(std::move(state)));
  Result<std::unique_ptr<ServiceThread>> thread =
      ServiceThread::start("tutti-meet", [work](int wake_fd) { work->run(wake_fd); });
  if (!thread.ok()) return thread.status().with_context("cannot start the rendezvous");
  work->thread = std::move(*thread);
  return server;
}

RendezvousServer::~RendezvousServer() {
  if (!state_->thread) return;
  if (!state_->thread->is_here()) {
    abandon(std::move(state_));
    return;
  }
  state_->stopping.store(true, std::memory_order_relaxed);
  state_->thread->wake();
  state_->thread->finish();
}

const UniqueId& RendezvousServer::id() const { return state_->id; }

std::uint64_t RendezvousServer::arrived() const { return state_->arrived.load(std::memory_order_relaxed); }

std::uint64_t RendezvousServer::finished() const { return state_->finished.load(std::memory_order_relaxed); }

}  // namespace tutti
