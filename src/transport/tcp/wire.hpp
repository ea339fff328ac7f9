// SPDX-License-Identifier: Apache-2.0
// What connections between endpoints carry, byte for byte (docs/design/transport.md). A connection begins with the
// hello of the rank that makes it and the welcome of the other; frames follow both ways, each with a header of 32
// bytes. All numbers are little-endian. Values and pure functions; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/unique_id.hpp"
#include "transport/endpoint.hpp"
#include "transport/traffic.hpp"

namespace tutti::transport::tcp {

// A number for each kind of traffic.
using ByTraffic = std::array<std::uint64_t, kNumTraffics>;

// How far a rank has got with the other's messages: how many have arrived whole, and how many of them it has taken.
struct Progress {
  ByTraffic received{};
  ByTraffic taken{};
};

struct Hello {
  Token token{};
  std::uint64_t communicator = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  EndpointShape shape{};
  Progress progress{};
};

struct Welcome {
  Token token{};
  Progress progress{};
};

inline constexpr std::size_t kHelloBytes = 104;
inline constexpr std::size_t kWelcomeBytes = 80;
using HelloBytes = std::array<std::byte, kHelloBytes>;
using WelcomeBytes = std::array<std::byte, kWelcomeBytes>;

[[nodiscard]] HelloBytes encode(const Hello& hello);
[[nodiscard]] WelcomeBytes encode(const Welcome& welcome);
// Nothing where magic or version are others.
[[nodiscard]] std::optional<Hello> decode_hello(std::span<const std::byte, kHelloBytes> raw);
[[nodiscard]] std::optional<Welcome> decode_welcome(std::span<const std::byte, kWelcomeBytes> raw);
// Whether a hello may begin so, of which not all has come.
[[nodiscard]] bool may_be_hello(std::span<const std::byte> begun);

// Every frame says how many messages of the other end have been taken. One of credits says nothing else; it goes where
// no message would say so soon. Either end says bye before it closes the connection for good.
enum class FrameKind : std::uint8_t { message = 1, credits = 2, bye = 3 };

struct FrameHeader {
  FrameKind kind = FrameKind::message;
  std::uint8_t traffic = 0;                         // of a message
  std::uint32_t bytes = 0;                          // of its payload, which follows the header
  std::uint64_t number = 0;                         // from 0
  std::uint64_t description = 0;                    // of a message
  std::array<std::uint32_t, kNumTraffics> taken{};  // the low bits, by traffic
};

inline constexpr std::size_t kHeaderBytes = 32;
using HeaderBytes = std::array<std::byte, kHeaderBytes>;

[[nodiscard]] HeaderBytes encode(const FrameHeader& header);
// Nothing for a kind or a traffic that does not exist.
[[nodiscard]] std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> raw);

}  // namespace tutti::transport::tcp
