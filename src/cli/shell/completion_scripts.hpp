// SPDX-License-Identifier: Apache-2.0
// Completion scripts for shells, of commands whose options and values are known. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/description.hpp"

namespace tutti::cli {

// The candidates for the value of an option.
struct Completion {
  std::vector<std::string> words = {};
  bool is_list = false;      // several of them, with commas between
  bool goes_on = false;      // more follows behind the word: NAME=
  bool has_files = false;    // or a file
  bool has_folders = false;  // or a folder
};

struct CompletedCommand {
  CommandDescription command;
  std::vector<Completion> values;  // of each of its options
};

[[nodiscard]] std::string bash_completion(std::span<const CompletedCommand> commands);
[[nodiscard]] std::string zsh_completion(std::span<const CompletedCommand> commands);
[[nodiscard]] std::string fish_completion(std::span<const CompletedCommand> commands);

}  // namespace tutti::cli
