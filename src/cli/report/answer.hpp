// SPDX-License-Identifier: Apache-2.0
// What results say, in plain sentences that are computed from them: who is fastest, by how much and at which sizes,
// what changed between two runs, and what a reader must know before believing it. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/results/comparison.hpp"
#include "report/html/page.hpp"

namespace tutti::cli {

struct Answer {
  std::vector<std::string> sentences;  // the first is the answer
  std::vector<report::Caution> cautions;
  std::vector<report::NamedTable> summaries;
};

// Of the competitors of one run. Each is set against whoever is nearest to the best over all cases.
[[nodiscard]] Answer answer_of(const harness::Comparison& comparison);

// How the second of two runs stands to the first.
[[nodiscard]] Answer answer_of_change(const harness::Comparison& comparison);

// Rows that are wrong, could not be measured, or are not checked.
[[nodiscard]] std::vector<report::Caution> cautions_of(const std::vector<harness::Row>& rows);

// "64 KB" of "64K", "8 B" of "8".
[[nodiscard]] std::string size_words(const std::string& label);

}  // namespace tutti::cli
