// SPDX-License-Identifier: Apache-2.0
#include "schedule/text/text_line.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace tutti {

namespace {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// A hyphen, because names take it for an underscore; an apostrophe for "all ranks'".
constexpr bool continues_word(char c) { return begins_word(c) || is_digit(c) || c == '-' || c == '\''; }
constexpr bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string Token::found() const { return kind == Kind::end ? "the end of the line" : in_quotes(text); }

void TextLine::advance() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  const std::size_t begin = at_;
  next_ = {Token::Kind::end, {}, begin + 1};
  if (at_ == text_.size() || text_[at_] == '#') return;
  const auto run = [&](auto belongs) {
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(begin) + 1;
    return begin + 1 + static_cast<std::size_t>(std::find_if_not(from, text_.end(), belongs) - from);
  };
  if (begins_word(text_[begin])) {
    next_.kind = Token::Kind::word;
    at_ = run(continues_word);
  } else if (is_digit(text_[begin])) {
    next_.kind = Token::Kind::number;
    at_ = run(is_digit);
  } else {
    // A whole character, so that a message can show it.
    next_.kind = Token::Kind::symbol;
    at_ = run(continues_character);
  }
  next_.text = text_.substr(begin, at_ - begin);
}

}  // namespace tutti
