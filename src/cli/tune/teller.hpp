// SPDX-License-Identifier: Apache-2.0
// Lines for people on standard error. Main thread only.
#pragma once

#include <ostream>
#include <string>

#include <unistd.h>

namespace tutti::cli {

// Lines for people, and on a terminal one that shows what is going on.
class Teller {
 public:
  explicit Teller(std::ostream& stream) : stream_(stream), is_terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~Teller() { clear(); }

  void say(const std::string& line) {
    clear();
    stream_ << line << '\n' << std::flush;
  }
  void show(const std::string& line) {
    if (!is_terminal_) return;
    constexpr std::size_t kWidth = 100;
    stream_ << "\r\033[K" << line.substr(0, kWidth) << std::flush;
    is_shown_ = true;
  }

 private:
  void clear() {
    if (is_shown_) stream_ << "\r\033[K";
    is_shown_ = false;
  }
  std::ostream& stream_;
  bool is_terminal_;
  bool is_shown_ = false;
};

}  // namespace tutti::cli
