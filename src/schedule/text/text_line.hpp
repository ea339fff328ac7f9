// SPDX-License-Identifier: Apache-2.0
// One line of the text form of schedules, as the words that it is made of. Internal to reading.
//
// Borrows the text; one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

struct Token {
  enum class Kind : std::uint8_t { word, number, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint64_t column = 1;  // in bytes, from 1

  [[nodiscard]] bool is(std::string_view what) const { return kind != Kind::end && text == what; }
  // For messages: "'recv'", or that the line has ended.
  [[nodiscard]] std::string found() const;
};

class TextLine {
 public:
  explicit TextLine(std::string_view text = {}) : text_(text) { advance(); }

  [[nodiscard]] const Token& next() const { return next_; }
  [[nodiscard]] bool at_end() const { return next_.kind == Token::Kind::end; }
  Token take() {
    const Token taken = next_;
    advance();
    return taken;
  }
  // Takes the next token if it is this one.
  bool take_if(std::string_view what) {
    if (!next_.is(what)) return false;
    advance();
    return true;
  }
  // All from the next token on, also what would be a comment.
  [[nodiscard]] std::string_view rest() const { return text_.substr(next_.column - 1); }

 private:
  void advance();

  std::string_view text_;
  std::size_t at_ = 0;
  Token next_;
};

}  // namespace tutti
