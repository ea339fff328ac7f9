// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/wire.hpp"

#include "base/digest.hpp"

namespace tutti::transport::ofi {
namespace {

constexpr std::uint32_t kVersion = 1;

template <typename Number>
std::size_t put(std::span<std::byte> raw, std::size_t at, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) raw[at + i] = static_cast<std::byte>(value >> (8 * i));
  return at + sizeof(Number);
}

template <typename Number>
Number get(std::span<const std::byte> raw, std::size_t at) {
  Number value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    value = static_cast<Number>(value << 8 | std::to_integer<Number>(raw[at + i]));
  return value;
}

// The second half of MurmurHash3's finalizer (Appleby), so that every bit of the digest depends on every other.
std::uint64_t mixed(std::uint64_t bits) {
  bits ^= bits >> 33U;
  bits *= 0xff51afd7ed558ccdULL;
  bits ^= bits >> 33U;
  bits *= 0xc4ceb9fe1a85ec53ULL;
  return bits ^ bits >> 33U;
}

std::uint64_t digest_of(const Token& token, std::uint64_t communicator, std::uint64_t who) {
  std::array<std::byte, kTokenBytes + 16> raw{};
  put(raw, 0, who);
  put(raw, 8, communicator);
  for (std::size_t i = 0; i < token.size(); ++i) raw[16 + i] = token[i];
  std::array<char, raw.size()> text{};
  for (std::size_t i = 0; i < raw.size(); ++i) text[i] = static_cast<char>(raw[i]);
  return mixed(digest({text.data(), text.size()}));
}

}  // namespace

std::uint64_t key_of(const Token& token, std::uint64_t communicator, std::uint32_t source, std::uint32_t destination) {
  return digest_of(token, communicator, std::uint64_t{source} << 32U | destination);
}

Tags::Tags(const Token& token, std::uint64_t communicator)
    : high(digest_of(token, communicator, ~std::uint64_t{0}) >> 44U << 28U) {}

void encode(const Header& header, std::span<std::byte, kHeaderBytes> raw) {
  put(raw, 0, header.key);
  put(raw, 8, header.number);
  put(raw, 16, header.description);
  put(raw, 24, header.taken_back[0]);
  put(raw, 28, header.taken_back[1]);
  put(raw, 32, header.bytes);
  put(raw, 36, header.traffic);
}

Header decode_header(std::span<const std::byte, kHeaderBytes> raw) {
  return {.key = get<std::uint64_t>(raw, 0),
          .number = get<std::uint64_t>(raw, 8),
          .description = get<std::uint64_t>(raw, 16),
          .taken_back = {get<std::uint32_t>(raw, 24), get<std::uint32_t>(raw, 28)},
          .bytes = get<std::uint32_t>(raw, 32),
          .traffic = get<std::uint32_t>(raw, 36)};
}

void encode(const Control& control, std::span<std::byte, kControlBytes> raw) {
  put(raw, 0, control.key);
  put(raw, 8, static_cast<std::uint32_t>(control.kind));
  put(raw, 12, kVersion);
  put(raw, 16, control.source);
  put(raw, 20, control.attempt);
  std::size_t at = 24;
  for (const std::uint64_t number : control.first) at = put(raw, at, number);
  for (const std::uint64_t number : control.taken) at = put(raw, at, number);
}

std::optional<Control> decode_control(std::span<const std::byte> raw) {
  if (raw.size() != kControlBytes || get<std::uint32_t>(raw, 12) != kVersion) return std::nullopt;
  const auto kind = get<std::uint32_t>(raw, 8);
  if (kind < static_cast<std::uint32_t>(ControlKind::hello) || kind > static_cast<std::uint32_t>(ControlKind::bye))
    return std::nullopt;
  return Control{.kind = static_cast<ControlKind>(kind),
                 .key = get<std::uint64_t>(raw, 0),
                 .source = get<std::uint32_t>(raw, 16),
                 .attempt = get<std::uint32_t>(raw, 20),
                 .first = {get<std::uint64_t>(raw, 24), get<std::uint64_t>(raw, 32)},
                 .taken = {get<std::uint64_t>(raw, 40), get<std::uint64_t>(raw, 48)}};
}

}  // namespace tutti::transport::ofi
