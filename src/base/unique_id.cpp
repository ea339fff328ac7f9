// SPDX-License-Identifier: Apache-2.0
#include "base/unique_id.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/random.h>

namespace tutti {
namespace {

// The layout, little-endian; what follows the checksum is zero.
//   0 magic (4)  4 version  5 family  6 port (2)  8 scope (4)  12 address (16)  28 token (32)  60 checksum (4)
constexpr std::array<std::uint8_t, 4> kMagic = {'T', 'u', 't', '1'};
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kFamilyAt = 5;
constexpr std::size_t kPortAt = 6;
constexpr std::size_t kScopeAt = 8;
constexpr std::size_t kAddressAt = 12;
constexpr std::size_t kTokenAt = 28;
constexpr std::size_t kChecksumAt = 60;
constexpr std::size_t kUsedBytes = 64;
constexpr std::size_t kTextLength = 2 * kUsedBytes;
constexpr std::size_t kLocalBytes = 8;  // of a local address

template <typename Unsigned>
void store(std::span<std::byte> raw, std::size_t at, Unsigned value) {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) raw[at + i] = static_cast<std::byte>(value >> (8 * i));
}

template <typename Unsigned>
Unsigned load(std::span<const std::byte> raw, std::size_t at) {
  Unsigned value = 0;
  for (std::size_t i = sizeof(Unsigned); i-- > 0;) {
    value = static_cast<Unsigned>((value << 8) | std::to_integer<Unsigned>(raw[at + i]));
  }
  return value;
}

// FNV-1a (Fowler, Noll, Vo), against slips of copying; the token is what keeps strangers out.
std::uint32_t checksum(std::span<const std::byte> bytes) {
  std::uint32_t hash = 2166136261U;
  for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint32_t>(byte)) * 16777619U;
  return hash;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Status not_an_id(std::string_view why) {
  return {Code::invalid_argument, fmt::format("this is not an id of Tutti: {}", why)};
}

}  // namespace

std::string local_name(const Address& address) {
  std::string name = "tutti-meet-";
  for (std::size_t i = 0; i < kLocalBytes; ++i) name += fmt::format("{:02x}", address.bytes[i]);
  return name;
}

Result<Address> make_local_address() {
  TUTTI_TRY_ASSIGN(const Token random, make_token());
  Address address{.family = Address::Family::local};
  for (std::size_t i = 0; i < kLocalBytes; ++i) address.bytes[i] = std::to_integer<std::uint8_t>(random[i]);
  return address;
}

std::string without_port(const Address& address) {
  std::string text = to_text(address);
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

std::string to_text(const Address& address) {
  if (address.family == Address::Family::local) return fmt::format("@{}", local_name(address));
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv4 = address.family == Address::Family::ipv4;
  const char* words = inet_ntop(ipv4 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size());
  return ipv4 ? fmt::format("{}:{}", words, address.port) : fmt::format("[{}]:{}", words, address.port);
}

Result<Token> make_token() {
  Token token{};
  std::size_t filled = 0;
  while (filled < token.size()) {
    const ssize_t got = getrandom(token.data() + filled, token.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("cannot draw random bytes for a token", errno);
    filled += static_cast<std::size_t>(got);
  }
  return token;
}

bool same_token(std::span<const std::byte, kTokenBytes> a, std::span<const std::byte, kTokenBytes> b) {
  // Volatile keeps the compiler from leaving the loop at the first difference.
  volatile std::uint8_t difference = 0;
  for (std::size_t i = 0; i < kTokenBytes; ++i) {
    difference = static_cast<std::uint8_t>(difference | std::to_integer<std::uint8_t>(a[i] ^ b[i]));
  }
  return difference == 0;
}

Result<UniqueId> UniqueId::make(const Address& address) {
  TUTTI_TRY_ASSIGN(Token token, make_token());
  UniqueId id;
  id.address_ = address;
  id.token_ = token;
  return id;
}

Result<UniqueId> UniqueId::from_bytes(std::span<const std::byte, kBytes> raw) {
  if (std::memcmp(raw.data(), kMagic.data(), kMagic.size()) != 0) return not_an_id("it begins differently");
  if (const auto version = load<std::uint8_t>(raw, kVersionAt); version != kVersion) {
    return not_an_id(fmt::format("its version is {}, and this library knows version {}", version, kVersion));
  }
  if (load<std::uint32_t>(raw, kChecksumAt) != checksum(raw.first<kChecksumAt>())) {
    return not_an_id("its checksum is wrong, so it was damaged on its way");
  }
  const auto rest = raw.subspan(kUsedBytes);
  if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return not_an_id("its last 64 bytes are not zero");
  }
  const auto family = load<std::uint8_t>(raw, kFamilyAt);
  if (family != 1 && family != 4 && family != 6)
    return not_an_id(fmt::format("it has an address of family {}", family));

  UniqueId id;
  id.address_.family = static_cast<Address::Family>(family);
  id.address_.port = load<std::uint16_t>(raw, kPortAt);
  id.address_.scope = load<std::uint32_t>(raw, kScopeAt);
  std::memcpy(id.address_.bytes.data(), raw.data() + kAddressAt, id.address_.bytes.size());
  std::copy_n(raw.begin() + kTokenAt, kTokenBytes, id.token_.begin());
  if (id.address_.port == 0 && id.address_.family != Address::Family::local) return not_an_id("it has no port");
  return id;
}

Result<UniqueId> UniqueId::from_text(std::string_view text) {
  if (text.size() != kTextLength) {
    return not_an_id(fmt::format("it has {} characters, and should have {}", text.size(), kTextLength));
  }
  Raw raw{};
  for (std::size_t i = 0; i < kUsedBytes; ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return not_an_id(fmt::format("character {} or the next is not hexadecimal", 2 * i + 1));
    raw[i] = static_cast<std::byte>(16 * high + low);
  }
  return from_bytes(raw);
}

UniqueId::Raw UniqueId::to_bytes() const {
  Raw raw{};
  std::memcpy(raw.data(), kMagic.data(), kMagic.size());
  store(raw, kVersionAt, kVersion);
  store(raw, kFamilyAt, static_cast<std::uint8_t>(address_.family));
  store(raw, kPortAt, address_.port);
  store(raw, kScopeAt, address_.scope);
  std::memcpy(raw.data() + kAddressAt, address_.bytes.data(), address_.bytes.size());
  std::copy(token_.begin(), token_.end(), raw.begin() + kTokenAt);
  store(raw, kChecksumAt, checksum(std::span<const std::byte>(raw).first<kChecksumAt>()));
  return raw;
}

std::string UniqueId::to_text() const {
  const Raw raw = to_bytes();
  std::string text;
  text.reserve(kTextLength);
  for (std::size_t i = 0; i < kUsedBytes; ++i) text += fmt::format("{:02x}", std::to_integer<unsigned>(raw[i]));
  return text;
}

}  // namespace tutti
