// SPDX-License-Identifier: Apache-2.0
#include "simulate/trace/goal_words.hpp"

#include "base/text.hpp"

namespace tutti::simulate {

namespace {

bool is_goal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_goal_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::size_t kMostShown = 40;

}  // namespace

std::string GoalWord::found() const {
  if (kind == Kind::line_end) return "the end of the line";
  if (kind == Kind::file_end) return "the end of the file";
  return in_quotes(text.substr(0, kMostShown));
}

// Blanks and comments; false where a comment does not end.
bool GoalWords::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      for (; at_ < end; ++at_) {
        if (text_[at_] != '\n') continue;
        ++line_;
        line_begin_ = at_ + 1;
      }
      at_ = end + 2;
    } else {
      break;
    }
  }
  return true;
}

void GoalWords::set(GoalWord::Kind kind, std::size_t size) {
  next_ = {kind, text_.substr(at_, size), line_, at_ - line_begin_ + 1};
  at_ += size;
}

void GoalWords::advance() {
  if (!skip_blanks()) return set(GoalWord::Kind::symbol, 2);  // of a comment without an end: nothing takes it
  if (at_ == text_.size()) return set(GoalWord::Kind::file_end, 0);
  const char c = text_[at_];
  if (c == '\n') {
    set(GoalWord::Kind::line_end, 1);
    ++line_;
    line_begin_ = at_;
    return;
  }
  std::size_t end = at_ + 1;
  if (is_goal_digit(c)) {
    while (end < text_.size() && is_goal_digit(text_[end])) ++end;
    return set(GoalWord::Kind::number, end - at_);
  }
  if (is_goal_letter(c)) {
    while (end < text_.size() && (is_goal_letter(text_[end]) || is_goal_digit(text_[end]) || text_[end] == '_')) ++end;
    return set(GoalWord::Kind::name, end - at_);
  }
  set(GoalWord::Kind::symbol, 1);
}

}  // namespace tutti::simulate
