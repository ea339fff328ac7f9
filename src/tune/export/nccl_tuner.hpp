// SPDX-License-Identifier: Apache-2.0
// The file of NCCL's example tuner plugin (ext-tuner/example): lines with commas between, of which the first that
// matches a call counts. docs/formats/exports.md. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "tune/export/rules.hpp"

namespace tutti::tune {

struct NcclTunerRow {
  Collective collective = Collective::all_reduce;
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = kNoEnd;  // included
  std::string algorithm;              // "ring", "nvls_tree"
  std::string protocol;               // "ll", "ll128", "simple"
  std::int64_t channels = 0;          // 0: as many as NCCL takes
  std::int64_t nodes = -1;            // -1: any
  std::int64_t ranks = -1;            // -1: any
  std::uint32_t line = 0;

  // For whatever the table does not say.
  [[nodiscard]] bool is_catch_all() const { return ranks == -1; }
};

struct NcclTuner {
  std::vector<NcclTunerRow> rows;

  // The first that matches; null where none does.
  [[nodiscard]] const NcclTunerRow* find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;
};

// Stricter than the plugin, which takes an unknown word for another one, and leaves out lines that it cannot read.
[[nodiscard]] Result<NcclTuner> read_nccl_tuner(std::string_view text, std::string_view place);
[[nodiscard]] std::string write_nccl_tuner(const NcclTuner& tuner, std::string_view about);

[[nodiscard]] Exported export_to_nccl(Rules rules);

}  // namespace tutti::tune
