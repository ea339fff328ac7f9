// SPDX-License-Identifier: Apache-2.0
// Results as commands about tables take them: runs of the store, files of references, and CSV, of our own or as others
// publish it. Which of these it is shows in itself. Reads files and the store; main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/results/result.hpp"
#include "simulate/references/references.hpp"
#include "tune/timings.hpp"

namespace tutti::cli {

struct ReadResults {
  std::string what;                   // "data/references/vllm_all_reduce.toml (references): 200 times"
  std::vector<std::string> left_out;  // what was not taken, with how much of it and why
  std::vector<tune::Timing> timings;
  std::optional<simulate::References> references = {};  // where it is a file of these
  std::string run;                                      // where it is a run: its number
};

// `name`: a file; or references that come with Tutti; or a run by its number or name, or `last`, of the store (--store;
// empty: the usual one). An error says what all of these would be.
[[nodiscard]] Result<ReadResults> read_results(const std::string& name, const std::string& store,
                                               const Environment& environment);

// The same of what is there already; `place` stands in messages.
[[nodiscard]] Result<ReadResults> results_of_csv(std::string_view text, const std::string& place);
[[nodiscard]] Result<ReadResults> results_of_references(simulate::References references, const std::string& place);
[[nodiscard]] ReadResults results_of_rows(std::span<const harness::Row> rows, const std::string& place);

// Of a series: its machine and number of ranks, which its group says ("h100-6"), or else its fabric; and what it is
// called, which is what its id says beyond that ("h100-6-ring"), or else its algorithm. Nothing where neither says it.
struct SeriesNames {
  std::string machine;
  std::uint32_t ranks = 0;
  std::string way;
};
[[nodiscard]] std::optional<SeriesNames> names_of(const simulate::Series& series);

// Whose ways are judged: those of `asked`, or else of `preferred` (a table's peer) where there are any, or else of the
// only peer that there is. What is of no named peer stays. An error where several could be meant, or none is `asked`.
[[nodiscard]] Status keep_peer(ReadResults& results, const std::string& asked, std::string_view preferred);

}  // namespace tutti::cli
