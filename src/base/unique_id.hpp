// SPDX-License-Identifier: Apache-2.0
// The id by which the ranks of a communicator find each other, and the secret that lets them in: where the rendezvous
// listens, and a random token. It is what tuttiUniqueId holds; as text it travels in TUTTI_UNIQUE_ID.
//
// Whoever has the id may join: it belongs into no log. A value; thread-safe as such.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti {

// Where a server listens. An IPv4 address stands in the first four bytes. A local address is an abstract unix socket
// with a random name in the first eight bytes. Only processes of this host reach it, and the system tells whose process
// connects.
struct Address {
  enum class Family : std::uint8_t { local = 1, ipv4 = 4, ipv6 = 6 };
  Family family = Family::ipv4;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;  // the interface that a link-local IPv6 address belongs to
  std::array<std::uint8_t, 16> bytes{};

  bool operator==(const Address&) const = default;
};

// "127.0.0.1:4711", "[::1]:4711", "@tutti-meet-0123456789abcdef".
[[nodiscard]] std::string to_text(const Address& address);

// Of an address in the network, without brackets: "127.0.0.1", "::1".
[[nodiscard]] std::string without_port(const Address& address);

// An unused local address.
[[nodiscard]] Result<Address> make_local_address();
// The name of a local one, without the zero in front that makes it abstract.
[[nodiscard]] std::string local_name(const Address& address);

inline constexpr std::size_t kTokenBytes = 32;
using Token = std::array<std::byte, kTokenBytes>;

[[nodiscard]] Result<Token> make_token();
// Takes the same time wherever they differ, so that timing tells nothing about the token.
[[nodiscard]] bool same_token(std::span<const std::byte, kTokenBytes> a, std::span<const std::byte, kTokenBytes> b);

class UniqueId {
 public:
  static constexpr std::size_t kBytes = 128;
  using Raw = std::array<std::byte, kBytes>;

  // A new token from the kernel's random numbers.
  [[nodiscard]] static Result<UniqueId> make(const Address& address);
  // Both check magic, version, address and a checksum; their errors never quote what they were given.
  [[nodiscard]] static Result<UniqueId> from_bytes(std::span<const std::byte, kBytes> raw);
  [[nodiscard]] static Result<UniqueId> from_text(std::string_view text);

  [[nodiscard]] Raw to_bytes() const;
  [[nodiscard]] std::string to_text() const;  // 128 hexadecimal digits

  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] const Token& token() const { return token_; }
  bool operator==(const UniqueId&) const = default;

 private:
  Address address_{};
  Token token_{};
};

}  // namespace tutti
