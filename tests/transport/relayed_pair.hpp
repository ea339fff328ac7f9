// SPDX-License-Identifier: Apache-2.0
// For tests of endpoints over TCP: two ranks that reach each other through relays, and what they say to each other.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/transport/conversation.hpp"
#include "tests/transport/relay.hpp"
#include "tests/transport/tcp_world.hpp"

namespace tutti::transport::tcp {

inline constexpr auto kPatience = std::chrono::seconds(60);

// Steps until it is so; false where that takes for ever.
inline bool until(const std::function<bool()>& is_so, const std::function<void()>& step) {
  const auto end = Clock::now() + kPatience;
  while (!is_so()) {
    step();
    if (Clock::now() > end) return false;
  }
  return true;
}

inline std::size_t num_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.is_symlink() ? 1 : 0;
  return count;
}

inline std::vector<Flow> both_ways(std::uint64_t messages, const std::vector<std::uint64_t>& sizes) {
  std::vector<Flow> flows;
  for (const Traffic traffic : {Traffic::schedules, Traffic::program})
    for (const std::uint32_t source : {0U, 1U}) flows.push_back({source, 1 - source, traffic, messages, sizes});
  return flows;
}

// Two ranks that reach each other through relays.
struct RelayedPair {
  explicit RelayedPair(
      std::function<std::uint64_t()> limit = [] { return std::uint64_t{0}; },
      std::chrono::nanoseconds restore_within = std::chrono::seconds(20),
      EndpointShape shape = {.depth = 4, .slot = 4096})
      : RelayedPair(plan_of(limit), restore_within, shape) {}
  explicit RelayedPair(Relay::Plan plan, std::chrono::nanoseconds restore_within = std::chrono::seconds(20),
                       EndpointShape shape = {.depth = 4, .slot = 4096})
      : relays{Relay(plan), Relay(plan)} {
    TcpWorld::Setup setup{.shape = shape, .restore_within = restore_within};
    setup.told = [this](std::uint32_t rank, const Address& real) {
      relays[rank].lead_to(real);
      return std::vector{relays[rank].address()};
    };
    world = std::make_unique<TcpWorld>(setup);
  }
  void step() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      world->endpoint(rank).step();
      relays[rank].step();
    }
  }
  // Of a relay, every other cut is a reset.
  static Relay::Plan plan_of(const std::function<std::uint64_t()>& limit) {
    return [limit, number = 0]() mutable { return Course{.limit = limit(), .resets = number++ % 2 == 1}; };
  }

  std::array<Relay, 2> relays;
  std::unique_ptr<TcpWorld> world;
};

}  // namespace tutti::transport::tcp
