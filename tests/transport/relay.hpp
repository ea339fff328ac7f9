// SPDX-License-Identifier: Apache-2.0
// For tests: a faulty wire between endpoints over TCP. It cuts connections at any byte, by an end or by a reset, splits
// what passes at odd places, holds it back or delays it, and connects a second time with the bytes of another
// connection.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "base/system/socket.hpp"
#include "tests/transport/tcp_world.hpp"

namespace tutti::transport::tcp {

// What becomes of one connection.
struct Course {
  std::uint64_t limit = 0;           // bytes of both ways after which it is cut; 0: never
  bool resets = false;               // by a reset, and not by an end
  std::size_t most = 4096;           // bytes that pass at once, among the first 20,000
  std::uint32_t stalled = 0;         // of a hundred moves, so many move nothing
  std::uint64_t doubled_at = 0;      // bytes of its source that are said again in a connection of their own; 0: none
  std::chrono::nanoseconds delay{};  // of all that passes, each way, and of its end
};

// Passes bytes between who connects to it and one address. It moves only when it is stepped.
class Relay {
 public:
  // Of the next connection.
  using Plan = std::function<Course()>;

  explicit Relay(Plan plan = [] { return Course{}; }) : plan_(std::move(plan)) {}

  [[nodiscard]] const Address& address() const { return listener_.address; }
  void lead_to(const Address& target) { target_ = target; }
  [[nodiscard]] int num_connections() const { return num_connections_; }
  [[nodiscard]] int num_cuts() const { return num_cuts_; }
  [[nodiscard]] int num_doubled() const { return num_doubled_; }

  // Nobody gets through any more.
  void end() {
    listener_.socket.reset();
    pairs_.clear();
    strays_.clear();
  }

  // Whether anything moved.
  bool step() {
    bool any = false;
    while (listener_.socket.valid()) {
      Result<UniqueFd> accepted = accept_from(listener_.socket.get());
      if (!accepted.ok() || !accepted->valid()) break;
      Result<UniqueFd> onward = begin_connect(target_);
      if (!onward.ok()) continue;
      pairs_.push_back({{std::move(accepted).value(), std::move(onward).value()}, {}, plan_()});
      ++num_connections_;
      any = true;
    }
    std::erase_if(pairs_, [&](Pair& pair) { return !move(pair, any); });
    std::erase_if(strays_, [](Stray& stray) { return !move(stray); });
    return any;
  }

 private:
  static constexpr std::uint64_t kOddBytes = 20'000;

  struct Held {
    std::deque<std::byte> bytes{};
    std::deque<std::pair<Clock::time_point, std::size_t>> delayed{};  // until when, and how many of the last of them
    std::size_t ready = 0;                                            // of the first
    std::optional<Clock::time_point> ended{};                         // when no more will come

    void put(std::span<const std::byte> more, Clock::time_point until) {
      bytes.insert(bytes.end(), more.begin(), more.end());
      if (!more.empty()) delayed.emplace_back(until, more.size());
    }
    std::size_t count_ready(Clock::time_point now) {
      for (; !delayed.empty() && delayed.front().first <= now; delayed.pop_front()) ready += delayed.front().second;
      return ready;
    }
    void drop(std::size_t count) {
      bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
      ready -= count;
    }
  };
  struct Pair {
    std::array<UniqueFd, 2> ends;
    std::array<Held, 2> held;  // for each end
    Course course{};
    bool is_connected = false;  // onward
    std::uint64_t passed = 0;
    std::vector<std::byte> said{};  // by the source, up to where it is doubled
  };
  // Says its bytes, and then nothing.
  struct Stray {
    UniqueFd socket;
    std::vector<std::byte> unsaid;
  };

  // False where the connection is over.
  bool move(Pair& pair, bool& any) {
    if (!pair.is_connected) {
      if (is_connecting(pair.ends[1])) return true;
      pair.is_connected = connect_outcome(pair.ends[1].get()).ok();
      if (!pair.is_connected) return false;
    }
    if (pair.course.stalled > 0 && random_() % 100 < pair.course.stalled) return true;
    const Clock::time_point now = Clock::now();
    for (std::size_t from = 0; from < 2; ++from) {
      std::array<std::byte, 4096> bytes{};
      const std::size_t to = 1 - from;
      Held& held = pair.held[to];
      if (held.bytes.size() < (64 << 10)) {
        const SocketTransfer got = receive_some(pair.ends[from].get(), bytes);
        const bool has_ended = got.outcome == SocketTransfer::Outcome::closed;
        if (has_ended && !held.ended) held.ended = now + pair.course.delay;
        if (has_ended && held.bytes.empty() && now >= *held.ended) return false;
        held.put(std::span(bytes).first(got.bytes), now + pair.course.delay);
      }
      std::uint64_t most = std::min(held.count_ready(now), bytes.size());
      if (pair.passed < kOddBytes) most = std::min<std::uint64_t>(most, pair.course.most);
      if (pair.course.limit != 0) most = std::min(most, pair.course.limit - pair.passed);
      if (most == 0) continue;
      std::copy_n(held.bytes.begin(), most, bytes.begin());
      const SocketTransfer sent = send_some(pair.ends[to].get(), std::span(bytes).first(most));
      // That end is gone; what it has said before still passes.
      if (sent.outcome == SocketTransfer::Outcome::closed) held = {.ended = held.ended};
      if (sent.bytes == 0) continue;
      held.drop(sent.bytes);
      pair.passed += sent.bytes;
      any = any || sent.bytes > 0;
      if (from == 0) note_said(pair, std::span(bytes).first(sent.bytes));
      if (pair.course.limit != 0 && pair.passed == pair.course.limit) {
        cut(pair);
        return false;
      }
    }
    return true;
  }

  void note_said(Pair& pair, std::span<const std::byte> bytes) {
    if (pair.course.doubled_at == 0) return;
    const std::size_t more = std::min<std::size_t>(bytes.size(), pair.course.doubled_at - pair.said.size());
    pair.said.insert(pair.said.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(more));
    if (pair.said.size() < pair.course.doubled_at) return;
    pair.course.doubled_at = 0;
    Result<UniqueFd> again = begin_connect(target_);
    if (!again.ok()) return;
    strays_.push_back({std::move(again).value(), std::move(pair.said)});
    ++num_doubled_;
  }

  // What it is answered goes nowhere.
  static bool move(Stray& stray) {
    if (is_connecting(stray.socket)) return true;
    std::array<std::byte, 4096> answer{};
    const SocketTransfer sent = send_some(stray.socket.get(), stray.unsaid);
    stray.unsaid.erase(stray.unsaid.begin(), stray.unsaid.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
    return sent.outcome != SocketTransfer::Outcome::closed &&
           receive_some(stray.socket.get(), answer).outcome != SocketTransfer::Outcome::closed;
  }

  static bool is_connecting(const UniqueFd& socket) {
    pollfd watched{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    return poll(&watched, 1, 0) == 0;
  }

  void cut(Pair& pair) {
    ++num_cuts_;
    if (!pair.course.resets) return;
    const linger reset{.l_onoff = 1, .l_linger = 0};
    for (const UniqueFd& end : pair.ends)
      static_cast<void>(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
  }

  Plan plan_;
  Listener listener_ = listen_on_loopback();
  Address target_{};
  std::vector<Pair> pairs_{};
  std::vector<Stray> strays_{};
  int num_connections_ = 0;
  int num_cuts_ = 0;
  int num_doubled_ = 0;
  std::minstd_rand random_{1};
};

// Relays that a thread steps, so that the ranks may wait, or sleep. Each cuts and doubles its first `most_cuts`
// connections, at random bytes.
class FaultyWire {
 public:
  FaultyWire(std::uint64_t seed, int most_cuts) : seed_(seed), most_cuts_(most_cuts) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested())
        if (!step()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
  }

  // A relay before whoever listens there.
  [[nodiscard]] Address before(const Address& real) {
    const std::lock_guard lock(mutex_);
    Relay& relay = relays_.emplace_back([random = std::mt19937_64(seed_ + relays_.size()),
                                         left = most_cuts_]() mutable { return course(random, left-- > 0); });
    relay.lead_to(real);
    return relay.address();
  }
  [[nodiscard]] int num_cuts() {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (const Relay& relay : relays_) all += relay.num_cuts();
    return all;
  }

 private:
  static Course course(std::mt19937_64& random, bool may_cut) {
    Course course{.most = random() % 3 == 0 ? 1 + random() % 200 : 4096,
                  .stalled = static_cast<std::uint32_t>(random() % 3 * 30)};
    if (!may_cut) return course;
    // The first bytes are those of hello and welcome.
    if (random() % 20 != 0) course.limit = 1 + random() % (random() % 3 == 0 ? 250 : 40'000);
    course.resets = random() % 2 == 0;
    if (random() % 3 == 0) course.doubled_at = 1 + random() % (random() % 3 == 0 ? 200 : 20'000);
    return course;
  }

  bool step() {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (Relay& relay : relays_) any = relay.step() || any;
    return any;
  }

  std::uint64_t seed_;
  int most_cuts_;
  std::mutex mutex_{};
  std::deque<Relay> relays_{};  // guarded by mutex_
  std::jthread thread_{};       // last, so that it ends first
};

// Endpoints that reach each other only over such a wire.
class FaultyWireWorld final : public World {
 public:
  FaultyWireWorld(TcpWorld::Setup setup, std::uint64_t seed, int most_cuts) : wire_(seed, most_cuts) {
    setup.told = [this](std::uint32_t, const Address& real) { return std::vector{wire_.before(real)}; };
    world_ = std::make_unique<TcpWorld>(setup);
  }

  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return world_->endpoint(rank); }
  void drop(std::uint32_t rank) override { world_->drop(rank); }

 private:
  FaultyWire wire_;
  std::unique_ptr<TcpWorld> world_{};
};

}  // namespace tutti::transport::tcp
