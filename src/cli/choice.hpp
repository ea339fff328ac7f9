// Which algorithms a command is about: --algorithm and --collective, and the rows that they name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/registry.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

struct ChoiceOptions {
  std::string algorithm;   // empty: all
  std::string collective;  // empty: all
};

void add_choice_options(CLI::App& app, ChoiceOptions& options);

// The rows asked for; empty, with an error said in the name of `command`, where the names mean nothing.
[[nodiscard]] std::vector<const Algorithm*> chosen(const ChoiceOptions& options, std::string_view command,
                                                   const Context& context);

// "root, radix": what a case of the algorithm has beside the number of ranks. Empty where it has nothing.
[[nodiscard]] std::string parameters_of(const Algorithm& algorithm);

}  // namespace tutti::cli
