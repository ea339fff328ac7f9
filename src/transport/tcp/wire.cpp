// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/wire.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::transport::tcp {
namespace {

// Hello:   0 magic (8)  8 version (4)  12 depth (4)  16 token (32)  48 communicator (8)  56 source (4)
//          60 destination (4)  64 slot (8)  72 received (2 * 8)  88 taken (2 * 8)
// Welcome: 0 magic (8)  8 version (4)  12 zero (4)   16 token (32)  48 received (2 * 8)  64 taken (2 * 8)
// Header:  0 kind (1)  1 traffic (1)  2 zero (2)  4 bytes (4)  8 number (8)  16 description (8)  24 taken (2 * 4)
constexpr std::array<char, 8> kHelloMagic = {'T', 'u', 't', 't', 'i', 'H', 'i', '2'};
constexpr std::array<char, 8> kWelcomeMagic = {'T', 'u', 't', 't', 'i', 'O', 'k', '2'};
constexpr std::uint32_t kWireVersion = 2;
constexpr std::size_t kWireVersionAt = 8;
constexpr std::size_t kDepthAt = 12;
constexpr std::size_t kWireTokenAt = 16;
constexpr std::size_t kCommunicatorAt = 48;
constexpr std::size_t kSourceAt = 56;
constexpr std::size_t kDestinationAt = 60;
constexpr std::size_t kSlotAt = 64;
constexpr std::size_t kHelloProgressAt = 72;
constexpr std::size_t kWelcomeProgressAt = 48;

template <typename Unsigned>
void put(std::byte* at, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

template <typename Unsigned>
Unsigned get(const std::byte* at) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    value = static_cast<Unsigned>(value | static_cast<Unsigned>(std::to_integer<Unsigned>(at[i]) << (8 * i)));
  return value;
}

template <std::size_t size>
std::array<std::byte, size> begin_with(const std::array<char, 8>& magic, const Token& token) {
  std::array<std::byte, size> raw{};
  std::memcpy(raw.data(), magic.data(), magic.size());
  put(raw.data() + kWireVersionAt, kWireVersion);
  std::copy(token.begin(), token.end(), raw.begin() + kWireTokenAt);
  return raw;
}

bool begins_with(std::span<const std::byte> raw, const std::array<char, 8>& magic) {
  if (std::memcmp(raw.data(), magic.data(), std::min(raw.size(), magic.size())) != 0) return false;
  return raw.size() < kDepthAt || get<std::uint32_t>(raw.data() + kWireVersionAt) == kWireVersion;
}

void put_progress(std::byte* at, const Progress& progress) {
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    put(at + 8 * i, progress.received[i]);
    put(at + 8 * (kNumTraffics + i), progress.taken[i]);
  }
}

Progress get_progress(const std::byte* at) {
  Progress progress;
  for (std::size_t i = 0; i < kNumTraffics; ++i) {
    progress.received[i] = get<std::uint64_t>(at + 8 * i);
    progress.taken[i] = get<std::uint64_t>(at + 8 * (kNumTraffics + i));
  }
  return progress;
}

}  // namespace

HelloBytes encode(const Hello& hello) {
  HelloBytes raw = begin_with<kHelloBytes>(kHelloMagic, hello.token);
  put(raw.data() + kDepthAt, hello.shape.depth);
  put(raw.data() + kCommunicatorAt, hello.communicator);
  put(raw.data() + kSourceAt, hello.source);
  put(raw.data() + kDestinationAt, hello.destination);
  put(raw.data() + kSlotAt, hello.shape.slot);
  put_progress(raw.data() + kHelloProgressAt, hello.progress);
  return raw;
}

WelcomeBytes encode(const Welcome& welcome) {
  WelcomeBytes raw = begin_with<kWelcomeBytes>(kWelcomeMagic, welcome.token);
  put_progress(raw.data() + kWelcomeProgressAt, welcome.progress);
  return raw;
}

std::optional<Hello> decode_hello(std::span<const std::byte, kHelloBytes> raw) {
  if (!begins_with(raw, kHelloMagic)) return std::nullopt;
  Hello hello;
  std::copy_n(raw.begin() + kWireTokenAt, kTokenBytes, hello.token.begin());
  hello.shape.depth = get<std::uint32_t>(raw.data() + kDepthAt);
  hello.communicator = get<std::uint64_t>(raw.data() + kCommunicatorAt);
  hello.source = get<std::uint32_t>(raw.data() + kSourceAt);
  hello.destination = get<std::uint32_t>(raw.data() + kDestinationAt);
  hello.shape.slot = get<std::uint64_t>(raw.data() + kSlotAt);
  hello.progress = get_progress(raw.data() + kHelloProgressAt);
  return hello;
}

std::optional<Welcome> decode_welcome(std::span<const std::byte, kWelcomeBytes> raw) {
  if (!begins_with(raw, kWelcomeMagic)) return std::nullopt;
  Welcome welcome;
  std::copy_n(raw.begin() + kWireTokenAt, kTokenBytes, welcome.token.begin());
  welcome.progress = get_progress(raw.data() + kWelcomeProgressAt);
  return welcome;
}

bool may_be_hello(std::span<const std::byte> begun) { return begins_with(begun, kHelloMagic); }

HeaderBytes encode(const FrameHeader& header) {
  HeaderBytes raw{};
  raw[0] = static_cast<std::byte>(header.kind);
  raw[1] = static_cast<std::byte>(header.traffic);
  put(raw.data() + 4, header.bytes);
  put(raw.data() + 8, header.number);
  put(raw.data() + 16, header.description);
  for (std::size_t i = 0; i < kNumTraffics; ++i) put(raw.data() + 24 + 4 * i, header.taken[i]);
  return raw;
}

std::optional<FrameHeader> decode_header(std::span<const std::byte, kHeaderBytes> raw) {
  const auto kind = std::to_integer<std::uint8_t>(raw[0]);
  if (kind < static_cast<std::uint8_t>(FrameKind::message) || kind > static_cast<std::uint8_t>(FrameKind::bye))
    return std::nullopt;
  FrameHeader header;
  header.kind = static_cast<FrameKind>(kind);
  header.traffic = std::to_integer<std::uint8_t>(raw[1]);
  if (header.traffic >= kNumTraffics) return std::nullopt;
  header.bytes = get<std::uint32_t>(raw.data() + 4);
  header.number = get<std::uint64_t>(raw.data() + 8);
  header.description = get<std::uint64_t>(raw.data() + 16);
  for (std::size_t i = 0; i < kNumTraffics; ++i) header.taken[i] = get<std::uint32_t>(raw.data() + 24 + 4 * i);
  return header;
}

}  // namespace tutti::transport::tcp
