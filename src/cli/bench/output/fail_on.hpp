// SPDX-License-Identifier: Apache-2.0
// `--fail-on slower:3%`: which verdicts make a comparison fail, and the account of all verdicts. Values; thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "bench/results/comparison.hpp"

namespace tutti::cli {

// A verdict, and how much of it is too much.
struct FailOn {
  harness::Verdict verdict = harness::Verdict::slower;
  double share = 0;
};
// None for an empty text.
[[nodiscard]] Result<std::optional<FailOn>> read_fail_on(const std::string& text);

// All verdicts of a comparison against one of its competitors.
struct Account {
  std::map<harness::Verdict, int> verdicts;
  int num_unmatched = 0;  // cases that some competitor does not have
  int num_bad = 0;        // that are wrong or could not be measured
  int num_hits = 0;       // of fail_on

  // "3 faster, 1 same".
  [[nodiscard]] std::string in_words() const;
};
[[nodiscard]] Account account_of(const harness::Comparison& comparison, std::size_t baseline,
                                 const std::optional<FailOn>& fail_on);

}  // namespace tutti::cli
