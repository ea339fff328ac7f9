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
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/text.hpp"
#include "base/unique_id.hpp"
#include "bench/process/worker.hpp"

namespace tutti::peers {

namespace {

constexpr std::size_t kMostGuests = 1100;  // the ranks of a group, and some who have yet to show the secret

constexpr std::string_view kPut = "put";
constexpr std::string_view kGet = "get";
constexpr std::string_view kRefused = "refused";  // why, to whom rank 0 cannot serve
constexpr std::string_view kHello = "hello";      // the first from other hosts: the group's secret

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

// A connection of packets: local sockets keep them apart, and on a stream each stands behind its length.
class Packets {
 public:
  Packets(UniqueFd socket, bool is_stream) : socket_(std::move(socket)), is_stream_(is_stream) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool is_open() const { return socket_.valid(); }
  void close() { socket_.reset(); }

  [[nodiscard]] bool send(const std::string& text) const {
    std::string all;
    if (is_stream_) {
      const auto size = static_cast<std::uint32_t>(text.size());
      all.append(reinterpret_cast<const char*>(&size), sizeof size);
    }
    all += text;
    std::span<const std::byte> bytes = std::as_bytes(std::span(all));
    while (!bytes.empty()) {
      const SocketTransfer sent = send_some(socket_.get(), bytes);
      if (sent.outcome == SocketTransfer::Outcome::done) bytes = bytes.subspan(sent.bytes);
      if (!is_stream_) return bytes.empty();
      if (sent.outcome == SocketTransfer::Outcome::closed) return false;
      pollfd waiting{socket_.get(), POLLOUT, 0};
      if (!bytes.empty()) ::poll(&waiting, 1, kLook);
    }
    return true;
  }

  // The next packet; nothing where there is none yet, or where the other end has gone, which closes this one too.
  std::optional<std::string> receive() {
    std::array<std::byte, Meeting::kMostBytes + 64> room{};
    if (const std::optional<std::string> whole = take()) return whole;
    const SocketTransfer got = receive_some(socket_.get(), room);
    if (got.outcome == SocketTransfer::Outcome::closed) close();
    if (got.outcome != SocketTransfer::Outcome::done) return std::nullopt;
    const std::string_view text(reinterpret_cast<const char*>(room.data()), got.bytes);
    if (!is_stream_) return std::string(text);
    received_ += text;
    return take();
  }

 private:
  static constexpr int kLook = 100;

  std::optional<std::string> take() {
    std::uint32_t size = 0;
    if (received_.size() < sizeof size) return std::nullopt;
    received_.copy(reinterpret_cast<char*>(&size), sizeof size);
    if (size > Meeting::kMostBytes + 64) close();
    if (received_.size() < sizeof size + size) return std::nullopt;
    std::string text = received_.substr(sizeof size, size);
    received_.erase(0, sizeof size + size);
    return text;
  }

  UniqueFd socket_;
  bool is_stream_;
  std::string received_;
};

Status too_late(const std::string& what) { return {Code::timeout, fmt::format("{} did not come in time", what)}; }

// The store, and the thread that serves the other ranks.
class Host final : public Meeting {
 public:
  // On several hosts, guests first show the token of `id`.
  Host(UniqueFd listener, std::optional<UniqueId> id, UniqueFd wake, UniqueFd spare, Nanos timeout)
      : listener_(std::move(listener)),
        id_(id),
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
    Packets packets;
    bool is_known = false;
    std::string wanted = {};  // key that it waits for; empty for none
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
      for (const Guest& guest : guests) waiting.push_back({guest.packets.fd(), POLLIN, 0});
      if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return;
      std::uint64_t value = 0;
      if (waiting[0].revents != 0) static_cast<void>(!::read(wake_.get(), &value, sizeof(value)));
      for (std::size_t each = 0; each < guests.size(); ++each)
        if (waiting[each + 2].revents != 0 && !hear(guests[each])) guests[each].packets.close();
      std::erase_if(guests, [](const Guest& guest) { return !guest.packets.is_open(); });
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
    if (!id_) {
      const Result<PeerCredentials> who = peer_credentials(accepted->get());
      if (!who.ok() || who->uid != ::geteuid()) return;
    }
    const auto stranger = std::find_if(guests.begin(), guests.end(), [](const Guest& each) { return !each.is_known; });
    if (id_ && stranger != guests.end() && guests.size() >= kMostGuests) guests.erase(stranger);
    Guest& guest = guests.emplace_back(Guest{{std::move(*accepted), id_.has_value()}, !id_.has_value()});
    if (!failure.ok()) static_cast<void>(guest.packets.send(packet(kRefused, "", failure.to_string())));
  }

  // False where the guest has gone, or is to go.
  bool hear(Guest& guest) {
    while (const std::optional<std::string> text = guest.packets.receive()) {
      const std::optional<Words> words = words_in(*text);
      if (!words) return false;
      if (!guest.is_known) {
        const Result<UniqueId> said = UniqueId::from_text(words->value);
        if (words->word != kHello || !said.ok() || !same_token(said->token(), id_->token())) return false;
        guest.is_known = true;
      }
      if (words->word == kPut) keep(words->key, words->value);
      if (words->word == kGet) guest.wanted = words->key;
    }
    return guest.packets.is_open();
  }

  void answer(Guest& guest) {
    if (guest.wanted.empty()) return;
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(guest.wanted);
    if (found == values_.end()) return;
    if (!guest.packets.send(packet(kPut, found->first, found->second))) guest.packets.close();
    guest.wanted.clear();
  }

  UniqueFd listener_;
  std::optional<UniqueId> id_;
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
  Guest(Packets packets, Nanos timeout) : packets_(std::move(packets)), timeout_(timeout) {}

  Status put(const std::string& key, std::string_view value) override {
    if (key.size() + value.size() > kMostBytes) return {Code::invalid_argument, "a word too long for a meeting"};
    if (!packets_.send(packet(kPut, key, value))) return gone();
    return {};
  }

  Result<std::string> get(const std::string& key) override {
    if (!packets_.send(packet(kGet, key, ""))) return gone();
    const auto deadline = Clock::now() + to_chrono(timeout_);
    while (Clock::now() < deadline) {
      const std::optional<std::string> text = packets_.receive();
      if (!packets_.is_open()) return gone();
      if (!text) {
        pollfd waiting{packets_.fd(), POLLIN, 0};
        if (::poll(&waiting, 1, poll_timeout(deadline, Clock::now())) < 0 && errno != EINTR)
          return Status::from_errno("cannot wait for rank 0", errno);
        continue;
      }
      std::optional<Words> words = words_in(*text);
      if (words && words->word == kRefused)
        return Status(Code::system, fmt::format("rank 0 cannot let other ranks in: {}", words->value));
      if (words && words->key == key) return std::move(words->value);
    }
    return too_late(key);
  }

 private:
  static Status gone() { return {Code::rank_lost, "rank 0 left the meeting", 0}; }

  Packets packets_;
  Nanos timeout_;
};

Result<std::unique_ptr<Meeting>> host(UniqueFd listener, const std::optional<UniqueId>& id, Nanos timeout) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return Status::from_errno("cannot make an eventfd", errno);
  UniqueFd spare(::fcntl(wake.get(), F_DUPFD_CLOEXEC, 0));
  if (!spare.valid()) return Status::from_errno("cannot keep a descriptor in reserve", errno);
  return std::unique_ptr<Meeting>(
      std::make_unique<Host>(std::move(listener), id, std::move(wake), std::move(spare), timeout));
}

Result<std::unique_ptr<Meeting>> visit(const std::string& name, Nanos timeout) {
  const auto deadline = Clock::now() + to_chrono(timeout);
  while (true) {
    Result<UniqueFd> socket = connect_abstract(name);
    if (socket.ok() && socket->valid())
      return std::unique_ptr<Meeting>(std::make_unique<Guest>(Packets(std::move(*socket), false), timeout));
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
  if (rank != 0) return visit(name, timeout);
  TUTTI_TRY_ASSIGN(UniqueFd listener, listen_abstract(name, SOMAXCONN));
  return host(std::move(listener), std::nullopt, timeout);
}

Result<std::unique_ptr<Meeting>> Meeting::join(const harness::AcrossHosts& hosts, int rank, Nanos timeout) {
  Address own = hosts.own;
  own.port = 0;
  Listener listener;
  std::optional<UniqueId> id;
  if (rank == 0) {
    TUTTI_TRY_ASSIGN(listener, listen_at(own));
    TUTTI_TRY_ASSIGN(id, UniqueId::make(listener.address));
  }
  TUTTI_TRY_ASSIGN(const std::string told, hosts.broadcast(id ? id->to_text() : "", 0));
  if (rank == 0) return host(std::move(listener.socket), id, timeout);
  TUTTI_TRY_ASSIGN(const UniqueId known, UniqueId::from_text(told));
  TUTTI_TRY_ASSIGN(UniqueFd socket, connect_within(known.address(), Clock::now() + to_chrono(timeout)));
  Packets packets(std::move(socket), true);
  if (!packets.send(packet(kHello, "", told))) return Status(Code::rank_lost, "rank 0 left the meeting", 0);
  return std::unique_ptr<Meeting>(std::make_unique<Guest>(std::move(packets), timeout));
}

}  // namespace tutti::peers
