// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/id_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/service_thread.hpp"

namespace tutti::start {

namespace {

constexpr std::size_t kMostGuests = 256;  // who says nothing is sent away when more come, and may ask again
constexpr std::chrono::milliseconds kAcceptPause{50};

// Who asks, and what it has said so far.
struct Asker {
  UniqueFd socket;
  std::array<char, 64> text{};
  std::size_t bytes = 0;
};

class IdHost {
 public:
  // Without a greeting on a local socket.
  IdHost(std::string greeting, UniqueFd listener, const UniqueId& id, int num_ranks)
      : greeting_(std::move(greeting)),
        listener_(std::move(listener)),
        id_(id.to_text() + (greeting_.empty() ? "" : "\n")),
        answered_(static_cast<std::size_t>(num_ranks)) {
    // All room that the thread needs.
    guests_.reserve(kMostGuests);
    polled_.reserve(2 + kMostGuests);
  }
  IdHost(const IdHost&) = delete;
  IdHost& operator=(const IdHost&) = delete;
  ~IdHost() {
    stopping_.store(true, std::memory_order_relaxed);
    if (!thread_) return;
    thread_->wake();
    thread_->finish();
  }

  Status start() {
    Result<std::unique_ptr<ServiceThread>> thread =
        ServiceThread::start("tutti-start", [this](int wake_fd) { run(wake_fd); });
    if (!thread.ok()) return thread.status();
    thread_ = std::move(*thread);
    return {};
  }

  [[nodiscard]] bool is_here() const { return thread_->is_here(); }

 private:
  void run(int wake_fd) {
    while (!stopping_.load(std::memory_order_relaxed) && num_answered_ + 1 < answered_.size()) {
      polled_.clear();
      polled_.push_back({wake_fd, POLLIN, 0});
      polled_.push_back({listener_.get(), POLLIN, 0});
      for (const Asker& guest : guests_) polled_.push_back({guest.socket.get(), POLLIN, 0});
      if (poll(polled_.data(), polled_.size(), -1) < 0) continue;  // EINTR, ENOMEM
      for (std::size_t i = 2; i < polled_.size(); ++i)
        if (polled_[i].revents != 0) answer(guests_[i - 2]);
      std::erase_if(guests_, [](const Asker& guest) { return !guest.socket.valid(); });
      if (polled_[1].revents != 0 && !accept_all()) {
        // Descriptors or memory have run out: dropping a silent guest makes room, or time does.
        if (!guests_.empty()) guests_.erase(guests_.begin());
        poll(nullptr, 0, static_cast<int>(kAcceptPause.count()));
      }
    }
    guests_.clear();
    // Also where a forked child has a copy of it.
    shutdown(listener_.get(), SHUT_RDWR);
    listener_.reset();
  }

  // False if a guest could not be let in. Guests need no memory; an error text would.
  bool accept_all() {
    try {
      for (;;) {
        Result<UniqueFd> guest = accept_from(listener_.get());
        if (!guest.ok()) return false;
        if (!guest->valid()) return true;
        if (!is_welcome(guest->get())) continue;
        if (guests_.size() == kMostGuests) guests_.erase(guests_.begin());
        guests_.emplace_back().socket = std::move(*guest);
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  [[nodiscard]] bool is_welcome(int guest) const {
    if (!greeting_.empty()) {
      watch_silence(guest);
      return true;
    }
    const Result<PeerCredentials> who = peer_credentials(guest);
    return who.ok() && who->uid == geteuid();
  }

  // One question, one answer; then it is done with.
  void answer(Asker& guest) {
    const auto room = std::as_writable_bytes(std::span(guest.text).subspan(guest.bytes));
    const SocketTransfer got = receive_some(guest.socket.get(), room);
    if (got.outcome == SocketTransfer::Outcome::would_block) return;
    guest.bytes += got.bytes;
    std::string_view question(guest.text.data(), guest.bytes);
    const bool may_go_on = !greeting_.empty() && got.bytes > 0 && guest.bytes < guest.text.size();
    if (may_go_on && !question.ends_with('\n')) return;
    const int rank = rank_of(question);
    // A new connection has room for it.
    if (rank > 0 && send_some(guest.socket.get(), std::as_bytes(std::span(id_))).outcome == kDone) {
      num_answered_ += answered_[static_cast<std::size_t>(rank)] ? 0 : 1;
      answered_[static_cast<std::size_t>(rank)] = true;
    }
    guest.socket.reset();
  }

  // 0 if it is no such question.
  [[nodiscard]] int rank_of(std::string_view question) const {
    if (!question.starts_with(greeting_)) return 0;
    question.remove_prefix(greeting_.size());
    if (!greeting_.empty() && question.ends_with('\n')) question.remove_suffix(1);
    int rank = 0;
    const char* const end = question.data() + question.size();
    const auto [parsed, error] = std::from_chars(question.data(), end, rank);
    const bool is_sane =
        error == std::errc() && parsed == end && rank > 0 && static_cast<std::size_t>(rank) < answered_.size();
    return is_sane ? rank : 0;
  }

  static constexpr auto kDone = SocketTransfer::Outcome::done;
  const std::string greeting_;
  UniqueFd listener_;
  const std::string id_;
  std::vector<Asker> guests_;
  std::vector<pollfd> polled_;  // wake, listener, then one for each guest
  std::vector<bool> answered_;  // by rank; 0 does not ask
  std::size_t num_answered_ = 0;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<ServiceThread> thread_;  // last, so that it ends before what it works on
};

class KeptHost final : public Kept {
 public:
  explicit KeptHost(std::unique_ptr<IdHost> host) : host_(std::move(host)) {}
  KeptHost(const KeptHost&) = delete;
  KeptHost& operator=(const KeptHost&) = delete;
  ~KeptHost() override {
    if (!host_->is_here()) abandon(std::move(host_));
  }

 private:
  std::unique_ptr<IdHost> host_;
};

}  // namespace

Result<std::unique_ptr<Kept>> serve_id(UniqueFd listener, const UniqueId& id, int num_ranks) {
  return serve_id_to({}, std::move(listener), id, num_ranks);
}

Result<std::unique_ptr<Kept>> serve_id_to(std::string greeting, UniqueFd listener, const UniqueId& id, int num_ranks) {
  auto host = std::make_unique<IdHost>(std::move(greeting), std::move(listener), id, num_ranks);
  TUTTI_TRY(host->start());
  return std::unique_ptr<Kept>(std::make_unique<KeptHost>(std::move(host)));
}

}  // namespace tutti::start
