// SPDX-License-Identifier: Apache-2.0
// Which algorithms a command is about: --algorithm and --collective, and the rows that they name.
#pragma once

#include <string>
#include <vector>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/status.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct ChoiceOptions {
  std::string algorithm;   // empty: all
  std::string collective;  // empty: all
};

void add_choice_options(CLI::App& app, ChoiceOptions& options);

// The rows asked for that take every parameter asked for; at least one, or what is wrong with the names or parameters.
[[nodiscard]] Result<std::vector<const Algorithm*>> chosen(const ChoiceOptions& options, const CaseFilter& filter = {});

// "root, radix": what a case of the algorithm has beside the number of ranks. Empty where it has nothing.
[[nodiscard]] std::string parameters_of(const Algorithm& algorithm);

}  // namespace tutti::cli
