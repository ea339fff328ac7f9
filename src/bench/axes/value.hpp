// SPDX-License-Identifier: Apache-2.0
// A value of an axis, and lists of them as people write them. Values and pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace tutti::harness {

// Whole numbers, finite numbers with a fraction, and words. What is written as a number is one: "4M" is 4194304.
class Value {
 public:
  Value() = default;
  Value(std::int64_t number) : value_(number) {}                    // NOLINT(google-explicit-constructor)
  Value(double number) : value_(number) {}                          // NOLINT(google-explicit-constructor)
  Value(std::string word) : value_(std::move(word)) {}              // NOLINT(google-explicit-constructor)
  Value(std::string_view word) : value_(std::string(word)) {}       // NOLINT(google-explicit-constructor)
  Value(const char* word) : value_(std::string(word)) {}            // NOLINT(google-explicit-constructor)
  Value(int number) : value_(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  [[nodiscard]] bool is_number() const { return !is_word(); }
  [[nodiscard]] bool is_word() const { return std::holds_alternative<std::string>(value_); }
  // Zero where it is a word; integer() of a fraction goes towards zero, and no further than 64 bits reach.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  // The word as it stands where it is one, else empty.
  [[nodiscard]] const std::string& word() const;

  // 4194304, 0.25, 2.0, ring, "64": what a table shows and a store keeps; a word has quotes only where it would be
  // taken for something else without. parse_value() reads it back to the same value.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  std::variant<std::int64_t, double, std::string> value_ = std::int64_t{0};
};

// One value: "64", "-3", "4M" (a size), "0.25", "1e6" (a fraction), else a word. A quoted "64" is a word; so is inf,
// and what is too large for any number.
[[nodiscard]] Value parse_value(std::string_view text);

// Values with commas between, of which each may be a range of whole numbers from 0 on or of sizes: "8,64,1K",
// "8:64M:x4" (from 8 to 64M, times 4; it includes its end: where the step misses it, that is the last point),
// "8:64:+8", "8:1K" (which doubles). What has a colon behind something else than a number is a word: "torus_2d:2x3". A
// value may stand in double quotes, and is a word then, also an empty one. A list that begins with '[' is a TOML array
// of strings (words), numbers and booleans (the words true and false). An empty list or value, a range that goes down
// or never ends, a whole number that 64 bits do not hold, or more than 65536 values are errors that say so.
[[nodiscard]] Result<std::vector<Value>> parse_values(std::string_view text);

}  // namespace tutti::harness
