// SPDX-License-Identifier: Apache-2.0
// For tests: endpoints over libfabric at the loopback interface.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/transport/conversation.hpp"
#include "transport/ofi/endpoint.hpp"

namespace tutti::transport::ofi {

inline constexpr const char* kOverTcp = "tcp;ofi_rxm";

inline DoorOptions door_for_test(std::string provider, std::uint32_t num_ranks = 2, EndpointShape shape = {}) {
  DoorOptions options{.provider = std::move(provider), .num_ranks = num_ranks, .shape = shape};
  options.address.bytes = {127, 0, 0, 1};
  return options;
}

// Why there can be no such world here; empty where there can.
inline std::string why_not(const char* provider) {
#ifdef __SANITIZE_THREAD__
  return "the thread sanitizer cannot see how libfabric synchronizes";
#endif
  const Result<std::unique_ptr<Door>> door = open_door(door_for_test(provider));
  return door.ok() ? "" : door.status().to_string();
}

class OfiWorld final : public World {
 public:
  struct Setup {
    const char* provider = kOverTcp;
    std::uint32_t num_ranks = 2;
    EndpointShape shape{.depth = 8, .slot = 64 << 10};
    std::chrono::nanoseconds restore_within = std::chrono::seconds(10);
  };

  explicit OfiWorld(const Setup& setup) : endpoints_(setup.num_ranks), warnings_(setup.num_ranks) {
    std::vector<std::unique_ptr<Door>> doors;
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      Result<std::unique_ptr<Door>> door = open_door(door_for_test(setup.provider, setup.num_ranks, setup.shape));
      EXPECT_TRUE(door.ok()) << door.status().to_string();
      doors.push_back(std::move(door).value());
      names_.push_back(doors.back()->name());
    }
    for (std::uint32_t rank = 0; rank < setup.num_ranks; ++rank) {
      OfiOptions options{.rank = rank, .num_ranks = setup.num_ranks, .shape = setup.shape};
      options.token = token();
      options.communicator = kCommunicator;
      options.names = names_;
      options.restore_within = setup.restore_within;
      options.warn = [this, rank](std::string_view words) { warnings_[rank].emplace_back(words); };
      Result<std::unique_ptr<Endpoint>> made = make_ofi_endpoint(std::move(doors[rank]), std::move(options));
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      endpoints_[rank] = std::move(made).value();
    }
  }

  static constexpr std::uint64_t kCommunicator = 42;
  static Token token() {
    Token token{};
    for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::byte>(i * 7 + 1);
    return token;
  }

  [[nodiscard]] Endpoint& endpoint(std::uint32_t rank) override { return *endpoints_[rank]; }
  void drop(std::uint32_t rank) override { endpoints_[rank].reset(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::string>& warnings(std::uint32_t rank) const { return warnings_[rank]; }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::vector<std::string>> warnings_;
  std::vector<std::string> names_;
};

}  // namespace tutti::transport::ofi
