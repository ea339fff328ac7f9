// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi/rules_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/system/file.hpp"

namespace tutti::peers {

namespace {

// How many collectives Open MPI numbers.
constexpr long kNumCollectivesOfTuned = 22;

class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}

  Result<long> next(std::string_view what, long least, long most) {
    skip();
    if (text_.empty()) return Status(Code::invalid_argument, fmt::format("line {}: {} is missing", line_, what));
    long value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < least || value > most)
      return Status(Code::invalid_argument,
                    fmt::format("line {}: {} is {}; it goes from {} to {}", line_, what,
                                text_.substr(0, static_cast<std::size_t>(stop - text_.data())), least, most));
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    return value;
  }

 private:
  // Open MPI skips whatever is no number.
  void skip() {
    while (!text_.empty()) {
      const char next = text_.front();
      const bool is_digit = next >= '0' && next <= '9';
      if (is_digit || (next == '-' && text_.size() > 1 && text_[1] >= '0' && text_[1] <= '9')) return;
      if (next == '\n') ++line_;
      text_.remove_prefix(next == '#' ? std::min(text_.find('\n'), text_.size()) : 1);
    }
  }

  std::string_view text_;
  int line_ = 1;
};

constexpr long kMost = 1L << 40;

Status check_message_sizes(Numbers& numbers) {
  TUTTI_TRY_ASSIGN(const long num_messages, numbers.next("the number of message sizes", 0, kMost));
  for (long message = 0; message < num_messages; ++message) {
    TUTTI_TRY_ASSIGN(const long size, numbers.next("a message size", 0, kMost));
    if (message == 0 && size != 0)
      return {Code::invalid_argument, fmt::format("the first message size is {}; it must be 0", size)};
    for (const std::string_view what : {"an algorithm", "a fan-out", "a segment size"})
      TUTTI_TRY(numbers.next(what, 0, kMost).status());
  }
  return {};
}

}  // namespace

Status check_rules(std::string_view text) {
  Numbers numbers(text);
  TUTTI_TRY_ASSIGN(const long num_collectives, numbers.next("the number of collectives", 1, kNumCollectivesOfTuned));
  for (long collective = 0; collective < num_collectives; ++collective) {
    TUTTI_TRY(numbers.next("a collective's number", 0, kNumCollectivesOfTuned - 1).status());
    TUTTI_TRY_ASSIGN(const long num_sizes, numbers.next("the number of communicator sizes", 0, kMost));
    for (long size = 0; size < num_sizes; ++size) {
      TUTTI_TRY(numbers.next("a communicator size", 0, kMost).status());
      TUTTI_TRY(check_message_sizes(numbers));
    }
  }
  return {};
}

Status check_rules_file(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, kMostBytes));
  const Status status = check_rules(text);
  return status.ok() ? status : status.with_context(path);
}

}  // namespace tutti::peers
