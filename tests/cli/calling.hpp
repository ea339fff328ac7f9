// SPDX-License-Identifier: Apache-2.0
// The program's commands as a user calls them.
#pragma once

#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.hpp"

namespace tutti::cli {

struct Outcome {
  Exit exit = Exit::misused;
  std::string out;
  std::string error;
};

inline Outcome call(std::span<const Command> commands, const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream error;
  const Environment environment;
  const Exit exit = run_program(commands, arguments, {environment, out, error});
  return {exit, out.str(), error.str()};
}

// One command, whose name need not be given.
inline Outcome call(const Command& command, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::string(command.name));
  return call(std::span(&command, 1), arguments);
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace tutti::cli
