// SPDX-License-Identifier: Apache-2.0
// UCC's score strings (UCC_TL_UCP_TUNE): which algorithm of a layer a collective has, by size and number of ranks.
// docs/formats/exports.md. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "tune/export/rules.hpp"

namespace tutti::tune {

// "allreduce:0-4K:[8]:@sra_knomial:inf".
struct UccScore {
  Collective collective = Collective::all_reduce;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = kNoEnd;  // as written: a size that two scores share is the later one's
  std::uint32_t least_ranks = 0;
  std::uint32_t most_ranks = ~std::uint32_t{0};
  std::string algorithm;  // a name or number; empty: not said
};

struct UccScores {
  std::vector<UccScore> scores;

  // For a size as nccl-tests means it; empty where nothing is said.
  [[nodiscard]] std::string find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;
};

// An error names the score, by its number.
[[nodiscard]] Result<UccScores> read_ucc_scores(std::string_view text, std::string_view place);
[[nodiscard]] std::string write_ucc_scores(const UccScores& scores);

// The way of a table of UCC: the algorithm by name or number, as a variable of this name.
inline constexpr std::string_view kUccAlgorithm = "algorithm";
[[nodiscard]] Exported export_to_ucc(Rules rules);

}  // namespace tutti::tune
