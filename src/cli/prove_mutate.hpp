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
  std::uint64_t seed = 0;
  bool with_random_schedules = false;
};

// A case of an algorithm.
struct MutateCase {
  const Algorithm* algorithm = nullptr;
  Request request;
};

// Cases of an algorithm stand together. found_wrong where a mutant that prove accepts does harm.
[[nodiscard]] Exit mutate_cases(const std::vector<MutateCase>& cases, const MutateChoice& choice,
                                const OutputOptions& output, const Context& context);

}  // namespace tutti::cli
