#include "runtime/failure_watch.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/socket.hpp"
#include "runtime/service_thread.hpp"

namespace tutti {
namespace {

// One packet on the star: type, the rank that it is about (4 bytes, little-endian), words.
enum class MessageKind : std::uint8_t { left = 1, lost = 2, aborted = 3 };
constexpr std::size_t kHeaderBytes = 5;
constexpr std::size_t kMostWords = 256;

constexpr std::chrono::milliseconds kBetweenLooks{100};

struct Message {
  MessageKind type{};
  int rank = 0;
  std::string words;
};

std::vector<std::byte> encode(const Message& message) {
  const std::string_view words = std::string_view(message.words).substr(0, kMostWords);
  std::vector<std::byte> bytes = {static_cast<std::byte>(message.type)};
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<std::byte>(static_cast<std::uint32_t>(message.rank) >> shift));
  }
  for (const char c : words) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

std::optional<Message> parse(std::span<const std::byte> bytes, int num_ranks) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto type = std::to_integer<std::uint8_t>(bytes[0]);
  std::uint32_t rank = 0;
  for (std::size_t i = 4; i >= 1; --i) rank = (rank << 8) | std::to_integer<std::uint32_t>(bytes[i]);
  const bool known =
      type >= static_cast<std::uint8_t>(MessageKind::left) && type <= static_cast<std::uint8_t>(MessageKind::aborted);
  if (!known || rank >= static_cast<std::uint32_t>(num_ranks)) return std::nullopt;
  Message message{static_cast<MessageKind>(type), static_cast<int>(rank), {}};
  for (const std::byte byte : bytes.subspan(kHeaderBytes)) message.words += static_cast<char>(byte);
  return message;
}

}  // namespace

struct FailureWatch::State {
  struct Peer {
    RankLink link;
    std::deque<std::vector<std::byte>> pending;  // what did not fit into the socket yet

    [[nodiscard]] bool is_open() const { return link.socket.valid(); }
    // shutdown also reaches copies of the socket in children that were forked meanwhile.
    void close() {
      if (!is_open()) return;
      shutdown(link.socket.get(), SHUT_RDWR);
      link.socket.reset();
      link.pidfd.reset();
      pending.clear();
    }
    void flush() {
      while (is_open() && !pending.empty()) {
        if (send_some(link.socket.get(), pending.front()).outcome == SocketTransfer::Outcome::would_block) return;
        pending.pop_front();  // sent, or the peer is gone, which reading will tell
      }
    }
    void send(const std::vector<std::byte>& bytes) {
      if (!is_open()) return;
      pending.push_back(bytes);
      flush();
    }
  };

  void run(int wake_fd);
  void prepare_poll(int wake_fd);
  void serve(Peer& peer, bool ended);
  void take(Peer& from, const Message& message);
  // Reports it here, and where this is rank 0 to all others.
  void announce(const Message& message);
  void report(const Message& message);
  void send_to_others(const Message& message);
  // Whether this rank has to look after the others itself.
  [[nodiscard]] bool is_on_its_own() const { return leader_is_gone && signs.find_lost && !has_found; }
  void look_for_lost();

  int rank = 0;
  int num_ranks = 0;
  FailureEvents events;
  LifeSigns signs;
  std::vector<Peer> peers;
  std::vector<bool> gone;     // by rank: reported as lost or left
  std::vector<bool> aborted;  // by rank: reported to have aborted
  bool leader_is_gone = false;
  bool has_found = false;  // one is enough: it ends everything
  std::vector<pollfd> polled;
  std::latch has_begun{1};

  std::mutex mutex;
  std::optional<std::string> abort_request;  // guarded by mutex
  bool abort_called = false;                 // guarded by mutex
  bool stopping = false;                     // guarded by mutex

  std::unique_ptr<ServiceThread> thread;  // last, so that it ends before what it works on
};

void FailureWatch::State::run(int wake_fd) {
  if (signs.give) signs.give();
  has_begun.count_down();
  for (;;) {
    std::optional<std::string> request;
    bool stop_now = false;
    {
      const std::lock_guard lock(mutex);
      request.swap(abort_request);
      stop_now = stopping;
    }
    if (request) send_to_others({MessageKind::aborted, rank, std::move(*request)});
    if (stop_now) break;
    if (is_on_its_own()) look_for_lost();

    prepare_poll(wake_fd);
    const int timeout = is_on_its_own() ? static_cast<int>(kBetweenLooks.count()) : -1;
    if (poll(polled.data(), polled.size(), timeout) < 0) continue;  // EINTR, ENOMEM
    if (polled[0].revents != 0) clear_wake(wake_fd);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const pollfd& socket = polled[1 + 2 * i];
      const bool ended = polled[2 + 2 * i].revents != 0;
      if ((socket.revents & POLLOUT) != 0) peers[i].flush();
      if (ended || (socket.revents & (POLLIN | POLLHUP | POLLERR)) != 0) serve(peers[i], ended);
    }
  }
  send_to_others({MessageKind::left, rank, {}});
  for (Peer& peer : peers) peer.close();
  if (signs.take_back) signs.take_back();
}

void FailureWatch::State::look_for_lost() {
  const std::optional<int> lost = signs.find_lost();
  if (!lost) return;
  has_found = true;
  report({MessageKind::lost, *lost, "its process ended"});
}

// Two entries a peer, so that positions tell who it is; poll ignores descriptors of -1.
void FailureWatch::State::prepare_poll(int wake_fd) {
  polled.clear();
  polled.push_back({wake_fd, POLLIN, 0});
  for (const Peer& peer : peers) {
    const auto wanted = static_cast<short>(peer.pending.empty() ? POLLIN : POLLIN | POLLOUT);
    polled.push_back({peer.link.socket.get(), wanted, 0});
    polled.push_back({peer.link.pidfd.get(), POLLIN, 0});
  }
}

// What a process sent before it ended is in the socket by then, so all of that is read before the end counts.
void FailureWatch::State::serve(Peer& peer, bool ended) {
  std::array<std::byte, kHeaderBytes + kMostWords> bytes{};
  while (peer.is_open()) {
    const SocketTransfer got = receive_some(peer.link.socket.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::done) {
      if (const auto message = parse(std::span(bytes).first(got.bytes), num_ranks)) take(peer, *message);
      continue;
    }
    if (got.outcome == SocketTransfer::Outcome::would_block && !ended) return;
    peer.close();
    announce({MessageKind::lost, peer.link.rank,
              peer.link.pid > 0 ? fmt::format("its process {} ended", peer.link.pid) : "its process ended"});
  }
}

void FailureWatch::State::take(Peer& from, const Message& message) {
  // Rank 0 speaks for all, everyone else for itself.
  if (rank == 0 && message.rank != from.link.rank) return;
  if (message.type == MessageKind::left && message.rank == from.link.rank) from.close();
  announce(message);
}

void FailureWatch::State::announce(const Message& message) {
  report(message);
  if (rank == 0) send_to_others(message);
}

void FailureWatch::State::report(const Message& message) {
  const auto who = static_cast<std::size_t>(message.rank);
  if (message.type == MessageKind::aborted) {
    if (aborted[who]) return;
    aborted[who] = true;
    if (events.on_abort) events.on_abort(message.rank, message.words);
    return;
  }
  if (gone[who]) return;
  gone[who] = true;
  leader_is_gone = leader_is_gone || message.rank == 0;
  if (message.type == MessageKind::left) {
    if (events.on_left) events.on_left(message.rank);
  } else if (events.on_lost) {
    events.on_lost(message.rank, message.words);
  }
}

void FailureWatch::State::send_to_others(const Message& message) {
  const std::vector<std::byte> bytes = encode(message);
  for (Peer& peer : peers) {
    if (peer.link.rank != message.rank) peer.send(bytes);
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
  for (RankLink& link : links.peers) state->peers.push_back({std::move(link), {}});
  State* const work = state.get();
  Result<std::unique_ptr<ServiceThread>> thread =
      ServiceThread::start("tutti-watch", [work](int wake_fd) { work->run(wake_fd); });
  if (!thread.ok()) return thread.status().with_context("cannot watch over the other ranks");
  state->thread = std::move(*thread);
  state->has_begun.wait();
  return std::unique_ptr<FailureWatch>(new FailureWatch(std::move(state)));
}

FailureWatch::~FailureWatch() {
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
    state_->abort_request.emplace(reason);
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
