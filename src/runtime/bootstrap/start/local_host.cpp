// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/local_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <new>
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

class LocalHost {
 public:
  LocalHost(UniqueFd listener, const UniqueId& id, int num_ranks)
      : listener_(std::move(listener)), id_(id.to_text()), answered_(static_cast<std::size_t>(num_ranks)) {
    // All room that the thread needs.
    guests_.reserve(kMostGuests);
    polled_.reserve(2 + kMostGuests);
  }
  LocalHost(const LocalHost&) = delete;
  LocalHost& operator=(const LocalHost&) = delete;
  ~LocalHost() {
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
      for (const UniqueFd& guest : guests_) polled_.push_back({guest.get(), POLLIN, 0});
      if (poll(polled_.data(), polled_.size(), -1) < 0) continue;  // EINTR, ENOMEM
      for (std::size_t i = 2; i < polled_.size(); ++i)
        if (polled_[i].revents != 0) answer(guests_[i - 2]);
      std::erase_if(guests_, [](const UniqueFd& guest) { return !guest.valid(); });
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
        const Result<PeerCredentials> who = peer_credentials(guest->get());
        if (!who.ok() || who->uid != geteuid()) continue;
        if (guests_.size() == kMostGuests) guests_.erase(guests_.begin());
        guests_.push_back(std::move(*guest));
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // One question, one answer; then it is done with.
  void answer(UniqueFd& guest) {
    std::array<char, 16> text{};
    const SocketTransfer got = receive_some(guest.get(), std::as_writable_bytes(std::span(text)));
    if (got.outcome == SocketTransfer::Outcome::would_block) return;
    int rank = 0;
    const char* const end = text.data() + got.bytes;
    const auto [parsed, error] = std::from_chars(text.data(), end, rank);
    const bool sane =
        error == std::errc() && parsed == end && rank > 0 && static_cast<std::size_t>(rank) < answered_.size();
    // A new connection has room for it.
    if (sane && send_some(guest.get(), std::as_bytes(std::span(id_))).outcome == SocketTransfer::Outcome::done) {
      num_answered_ += answered_[static_cast<std::size_t>(rank)] ? 0 : 1;
      answered_[static_cast<std::size_t>(rank)] = true;
    }
    guest.reset();
  }

  UniqueFd listener_;
  const std::string id_;
  std::vector<UniqueFd> guests_;
  std::vector<pollfd> polled_;  // wake, listener, then one for each guest
  std::vector<bool> answered_;  // by rank; 0 does not ask
  std::size_t num_answered_ = 0;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<ServiceThread> thread_;  // last, so that it ends before what it works on
};

class KeptHost final : public Kept {
 public:
  explicit KeptHost(std::unique_ptr<LocalHost> host) : host_(std::move(host)) {}
  KeptHost(const KeptHost&) = delete;
  KeptHost& operator=(const KeptHost&) = delete;
  ~KeptHost() override {
    if (!host_->is_here()) abandon(std::move(host_));
  }

 private:
  std::unique_ptr<LocalHost> host_;
};

}  // namespace

Result<std::unique_ptr<Kept>> serve_id(UniqueFd listener, const UniqueId& id, int num_ranks) {
  auto host = std::make_unique<LocalHost>(std::move(listener), id, num_ranks);
  TUTTI_TRY(host->start());
  return std::unique_ptr<Kept>(std::make_unique<KeptHost>(std::move(host)));
}

}  // namespace tutti::start
