#include "base/process_state.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace tutti {

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The name stands in parentheses and may hold anything; the state is the letter behind it.
  const std::size_t behind_name = text.rfind(')');
  if (behind_name == std::string::npos || behind_name + 2 >= text.size()) return false;
  const char state = text[behind_name + 2];
  return state == 'T' || state == 't';
}

}  // namespace tutti
