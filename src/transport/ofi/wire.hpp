// SPDX-License-Identifier: Apache-2.0
// What endpoints over libfabric send each other, byte for byte, and by which tags (docs/design/transport_ofi.md).
// Messages lie behind a header of 40 bytes; everything else is a control record of 56 bytes. All numbers are
// little-endian. Values and pure functions; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/unique_id.hpp"
#include "transport/endpoint.hpp"
#include "transport/traffic.hpp"

namespace tutti::transport::ofi {

// A number for each kind of traffic.
using ByTraffic = std::array<std::uint64_t, kNumTraffics>;

// A digest of the token, and of who speaks to whom: it is in all that a rank sends. Only who knows the token knows it.
[[nodiscard]] std::uint64_t key_of(const Token& token, std::uint64_t communicator, std::uint32_t source,
                                   std::uint32_t destination);

// Tags have 48 bits: 20 of a digest of the token, 14 of the source, 2 of the kind of traffic, or of control, and 12 of
// the slot. So each receive gets just the message that it is for.
inline constexpr int kTagBits = 48;
inline constexpr std::uint32_t kMostRanks = 1 << 14;
inline constexpr std::uint32_t kGreatestDepth = 1 << 12;
struct Tags {
  Tags(const Token& token, std::uint64_t communicator);
  [[nodiscard]] std::uint64_t of_message(std::uint32_t source, std::uint32_t traffic, std::uint64_t slot) const {
    return high | std::uint64_t{source} << 14U | std::uint64_t{traffic} << 12U | slot;
  }
  // From anyone.
  [[nodiscard]] std::uint64_t of_control() const { return high | std::uint64_t{3} << 12U; }

  std::uint64_t high;
};

struct Header {
  std::uint64_t key = 0;
  std::uint64_t number = 0;  // of the message in its queue, from 0
  std::uint64_t description = 0;
  std::array<std::uint32_t, kNumTraffics> taken_back{};  // the low bits of what was taken the other way
  std::uint32_t bytes = 0;                               // of the payload
  std::uint32_t traffic = 0;
};
inline constexpr std::size_t kHeaderBytes = 40;

void encode(const Header& header, std::span<std::byte, kHeaderBytes> raw);
[[nodiscard]] Header decode_header(std::span<const std::byte, kHeaderBytes> raw);

// A source says hello before its first message, and again where its messages failed. The destination welcomes it when
// its receives are posted. Credits and bye go either way.
enum class ControlKind : std::uint8_t { hello = 1, welcome = 2, credits = 3, bye = 4 };

struct Control {
  ControlKind kind = ControlKind::bye;
  std::uint64_t key = 0;
  std::uint32_t source = 0;   // who speaks
  std::uint32_t attempt = 0;  // of a hello, and of the welcome that answers it
  ByTraffic first{};          // of a hello: depth and bytes of a slot; of a welcome: received
  ByTraffic taken{};          // of a welcome and of credits
};
inline constexpr std::size_t kControlBytes = 56;

void encode(const Control& control, std::span<std::byte, kControlBytes> raw);
// Nothing for what is no control record of this version.
[[nodiscard]] std::optional<Control> decode_control(std::span<const std::byte> raw);

}  // namespace tutti::transport::ofi
