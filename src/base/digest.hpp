// SPDX-License-Identifier: Apache-2.0
// A short number that tells texts apart which differ by oversight and not by attack: FNV-1a (Fowler, Noll, Vo) of 64
// bits. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

inline constexpr std::uint64_t kDigestOfNothing = 0xCBF29CE484222325;

// Of the text behind what `from` is the digest of.
[[nodiscard]] constexpr std::uint64_t digest(std::string_view text, std::uint64_t from = kDigestOfNothing) {
  constexpr std::uint64_t kPrime = 0x100000001B3;
  for (const char letter : text) from = (from ^ static_cast<unsigned char>(letter)) * kPrime;
  return from;
}

}  // namespace tutti
