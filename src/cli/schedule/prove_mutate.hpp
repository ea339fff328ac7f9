// SPDX-License-Identifier: Apache-2.0
// `tutti prove --mutate N`: mutants of algorithms and of random schedules, what prove says of them, and what the oracle
// finds.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

struct MutateChoice {
  std::uint64_t count = 0;
  std::uint64_t seed = 1;
  std::uint64_t show = 0;  // so many rejected ones that do no harm are written out, of each reason
  bool details = false;    // a row for each kind of mutation of each algorithm
  bool with_random_schedules = false;
};

// A case of an algorithm.
struct MutateCase {
  const Algorithm* algorithm = nullptr;
  Request request;
};

// Cases of an algorithm stand together. found_wrong where a mutant that prove accepts does harm, misused where no
// mutant can be made.
[[nodiscard]] Exit mutate_cases(const std::vector<MutateCase>& cases, const MutateChoice& choice,
                                const OutputOptions& output, const Context& context);

}  // namespace tutti::cli
