// SPDX-License-Identifier: Apache-2.0
// What a command of the program `tutti` is. A command is one file with one function that returns a Command; the table
// in main.cpp has one row for it, and commands.hpp one declaration. Values; used by the main thread only.
//
// Data goes to context.out; announcements, warnings and errors go to context.error.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/views/text_grid.hpp"

// Of CLI11, which takes seconds to compile: only those that define options include it.
namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

// The exit status of the program. A command that starts others passes their status on, and one that was interrupted
// ends with 128 and the signal.
enum class Exit : int {
  done = 0,
  found_wrong = 1,         // a check of the command failed
  not_done = found_wrong,  // the call was right, but the system refused: a file is missing, the disk is full
  misused = 2,             // the call was wrong: an option, a value, the text of a file
};

// The world that a command acts in.
struct Context {
  const Environment& environment;
  std::ostream& out;
  std::ostream& error;
  std::vector<std::string> arguments = {};  // of the program, as they were given
  std::string program = "tutti";            // what it is called
  // How often what takes long tells how far it is, where no terminal shows it.
  std::chrono::milliseconds sign_of_life = std::chrono::seconds(30);
  TextStyle out_style = {};  // of `out`: what style_of_terminal() says of a terminal
};

// Says on context.error what was wrong with a call of `command`, and what tells more; none is the program itself.
Exit misused(const Context& context, std::string_view command, std::string_view what);
// Whether the caller must change the call (misused), or could not have known (not_done).
[[nodiscard]] Exit exit_of(const Status& error);
// Says on context.error why `command` failed. Only after misuse, adds where to read more.
Exit failed(const Context& context, std::string_view command, const Status& error);

using Run = std::function<Exit(const Context&)>;

struct Command {
  std::string_view name;
  std::string_view summary;   // one line without a full stop, for the list of commands
  std::string_view examples;  // whole command lines, each on a line of its own, for --help
  // Adds the command's options to its application and returns what runs it; the options are read when it runs.
  std::function<Run(CLI::App& app)> define;
  // The command tells itself what is wrong with Tutti's variables; before any other, that is an error
  // (variables_check.hpp).
  bool tells_variables = false;
};

}  // namespace tutti::cli
