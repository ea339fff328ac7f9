// SPDX-License-Identifier: Apache-2.0
// Quantities with their units: byte sizes, durations and ranks as types, and how people write and read them.
//
// Sizes count in powers of 1024 as nccl-tests does: 4M, 4MB and 4MiB are all 4 * 2^20 bytes. A fraction is taken where
// it is a whole number of bytes or nanoseconds (1.5K, not 1.0001K). Values and pure functions; thread-safe.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti {

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Bytes&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer

 private:
  std::uint64_t value_ = 0;
};

// A length of time. Negative ones exist as differences; parse_duration yields none.
class Nanos {
 public:
  constexpr Nanos() = default;
  constexpr explicit Nanos(std::int64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  constexpr auto operator<=>(const Nanos&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer

 private:
  std::int64_t value_ = 0;
};

class Rank {
 public:
  constexpr Rank() = default;
  constexpr explicit Rank(std::int32_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  constexpr auto operator<=>(const Rank&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer

 private:
  std::int32_t value_ = 0;
};

// A whole number in decimal, with nothing but blanks around it.
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text);

// "512", "4K", "4KB", "4KiB", "1.5M", "2 G"; units in either case.
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);

// Sizes and ranges with commas between: "8,64,1K", "8:64M:x4", "8:64:+8", "8:1K" (which doubles). A range includes its
// end: where the step misses it, it is the last point. A range of more than `most` points is an error.
[[nodiscard]] Result<std::vector<Bytes>> parse_byte_list(std::string_view text, std::size_t most = 1U << 20);

// "30s", "250ms", "10us", "5ns", "1m", "2h", "1.5s"; a plain number is seconds.
[[nodiscard]] Result<Nanos> parse_duration(std::string_view text);

// "2%", "0.02": a number from 0 on, of which a hundredth is meant where the sign stands behind it.
[[nodiscard]] Result<double> parse_share(std::string_view text);

// In the greatest unit that divides it: "4M", "1536K", "1000". parse_bytes reads it back to the same value.
[[nodiscard]] std::string to_text(Bytes bytes);

// "30s", "1.5ms", "90m", "0s"; exact, and parse_duration reads it back where it is not negative.
[[nodiscard]] std::string to_text(Nanos nanos);

}  // namespace tutti
