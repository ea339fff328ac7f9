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

// What ranks say to each other on the tree.
namespace tree {

// One packet: type, the rank that it is about (4 bytes), a number (8 bytes, of which these are little-endian), words.
// On a stream a packet is always whole, with zeros behind its words.
enum class MessageKind : std::uint8_t { left = 1, lost = 2, aborted = 3, broken = 4 };
constexpr std::size_t kHeaderBytes = 13;
constexpr std::size_t kMostWords = 256;

constexpr std::chrono::milliseconds kBetweenLooks{100};

using Packet = std::array<std::byte, kHeaderBytes + kMostWords>;

// Its text has a fixed buffer: the watch allocates nothing while it runs, so that no lack of memory ends it.
struct Message {
  MessageKind type{};
  int rank = 0;
  std::uint64_t number = 0;  // left: after how many operations; broken: the code
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
  const auto said = link.is_far ? fmt::format_to_n(message.text.data(), message.text.size(),
                                                   "its process ended, or its host is not reached any more")
                    : link.pid > 0
                        ? fmt::format_to_n(message.text.data(), message.text.size(), "its process {} ended", link.pid)
                        : fmt::format_to_n(message.text.data(), message.text.size(), "its process ended");
  message.length = std::min(said.size, message.text.size());
  return message;
}

std::span<const std::byte> encode(const Message& message, Packet& packet) {
  packet[0] = static_cast<std::byte>(message.type);
  for (std::size_t i = 0; i < 4; ++i)
    packet[1 + i] = static_cast<std::byte>(static_cast<std::uint32_t>(message.rank) >> (8 * i));
  for (std::size_t i = 0; i < 8; ++i) packet[5 + i] = static_cast<std::byte>(message.number >> (8 * i));
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
      type >= static_cast<std::uint8_t>(MessageKind::left) && type <= static_cast<std::uint8_t>(MessageKind::broken);
  if (!known || rank >= static_cast<std::uint32_t>(num_ranks)) return std::nullopt;
  const auto rest = bytes.subspan(kHeaderBytes);
  const std::string_view words(reinterpret_cast<const char*>(rest.data()), rest.size());
  Message message =
      make_message(static_cast<MessageKind>(type), static_cast<int>(rank), words.substr(0, words.find('\0')));
  for (std::size_t i = 8; i >= 1; --i)
    message.number = (message.number << 8) | std::to_integer<std::uint64_t>(bytes[4 + i]);
  return message;
}

}  // namespace tree

struct FailureWatch::State {
  struct Peer {
    RankLink link;
    std::size_t next = 0;  // of `said`: the first that it has not been sent
    // Of a stream: what has come of a packet, and the packet that is on its way, of which so much is sent.
    tree::Packet in{};
    std::size_t come = 0;
    tree::Packet out{};
    std::size_t sent = 0;

    [[nodiscard]] bool is_open() const { return link.socket.valid(); }
    [[nodiscard]] bool has_more(std::size_t all) const { return next < all || (sent > 0 && sent < out.size()); }
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
  // Passes on what this rank has asked for; whether it leaves. Then the last words say after how many operations.
  bool take_requests(tree::Message& last_words);
  // Sends what fits into the socket; the rest waits until there is room.
  void flush(Peer& peer);
  // Of a stream. Whether there may be room for more.
  bool flush_packet(Peer& peer);
  void serve(Peer& peer, bool ended);
  [[nodiscard]] SocketTransfer::Outcome receive(Peer& peer);
  void take(Peer& from, const tree::Message& message);
  // Reports it here, and where this rank is somebody's parent to all others.
  void announce(const tree::Message& message);
  // Whether that is new.
  bool report(const tree::Message& message);
  void send_to_others(const tree::Message& message);
  // Whether this rank has to look after the others itself.
  [[nodiscard]] bool is_on_its_own() const { return parent_is_gone && signs.find_lost && !has_found; }
  void look_for_lost();

  int rank = 0;
  int num_ranks = 0;
  FailureEvents events;
  LifeSigns signs;
  std::vector<Peer> peers;
  // What has been said to the others, with room for all possible messages, but for words of a few only: what is said
  // after the first losses ends nothing that is not over.
  struct Said {
    tree::MessageKind type{};
    std::uint8_t words = 0;  // where they stand, from 1; 0: none
    int rank = 0;
    std::uint64_t number = 0;
  };
  [[nodiscard]] tree::Message message(const Said& each) const {
    tree::Message message{.type = each.type, .rank = each.rank, .number = each.number};
    if (each.words == 0) return message;
    message.length = said_words[each.words - 1U].length;
    message.text = said_words[each.words - 1U].text;
    return message;
  }
  static constexpr std::size_t kMostWordsKept = 16;
  std::vector<Said> said;
  std::vector<tree::Message> said_words;
  std::vector<bool> gone;     // by rank: reported as lost or left
  std::vector<bool> aborted;  // by rank: reported to have aborted
  bool is_broken = false;     // reported
  int parent = -1;            // the rank; -1: this is rank 0
  bool is_parent = false;     // of others
  bool parent_is_gone = false;
  bool has_found = false;  // one is enough: it ends everything
  std::vector<pollfd> polled;
  std::latch has_begun{1};

  std::mutex mutex;
  std::optional<tree::Message> abort_request;  // guarded by mutex
  bool abort_called = false;                   // guarded by mutex
  std::optional<tree::Message> break_request;  // guarded by mutex
  bool break_called = false;                   // guarded by mutex
  bool stopping = false;                       // guarded by mutex
  std::uint64_t operations = 0;                // guarded by mutex: of this rank, when it leaves

  std::unique_ptr<ServiceThread> thread;  // last, so that it ends before what it works on
};

void FailureWatch::State::run(int wake_fd) {
  tree::Message last_words = tree::make_message(tree::MessageKind::left, rank);
  if (signs.give) signs.give();
  has_begun.count_down();
  for (;;) {
    if (take_requests(last_words)) break;
    if (is_on_its_own()) look_for_lost();

    prepare_poll(wake_fd);
    const int timeout = is_on_its_own() ? static_cast<int>(tree::kBetweenLooks.count()) : -1;
    if (poll(polled.data(), polled.size(), timeout) < 0) continue;  // EINTR, ENOMEM
    if (polled[0].revents != 0) clear_wake(wake_fd);
    // What this rank has found goes out before what others do because of it.
    if (take_requests(last_words)) break;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const pollfd& socket = polled[1 + 2 * i];
      const bool ended = polled[2 + 2 * i].revents != 0;
      if ((socket.revents & POLLOUT) != 0) flush(peers[i]);
      if (ended || (socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0) serve(peers[i], ended);
    }
  }
  send_to_others(last_words);
  for (Peer& peer : peers) peer.close();
  if (signs.take_back) signs.take_back();
}

bool FailureWatch::State::take_requests(tree::Message& last_words) {
  std::optional<tree::Message> request;
  std::optional<tree::Message> breakage;
  bool stop_now = false;
  {
    const std::lock_guard lock(mutex);
    request.swap(abort_request);
    breakage.swap(break_request);
    stop_now = stopping;
    last_words.number = operations;
  }
  // The breakage first: a rank that aborts because of it is not its cause.
  if (breakage && !std::exchange(is_broken, true)) send_to_others(*breakage);
  if (request) send_to_others(*request);
  return stop_now;
}

void FailureWatch::State::look_for_lost() {
  const std::optional<int> lost = signs.find_lost();
  if (!lost) return;
  has_found = true;
  static_cast<void>(report(tree::make_message(tree::MessageKind::lost, *lost, "its process ended")));
}

// Two entries a peer, so that positions tell who it is; poll ignores descriptors of -1.
void FailureWatch::State::prepare_poll(int wake_fd) {
  polled.clear();
  polled.push_back({wake_fd, POLLIN, 0});
  for (const Peer& peer : peers) {
    const auto wanted = static_cast<short>(peer.has_more(said.size()) ? POLLIN | POLLOUT : POLLIN);
    polled.push_back({peer.link.socket.get(), wanted, 0});
    polled.push_back({peer.link.pidfd.get(), POLLIN, 0});
  }
}

// What a process sent before it ended is in the socket by then, so all of that is read before the end counts.
void FailureWatch::State::serve(Peer& peer, bool ended) {
  while (peer.is_open()) {
    const SocketTransfer::Outcome got = receive(peer);
    if (got == SocketTransfer::Outcome::done) continue;
    if (got == SocketTransfer::Outcome::would_block && !ended) return;
    peer.close();
    announce(tree::of_end(peer.link));
  }
}

SocketTransfer::Outcome FailureWatch::State::receive(Peer& peer) {
  const SocketTransfer got = receive_some(peer.link.socket.get(), std::span(peer.in).subspan(peer.come));
  if (got.outcome != SocketTransfer::Outcome::done) return got.outcome;
  peer.come += got.bytes;
  if (peer.link.is_far && peer.come < peer.in.size()) return got.outcome;
  const std::size_t length = std::exchange(peer.come, 0);
  if (const auto message = tree::parse(std::span(peer.in).first(length), num_ranks)) take(peer, *message);
  return got.outcome;
}

void FailureWatch::State::take(Peer& from, const tree::Message& message) {
  // A parent speaks for all, the leader of another host for those there, everyone else for itself; but anyone may say
  // that all is to end.
  const bool speaks_for_others = from.link.is_parent || from.link.is_far;
  if (message.type != tree::MessageKind::broken && !speaks_for_others && message.rank != from.link.rank) return;
  if (message.type == tree::MessageKind::left && message.rank == from.link.rank) from.close();
  announce(message);
}

void FailureWatch::State::announce(const tree::Message& message) {
  if (report(message) && is_parent) send_to_others(message);
}

bool FailureWatch::State::report(const tree::Message& message) {
  const auto who = static_cast<std::size_t>(message.rank);
  if (message.type == tree::MessageKind::broken) {
    const bool is_code = message.number > 0 && message.number <= static_cast<std::uint64_t>(Code::internal);
    if (!is_code || std::exchange(is_broken, true)) return false;
    if (events.on_broken) events.on_broken(message.rank, static_cast<Code>(message.number), message.words());
    return true;
  }
  if (message.type == tree::MessageKind::aborted) {
    if (aborted[who]) return false;
    aborted[who] = true;
    if (events.on_abort) events.on_abort(message.rank, message.words());
    return true;
  }
  if (gone[who]) return false;
  gone[who] = true;
  parent_is_gone = parent_is_gone || message.rank == parent;
  if (message.type == tree::MessageKind::left) {
    if (events.on_left) events.on_left(message.rank, message.number);
  } else if (events.on_lost) {
    events.on_lost(message.rank, message.words());
  }
  return true;
}

void FailureWatch::State::send_to_others(const tree::Message& message) {
  TUTTI_ASSERT(said.size() < said.capacity(), "of each rank the others are told at most twice, and once of all");
  Said kept{.type = message.type, .rank = message.rank, .number = message.number};
  if (message.length > 0 && said_words.size() < said_words.capacity()) {
    said_words.push_back(message);
    kept.words = static_cast<std::uint8_t>(said_words.size());
  }
  said.push_back(kept);
  for (Peer& peer : peers) flush(peer);
}

bool FailureWatch::State::flush_packet(Peer& peer) {
  while (peer.sent > 0 && peer.sent < peer.out.size()) {
    const SocketTransfer sent = send_some(peer.link.socket.get(), std::span(peer.out).subspan(peer.sent));
    if (sent.outcome != SocketTransfer::Outcome::done) return sent.outcome == SocketTransfer::Outcome::closed;
    peer.sent += sent.bytes;
  }
  return true;
}

void FailureWatch::State::flush(Peer& peer) {
  tree::Packet packet{};
  if (peer.is_open() && !flush_packet(peer)) return;
  for (; peer.is_open() && peer.next < said.size(); ++peer.next) {
    const tree::Message message = this->message(said[peer.next]);
    // Who it is about knows it, unless it is about all.
    if (message.type != tree::MessageKind::broken && message.rank == peer.link.rank) continue;
    // Otherwise it is sent, or the peer is gone, which reading will show.
    const std::span<const std::byte> used = tree::encode(message, packet);
    if (peer.link.is_far) {
      std::fill(std::copy(used.begin(), used.end(), peer.out.begin()), peer.out.end(), std::byte{0});
      const SocketTransfer sent = send_some(peer.link.socket.get(), peer.out);
      if (sent.outcome == SocketTransfer::Outcome::would_block) return;
      peer.sent = sent.bytes;
      if (flush_packet(peer)) continue;
      ++peer.next;
      return;
    }
    const SocketTransfer sent = send_some(peer.link.socket.get(), used);
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
  for (const RankLink& link : links.peers) {
    state->is_parent = state->is_parent || !link.is_parent;
    if (link.is_parent) state->parent = link.rank;
  }
  const std::size_t most_said = 1 + 2 * static_cast<std::size_t>(state->is_parent ? links.num_ranks : 1);
  state->said.reserve(most_said);
  state->said_words.reserve(State::kMostWordsKept);
  state->peers.reserve(links.peers.size());
  for (RankLink& link : links.peers) state->peers.emplace_back().link = std::move(link);
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
    state_->abort_request = tree::make_message(tree::MessageKind::aborted, state_->rank, reason);
  }
  state_->thread->wake();
}

void FailureWatch::tell_broken(int rank, Code code, std::string_view words) {
  if (!state_->thread->is_here()) return;
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->break_called, true)) return;
    state_->break_request = tree::make_message(tree::MessageKind::broken, rank, words);
    state_->break_request->number = static_cast<std::uint64_t>(code);
  }
  state_->thread->wake();
}

void FailureWatch::forsake() noexcept {
  for (State::Peer& peer : state_->peers)
    if (peer.link.is_far) peer.link.socket.reset();
}

void FailureWatch::stop(std::uint64_t operations) {
  if (state_->thread->is_here()) {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->operations = operations;
  }
  state_->thread->wake();
  state_->thread->finish();
}

}  // namespace tutti
