// SPDX-License-Identifier: Apache-2.0
// Console blocks of documents: commands behind "$ ", and the output that the text shows for each.
//
// Output and text are compared by shape. A number matches any number, and a cell that holds a dash. A run of blanks
// matches any other. A verdict of a comparison matches any verdict. A line "..." stands for any lines, or none. All
// other words must be equal, and lines must come in the order of the text. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::docs {

struct Shown {
  std::string command;              // continued lines are joined
  std::vector<std::string> output;  // the lines of the text below the command
  std::size_t line = 0;             // of the command in its document, from 1
};

// All commands in blocks that begin with ```console, in order.
std::vector<Shown> console_commands(std::string_view markdown);

// The words of a line that must be equal.
std::string shape_of(std::string_view line);

// Empty if the output has the shape of the text; otherwise the first line that differs, in words.
std::string difference(const std::vector<std::string>& all_shown, const std::vector<std::string>& all_printed);

// The lines without notes, without the meaning of marks and without "run N in FILE". A table with a column "time_us"
// may leave out any columns behind it that it names below ("left out: …"), and its cells end with that column.
std::vector<std::string> stable_lines(const std::vector<std::string>& lines);

std::vector<std::string> lines_of(std::string_view text);

}  // namespace tutti::docs
