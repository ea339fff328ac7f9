// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/failure_watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/assert.hpp"
#include "base/system/socket.hpp"
#include "runtime/bootstrap/service_thread.hpp"

namespace tutti {

// What ranks say to each other on the star.
namespace star {

// One packet on the star: type, the rank that it is about (4 bytes, little-endian), words.
enum class MessageKind : std::uint8_t { left = 1, lost = 2, aborted = 3 };
constexpr std::size_t kHeaderBytes = 5;
constexpr std::size_t kMostWords = 256;

constexpr std::chrono::milliseconds kBetweenLooks{100};

using Packet = std::array<std::byte, kHeaderBytes + kMostWords>;

// Its text has a fixed buffer: the watch allocates nothing while it runs, so that no lack of memory ends it.
struct Message {
  MessageKind type{};
  int rank = 0;
  std::size_t length = 0;
  std::array<char, kMostWords> text{};

  [[nodiscard]] std::string_view words() const { return {text.data(), length}; }
};

Message make_message(MessageKind type, int rank, std::string_view words = {}) {
  Message message{.type = type, .rank = rank};
  message.length = words.copy(message.text.data(), message.text.size());
  return message;
}

Message of_end(const RankLink& link) {
  Message message{.type = MessageKind::lost, .rank = link.rank};
  const auto said = link.pid > 0
                        ? fmt::format_to_n(message.text.data(), message.text.size(), "its process {} ended", link.pid)
                        : fmt::format_to_n(message.text.data(), message.text.size(), "its process ended");
  message.length = std::min(said.size, message.text.size());
  return message;
}

std::span<const std::byte> encode(const Message& message, Packet& packet) {
  packet[0] = static_cast<std::byte>(message.type);
  for (std::size_t i = 0; i < 4; ++i)
    packet[1 + i] = static_cast<std::byte>(static_cast<std::uint32_t>(message.rank) >> (8 * i));
  const auto words = std::as_bytes(std::span(message.words()));
  std::copy(words.begin(), words.end(), packet.begin() + kHeaderBytes);
  return std::span(packet).first(kHeaderBytes + words.size());
}

std::optional<Message> parse(std::span<const std::byte> bytes, int num_ranks) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto type = std::to_integer<std::uint8_t>(bytes[0]);
  std::uint32_t rank = 0;
  for (std::size_t i = 4; i >= 1; --i) rank = (rank << 8) | std::to_integer<std::uint32_t>(bytes[i]);
  const bool known =
      type >= static_cast<std::uint8_t>(MessageKind::left) && type <= static_cast<std::uint8_t>(MessageKind::aborted);
  if (!known || rank >= static_cast<std::uint32_t>(num_ranks)) return std::nullopt;
  const auto words = bytes.subspan(kHeaderBytes);
  return make_message(static_cast<MessageKind>(type), static_cast<int>(rank),
                      {reinterpret_cast<const char*>(words.data()), words.size()});
}

}  // namespace star

struct FailureWatch::State {
  struct Peer {
    RankLink link;
    std::size_t next = 0;  // of `said`: the first that it has not been sent

    [[nodiscard]] bool is_open() const { return link.socket.valid(); }
    // shutdown also reaches copies of the socket in children that were forked meanwhile.
    void close() {
      if (!is_open()) return;
      shutdown(link.socket.get(), SHUT_RDWR);
      link.socket.reset();
      link.pidfd.reset();
    }
  };

  void run(int wake_fd);
  void prepare_poll(int wake_fd);
  // Sends what fits into the socket; the rest waits until there is room.
  void flush(Peer& peer);
  void serve(Peer& peer, bool ended);
  void take(Peer& from, const star::Message& message);
  // Reports it here, and where this is rank 0 to all others.
  void announce(const star::Message& message);
  // Whether that is new.
  bool report(const star::Message& message);
  void send_to_others(const star::Message& message);
  // Whether this rank has to look after the others itself.
  [[nodiscard]] bool is_on_its_own() const { return leader_is_gone && signs.find_lost && !has_found; }
  void look_for_lost();

  int rank = 0;
  int num_ranks = 0;
  FailureEvents events;
  LifeSigns signs;
  std::vector<Peer> peers;
  std::vector<star::Message> said;  // to the others, with room for all possible messages
  std::vector<bool> gone;           // by rank: reported as lost or left
  std::vector<bool> aborted;        // by rank: reported to have aborted
  bool leader_is_gone = false;
  bool has_found = false;  // one is enough: it ends everything
  std::vector<pollfd> polled;
  std::latch has_begun{1};

  std::mutex mutex;
  std::optional<star::Message> abort_request;  // guarded by mutex
  bool abort_called = false;                   // guarded by mutex
  bool stopping = false;                       // guarded by mutex

  std::unique_ptr<ServiceThread> thread;  // last, so that it ends before what it works on
};

void FailureWatch::State::run(int wake_fd) {
  if (signs.give) signs.give();
  has_begun.count_down();
  for (;;) {
    std::optional<star::Message> request;
    bool stop_now = false;
    {
      const std::lock_guard lock(mutex);
      request.swap(abort_request);
      stop_now = stopping;
    }
    if (request) send_to_others(*request);
    if (stop_now) break;
    if (is_on_its_own()) look_for_lost();

    prepare_poll(wake_fd);
    const int timeout = is_on_its_own() ? static_cast<int>(star::kBetweenLooks.count()) : -1;
    if (poll(polled.data(), polled.size(), timeout) < 0) continue;  // EINTR, ENOMEM
    if (polled[0].revents != 0) clear_wake(wake_fd);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const pollfd& socket = polled[1 + 2 * i];
      const bool ended = polled[2 + 2 * i].revents != 0;
      if ((socket.revents & POLLOUT) != 0) flush(peers[i]);
      if (ended || (socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0) serve(peers[i], ended);
    }
  }
  send_to_others(star::make_message(star::MessageKind::left, rank));
  for (Peer& peer : peers) peer.close();
  if (signs.take_back) signs.take_back();
}

void FailureWatch::State::look_for_lost() {
  const std::optional<int> lost = signs.find_lost();
  if (!lost) return;
  has_found = true;
  static_cast<void>(report(star::make_message(star::MessageKind::lost, *lost, "its process ended")));
}

// Two entries a peer, so that positions tell who it is; poll ignores descriptors of -1.
void FailureWatch::State::prepare_poll(int wake_fd) {
  polled.clear();
  polled.push_back({wake_fd, POLLIN, 0});
  for (const Peer& peer : peers) {
    const auto wanted = static_cast<short>(peer.next == said.size() ? POLLIN : POLLIN | POLLOUT);
    polled.push_back({peer.link.socket.get(), wanted, 0});
    polled.push_back({peer.link.pidfd.get(), POLLIN, 0});
  }
}

// What a process sent before it ended is in the socket by then, so all of that is read before the end counts.
void FailureWatch::State::serve(Peer& peer, bool ended) {
  star::Packet bytes{};
  while (peer.is_open()) {
    const SocketTransfer got = receive_some(peer.link.socket.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::done) {
      if (const auto message = star::parse(std::span(bytes).first(got.bytes), num_ranks)) take(peer, *message);
      continue;
    }
    if (got.outcome == SocketTransfer::Outcome::would_block && !ended) return;
    peer.close();
    announce(star::of_end(peer.link));
  }
}

void FailureWatch::State::take(Peer& from, const star::Message& message) {
  // Rank 0 speaks for all, everyone else for itself.
  if (rank == 0 && message.rank != from.link.rank) return;
  if (message.type == star::MessageKind::left && message.rank == from.link.rank) from.close();
  announce(message);
}

void FailureWatch::State::announce(const star::Message& message) {
  if (report(message) && rank == 0) send_to_others(message);
}

bool FailureWatch::State::report(const star::Message& message) {
  const auto who = static_cast<std::size_t>(message.rank);
  if (message.type == star::MessageKind::aborted) {
    if (aborted[who]) return false;
    aborted[who] = true;
    if (events.on_abort) events.on_abort(message.rank, message.words());
    return true;
  }
  if (gone[who]) return false;
  gone[who] = true;
  leader_is_gone = leader_is_gone || message.rank == 0;
  if (message.type == star::MessageKind::left) {
    if (events.on_left) events.on_left(message.rank);
  } else if (events.on_lost) {
    events.on_lost(message.rank, message.words());
  }
  return true;
}

void FailureWatch::State::send_to_others(const star::Message& message) {
  TUTTI_ASSERT(said.size() < said.capacity(), "of each rank the others are told at most twice");
  said.push_back(message);
  for (Peer& peer : peers) flush(peer);
}

void FailureWatch::State::flush(Peer& peer) {
  star::Packet packet{};
  for (; peer.is_open() && peer.next < said.size(); ++peer.next) {
    const star::Message& message = said[peer.next];
    if (message.rank == peer.link.rank) continue;
    // Otherwise it is sent, or the peer is gone, which reading will show.
    const SocketTransfer sent = send_some(peer.link.socket.get(), star::encode(message, packet));
    if (sent.outcome == SocketTransfer::Outcome::would_block) return;
  }
}

FailureWatch::FailureWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<FailureWatch>> FailureWatch::start(Links links, FailureEvents events, LifeSigns signs) {
  auto state = std::make_unique<State>();
  state->rank = links.rank;
  state->num_ranks = links.num_ranks;
  state->events = std::move(events);
  state->signs = std::move(signs);
  state->gone.resize(static_cast<std::size_t>(links.num_ranks));
  state->aborted.resize(static_cast<std::size_t>(links.num_ranks));
  // All memory that the thread needs; it allocates none itself.
  const std::size_t most_said = 2 * static_cast<std::size_t>(links.rank == 0 ? links.num_ranks : 1);
  state->said.reserve(most_said);
  state->peers.reserve(links.peers.size());
  for (RankLink& link : links.peers) state->peers.push_back({std::move(link), 0});
  state->polled.reserve(1 + 2 * state->peers.size());
  State* const work = state.get();
  // Nothing may fail between the thread's start and the existence of the owner that ends it, so the owner comes first.
  std::unique_ptr<FailureWatch> watch(new FailureWatch(std::move(state)));
  Result<std::unique_ptr<ServiceThread>> thread =
      ServiceThread::start("tutti-watch", [work](int wake_fd) { work->run(wake_fd); });
  if (!thread.ok()) return thread.status().with_context("cannot watch over the other ranks");
  work->thread = std::move(*thread);
  work->has_begun.wait();
  return watch;
}

FailureWatch::~FailureWatch() {
  if (!state_->thread) return;
  if (state_->thread->is_here())
    stop();
  else
    abandon(std::move(state_));
}

void FailureWatch::abort(std::string_view reason) {
  if (!state_->thread->is_here()) return;
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->abort_called, true)) return;
    state_->abort_request = star::make_message(star::MessageKind::aborted, state_->rank, reason);
  }
  state_->thread->wake();
}

void FailureWatch::stop() {
  if (state_->thread->is_here()) {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->thread->wake();
  state_->thread->finish();
}

}  // namespace tutti
