// SPDX-License-Identifier: Apache-2.0
#include "base/system/process_state.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace tutti {

namespace {

// The letter of its state; 0 where there is none of that number.
char letter_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name stands in parentheses and may hold anything; the state is the letter behind it.
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos || behind_name + 2 >= text.size()) return 0;
  return text[behind_name + 2];
}

}  // namespace

bool is_stopped(pid_t process) {
  const char state = letter_of(process);
  return state == 'T' || state == 't';
}

bool is_ended(pid_t process) {
  const char state = letter_of(process);
  return state == 0 || state == 'Z' || state == 'X' || state == 'x';
}

}  // namespace tutti
