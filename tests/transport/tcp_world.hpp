// SPDX-License-Identifier: Apache-2.0
// For tests: endpoints over TCP on the loopback interface, and a relay between two of them that cuts connections.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/system/socket.hpp"
#include "tests/transport/conversation.hpp"
#include "transport/tcp/endpoint.hpp"

namespace tutti::transport::tcp {

inline Address loopback_address() {
  Address address{.family = Address::Family::ipv4};
  address.bytes = {127, 0, 0, 1};
  return address;
}

inline Listener listen_on_loopback() {
  Result<Listener> listener = listen_at(loopback_address());
  EXPECT_TRUE(listener.ok()) << listener.status().to_string();
  return std::move(listener).value();
}

inline Token token_of_test() {
  Token token{};
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::byte>(i * 7 + 1);
  return token;
}

class TcpWorld final : public World {
 public:
  struct Setup {
    std::uint32_t num_ranks = 2;
    EndpointShape shape{.depth = 8, .slot = 64 << 10};
    std::chrono::nanoseconds restore_within = std::chrono::seconds(10);
    // Where others are told that a rank listens; by default where it does.
    std::function<std::vector<Address>(std::uint32_t rank, const Address& real)> told{};
  };

  explicit TcpWorld(const Setup& setup) : endpoints_(setup.num_ranks), warnings_(setup.num_ranks) {
    std::vector<Listener> listeners;
    std::vector<std::vector<Address>> addresses;
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      listeners.push_back(listen_on_loopback());
      addresses_.push_back(listeners.back().address);
      addresses.push_back(setup.told ? setup.told(rank, addresses_.back()) : std::vector{addresses_.back()});
    }
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      TcpOptions options{.rank = rank, .num_ranks = setup.num_ranks, .shape = setup.shape};
      options.token = token_of_test();
      options.communicator = 42;
      options.addresses = addresses;
      options.listeners.push_back(std::move(listeners[rank]));
      options.restore_within = setup.restore_within;
      options.warn = [this, rank](std::string_view words) { warnings_[rank].emplace_back(words); };
      Result<std::unique_ptr<Endpoint>> made = make_tcp_endpoint(std::move(options));
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      endpoints_[rank] = std::move(made).value();
    }
  }

  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return *endpoints_[rank]; }
  void drop(std::uint32_t rank) override { endpoints_[rank].reset(); }
  [[nodiscard]] const Address& address(std::uint32_t rank) const { return addresses_[rank]; }
  [[nodiscard]] const std::vector<std::string>& warnings(std::uint32_t rank) const { return warnings_[rank]; }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::vector<std::string>> warnings_;
  std::vector<Address> addresses_;
};

// Passes bytes between who connects to it and one address. It cuts a connection after a number of bytes, if it is told
// so, by an end or by a reset. It moves only when it is stepped.
class Relay {
 public:
  // How many bytes of a connection pass before it is cut; 0 for all.
  using Limit = std::function<std::uint64_t()>;

  explicit Relay(Limit limit = [] { return std::uint64_t{0}; }) : limit_(std::move(limit)) {}

  [[nodiscard]] const Address& address() const { return listener_.address; }
  void lead_to(const Address& target) { target_ = target; }
  [[nodiscard]] int num_cuts() const { return num_cuts_; }

  // Nobody gets through any more.
  void end() {
    listener_.socket.reset();
    pairs_.clear();
  }

  void step() {
    while (listener_.socket.valid()) {
      Result<UniqueFd> accepted = accept_from(listener_.socket.get());
      if (!accepted.ok() || !accepted->valid()) break;
      Result<UniqueFd> onward = begin_connect(target_);
      if (!onward.ok()) continue;
      pairs_.push_back({{std::move(accepted).value(), std::move(onward).value()}, {}, limit_()});
    }
    std::erase_if(pairs_, [this](Pair& pair) { return !move(pair); });
  }

 private:
  struct Pair {
    std::array<UniqueFd, 2> ends;
    std::array<std::deque<std::byte>, 2> held;  // for each end
    std::uint64_t limit = 0;
    std::uint64_t passed = 0;
  };

  // False where the connection is over.
  bool move(Pair& pair) {
    for (std::size_t from = 0; from < 2; ++from) {
      std::array<std::byte, 4096> bytes{};
      const std::size_t to = 1 - from;
      if (pair.held[to].size() < (64 << 10)) {
        const SocketTransfer got = receive_some(pair.ends[from].get(), bytes);
        if (got.outcome == SocketTransfer::Outcome::closed && pair.held[to].empty() && is_connected(pair.ends[from]))
          return false;
        pair.held[to].insert(pair.held[to].end(), bytes.begin(),
                             bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
      }
      std::uint64_t most = std::min(pair.held[to].size(), bytes.size());
      if (pair.limit != 0) most = std::min(most, pair.limit - pair.passed);
      if (most == 0) continue;
      std::copy_n(pair.held[to].begin(), most, bytes.begin());
      const SocketTransfer sent = send_some(pair.ends[to].get(), std::span(bytes).first(most));
      pair.held[to].erase(pair.held[to].begin(), pair.held[to].begin() + static_cast<std::ptrdiff_t>(sent.bytes));
      pair.passed += sent.bytes;
      if (pair.limit != 0 && pair.passed == pair.limit) {
        cut(pair);
        return false;
      }
    }
    return true;
  }

  // One that still connects has no peer, and its reads fail.
  static bool is_connected(const UniqueFd& socket) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    return getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer), &length) == 0 || errno != ENOTCONN ||
           !connect_outcome(socket.get()).ok();
  }

  void cut(Pair& pair) {
    if (++num_cuts_ % 2 == 0) return;
    const linger reset{.l_onoff = 1, .l_linger = 0};
    for (const UniqueFd& end : pair.ends)
      static_cast<void>(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset));
  }

  Limit limit_;
  Listener listener_ = listen_on_loopback();
  Address target_{};
  std::vector<Pair> pairs_{};
  int num_cuts_ = 0;
};

}  // namespace tutti::transport::tcp
