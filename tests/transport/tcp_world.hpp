// SPDX-License-Identifier: Apache-2.0
// For tests: endpoints over TCP on the loopback interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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
    std::uint32_t connections = 1;
    std::string congestion{};
    // Where others are told that a rank listens; by default where it does.
    std::function<std::vector<Address>(std::uint32_t rank, const Address& real)> told{};
  };

  explicit TcpWorld(const Setup& setup) : endpoints_(setup.num_ranks), warnings_(setup.num_ranks) {
    std::vector<std::vector<Listener>> listeners(setup.num_ranks);
    std::vector<std::vector<Address>> addresses(setup.num_ranks);
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      for (std::uint32_t i = 0; i < setup.connections; ++i) {
        const Address& real = listeners[rank].emplace_back(listen_on_loopback()).address;
        const std::vector<Address> told = setup.told ? setup.told(rank, real) : std::vector{real};
        addresses[rank].insert(addresses[rank].end(), told.begin(), told.end());
      }
      addresses_.push_back(listeners[rank].front().address);
    }
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      TcpOptions options{.rank = rank, .num_ranks = setup.num_ranks, .shape = setup.shape};
      options.token = token_of_test();
      options.communicator = 42;
      for (const std::vector<Address>& each : addresses) options.addresses.add(each);
      options.connections = setup.connections;
      options.congestion = setup.congestion;
      options.listeners = std::move(listeners[rank]);
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

}  // namespace tutti::transport::tcp
