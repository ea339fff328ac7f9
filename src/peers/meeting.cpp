// SPDX-License-Identifier: Apache-2.0
#include "peers/meeting.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "bench/process/worker.hpp"

namespace tutti::peers {

namespace {

constexpr std::string_view kPut = "put";
constexpr std::string_view kGet = "get";
constexpr std::string_view kRefused = "refused";  // why, to whom rank 0 cannot serve

// A packet: the word, the key and the value, with zeros between.
std::string packet(std::string_view word, std::string_view key, std::string_view value) {
  std::string text(word);
  text += '\0';
  text += key;
  text += '\0';
  text += value;
  return text;
}

struct Words {
  std::string word;
  std::string key;
  std::string value;
};

std::optional<Words> words_in(std::string_view text) {
  const std::size_t first = text.find('\0');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\0', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Words{std::string(text.substr(0, first)), std::string(text.substr(first + 1, second - first - 1)),
               std::string(text.substr(second + 1))};
}

bool send_packet(int socket, const std::string& text) {
  const SocketTransfer sent = send_some(socket, std::as_bytes(std::span(text)));
  return sent.outcome == SocketTransfer::Outcome::done && sent.bytes == text.size();
}

Status too_late(const std::string& what) { return {Code::timeout, fmt::format("{} did not come in time", what)}; }

// The store, and the thread that serves the other ranks.
class Host final : public Meeting {
 public:
  Host(UniqueFd listener, UniqueFd wake, UniqueFd spare, Nanos timeout)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        spare_(std::move(spare)),
        timeout_(timeout),
        thread_([this] { serve(); }) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() override {
    wake(true);
    thread_.join();
  }

  Status put(const std::string& key, std::string_view value) override {
    if (key.size() + value.size() > kMostBytes) return {Code::invalid_argument, "a word too long for a meeting"};
    keep(key, std::string(value));
    wake(false);
    return {};
  }

  Result<std::string> get(const std::string& key) override {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, to_chrono(timeout_), [&] { return values_.contains(key); })) return too_late(key);
    return values_[key];
  }

 private:
  struct Guest {
    UniqueFd socket;
    std::string wanted;  // key that it waits for; empty for none
  };

  void wake(bool over) {
    const std::uint64_t value = 1;
    if (over) is_over_ = true;
    static_cast<void>(!::write(wake_.get(), &value, sizeof(value)));
  }

  void keep(const std::string& key, std::string value) {
    const std::lock_guard lock(mutex_);
    values_.insert_or_assign(key, std::move(value));
    arrived_.notify_all();
  }

  void serve() {
    std::vector<Guest> guests;
    while (!is_over_) {
      std::vector<pollfd> waiting = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const Guest& guest : guests) waiting.push_back({guest.socket.get(), POLLIN, 0});
      if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
      std::uint64_t value = 0;
      if (waiting[0].revents != 0) static_cast<void>(!::read(wake_.get(), &value, sizeof(value)));
      for (std::size_t each = 0; each < guests.size(); ++each)
        if (waiting[each + 2].revents != 0 && !hear(guests[each])) guests[each].socket.reset();
      std::erase_if(guests, [](const Guest& guest) { return !guest.socket.valid(); });
      if (waiting[1].revents != 0) welcome(guests);
      for (Guest& guest : guests) answer(guest);
    }
  }

  void welcome(std::vector<Guest>& guests) {
    Result<UniqueFd> accepted = accept_from(listener_.get());
    const Status failure = accepted.status();
    if (!failure.ok()) {
      // The spare descriptor lets one more guest hear of it; that guest keeps it, and ends the group.
      spare_.reset();
      accepted = accept_from(listener_.get());
      listener_.reset();
    }
    if (!accepted.ok() || !accepted->valid()) return;
    const Result<PeerCredentials> who = peer_credentials(accepted->get());
    if (!who.ok() || who->uid != ::geteuid()) return;
    if (!failure.ok()) static_cast<void>(send_packet(accepted->get(), packet(kRefused, "", failure.to_string())));
    guests.push_back({std::move(*accepted), ""});
  }

  // False where the guest has gone.
  bool hear(Guest& guest) {
    std::array<std::byte, kMostBytes + 64> room{};
    const SocketTransfer got = receive_some(guest.socket.get(), room);
    if (got.outcome == SocketTransfer::Outcome::would_block) return true;
    if (got.outcome == SocketTransfer::Outcome::closed) return false;
    const std::optional<Words> words = words_in({reinterpret_cast<const char*>(room.data()), got.bytes});
    if (!words) return false;
    if (words->word == kPut) keep(words->key, words->value);
    if (words->word == kGet) guest.wanted = words->key;
    return true;
  }

  void answer(Guest& guest) {
    if (guest.wanted.empty()) return;
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(guest.wanted);
    if (found == values_.end()) return;
    if (!send_packet(guest.socket.get(), packet(kPut, found->first, found->second))) guest.socket.reset();
    guest.wanted.clear();
  }

  UniqueFd listener_;
  UniqueFd wake_;
  UniqueFd spare_;  // to let in one guest when no descriptors are left
  Nanos timeout_;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;  // of what is below
  std::map<std::string, std::string> values_;
  std::condition_variable arrived_;
  std::thread thread_;
};

class Guest final : public Meeting {
 public:
  Guest(UniqueFd socket, Nanos timeout) : socket_(std::move(socket)), timeout_(timeout) {}

  Status put(const std::string& key, std::string_view value) override {
    if (key.size() + value.size() > kMostBytes) return {Code::invalid_argument, "a word too long for a meeting"};
    if (!send_packet(socket_.get(), packet(kPut, key, value))) return gone();
    return {};
  }

  Result<std::string> get(const std::string& key) override {
    if (!send_packet(socket_.get(), packet(kGet, key, ""))) return gone();
    const auto deadline = Clock::now() + to_chrono(timeout_);
    std::array<std::byte, kMostBytes + 64> room{};
    while (Clock::now() < deadline) {
      pollfd waiting{socket_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, poll_timeout(deadline, Clock::now())) < 0 && errno != EINTR)
        return Status::from_errno("cannot wait for rank 0", errno);
      const SocketTransfer got = receive_some(socket_.get(), room);
      if (got.outcome == SocketTransfer::Outcome::closed) return gone();
      if (got.outcome == SocketTransfer::Outcome::would_block) continue;
      std::optional<Words> words = words_in({reinterpret_cast<const char*>(room.data()), got.bytes});
      if (words && words->word == kRefused)
        return Status(Code::system, fmt::format("rank 0 cannot let other ranks in: {}", words->value));
      if (words && words->key == key) return std::move(words->value);
    }
    return too_late(key);
  }

 private:
  static Status gone() { return {Code::rank_lost, "rank 0 left the meeting", 0}; }

  UniqueFd socket_;
  Nanos timeout_;
};

Result<std::unique_ptr<Meeting>> host(const std::string& name, Nanos timeout) {
  TUTTI_TRY_ASSIGN(UniqueFd listener, listen_abstract(name, SOMAXCONN));
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return Status::from_errno("cannot make an eventfd", errno);
  UniqueFd spare(::fcntl(wake.get(), F_DUPFD_CLOEXEC, 0));
  if (!spare.valid()) return Status::from_errno("cannot keep a descriptor in reserve", errno);
  return std::unique_ptr<Meeting>(
      std::make_unique<Host>(std::move(listener), std::move(wake), std::move(spare), timeout));
}

Result<std::unique_ptr<Meeting>> visit(const std::string& name, Nanos timeout) {
  const auto deadline = Clock::now() + to_chrono(timeout);
  while (true) {
    Result<UniqueFd> socket = connect_abstract(name);
    if (socket.ok() && socket->valid())
      return std::unique_ptr<Meeting>(std::make_unique<Guest>(std::move(*socket), timeout));
    if (Clock::now() >= deadline) return too_late("rank 0");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<std::unique_ptr<Meeting>> Meeting::join(const Environment& environment, int rank, Nanos timeout) {
  const std::optional<std::string> group = environment.lookup(harness::kWorkerVariable);
  if (!group) return Status(Code::invalid_usage, fmt::format("{} is not set", harness::kWorkerVariable));
  // The variable holds a secret, and names of sockets are for all to see.
  const std::string name = fmt::format("tutti-peers-{:016x}-{}", std::hash<std::string>{}(*group), ::geteuid());
  return rank == 0 ? host(name, timeout) : visit(name, timeout);
}

}  // namespace tutti::peers
