// SPDX-License-Identifier: Apache-2.0
// A text in GOAL as the words that it is made of. Internal to reading. Borrows the text; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::simulate {

struct GoalWord {
  enum class Kind : std::uint8_t { name, number, symbol, line_end, file_end };
  Kind kind = Kind::file_end;
  std::string_view text;  // of a symbol one byte
  std::uint32_t line = 1;
  std::uint64_t column = 1;  // in bytes, from 1

  [[nodiscard]] bool is(std::string_view what) const {
    return (kind == Kind::name || kind == Kind::symbol) && text == what;
  }
  // For messages: "'recv'", or what has ended.
  [[nodiscard]] std::string found() const;
};

class GoalWords {
 public:
  explicit GoalWords(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] const GoalWord& next() const { return next_; }
  GoalWord take() {
    const GoalWord taken = next_;
    advance();
    return taken;
  }
  bool take_if(std::string_view what) {
    if (!next_.is(what)) return false;
    advance();
    return true;
  }

 private:
  void advance();
  bool skip_blanks();
  void set(GoalWord::Kind kind, std::size_t size);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
  GoalWord next_;
};

}  // namespace tutti::simulate
